#include "sensor/tick_history.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

namespace {

/// Ticks that are remembered: some seconds' worth, for the two clocks drift against each other.
constexpr std::size_t most_seen = 100;
/// So many ticks must agree on a period before it is believed.
constexpr std::size_t least_seen = 5;
/// How far, in periods, a tick may lie from where it is due.
constexpr double largest_deviation = 0.1;
/// What is seen with a smaller error, in periods, is the step that is due nearest.
constexpr double clear_uncertainty = 0.3;
/// Whether another step may be meant is judged a little more strictly than which one is, for period and phase are
/// found out better meanwhile.
constexpr double strictness = 0.05;
/// Where more in a row are uncertain, asking takes longer than a period, and there is nothing better.
constexpr int most_uncertain = 5;
/// Ticks out of place that are put up with: two points for each, one back for each that is where it is due.
constexpr int most_misplaced = 5;
/// Steps come up to a millisecond off their period, and the counter's value goes along with that, while polling sees
/// them with an error of about the same size. On an H200 the energy of windows scatters by 0.64 ms of power where steps
/// are taken as due, by 0.51 ms where they are taken as seen, and least, by 0.37 ms, with this share of both.
constexpr double seen_share = 0.6;
/// What is reckoned with before windows have taught better: error of a step in periods, and how many degrees of freedom
/// that is worth.
constexpr double usual_jitter = 0.003;
constexpr double usual_weight = 3;
constexpr double largest_lesson = 6;
/// Older lessons fade.
constexpr double remembered = 0.98;

double deviation(double time, double period) {
  return std::abs(time / period - std::round(time / period));
}

}  // namespace

bool TickHistory::add(const Tick& tick) {
  ++count_;
  if (regular()) {
    if (!is_certain(tick)) return ++uncertain_ > most_uncertain;
    uncertain_ = 0;
    // A slow call misplaces a tick now and then; a counter that has changed its ways misplaces most.
    const bool placed = place(tick);
    misplaced_ = placed ? std::max(0, misplaced_ - 1) : misplaced_ + 2;
    if (misplaced_ > most_misplaced) *this = TickHistory();
    return placed;
  }
  unplaced_.push_back(tick);
  if (unplaced_.size() >= least_seen) begin();
  return true;
}

/// A call that was held up says little about when the step was.
bool TickHistory::is_clear(const Tick& tick) const {
  return tick.uncertainty <= 3 * std::max(scatter_, 1e-3);
}

bool TickHistory::is_certain(const Tick& tick) const {
  if (tick.uncertainty < clear_uncertainty * period_) return true;
  const double off = (0.5 - clear_uncertainty + strictness) * period_;
  double first = std::ceil((tick.time - tick.uncertainty - off - phase_) / period_);
  if (last_position_) first = std::max(first, *last_position_ + 1);
  const double last = std::floor((tick.time + tick.uncertainty + off - phase_) / period_);
  return first == last;
}

double TickHistory::position(const Tick& tick) const {
  // The value is that of the last step before it was read, which in a long interval need not be near the middle.
  const double tolerance = 0.5 * period_ - std::min(tick.uncertainty, clear_uncertainty * period_);
  return std::floor((tick.time + tick.uncertainty + tolerance - phase_) / period_);
}

bool TickHistory::place(const Tick& tick) {
  const double position = this->position(tick);
  if (std::abs(tick.time - due(position)) > largest_deviation * period_ + tick.uncertainty) return false;
  last_position_ = position;
  // A tick of a slow call would spoil the fit more than it adds.
  if (!seen_.empty() && !is_clear(tick)) return true;
  seen_.push_back({position, tick.time});
  if (seen_.size() > most_seen) seen_.pop_front();
  fit();
  return true;
}

void TickHistory::begin() {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < unplaced_.size(); ++i) gaps.push_back(unplaced_[i].time - unplaced_[i - 1].time);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  // Polling that was held up makes one gap of several periods.
  const double guess = *middle;
  for (std::size_t i = 1; i < unplaced_.size(); ++i) {
    const double gap = unplaced_[i].time - unplaced_[i - 1].time;
    const double allowed = largest_deviation * guess + unplaced_[i].uncertainty + unplaced_[i - 1].uncertainty;
    if (gap < 0.5 * guess || deviation(gap, guess) * guess > allowed) {
      unplaced_.erase(unplaced_.begin());
      return;
    }
  }
  double position = 0;
  for (std::size_t i = 0; i < unplaced_.size(); ++i) {
    if (i > 0) position += std::round((unplaced_[i].time - unplaced_[i - 1].time) / guess);
    seen_.push_back({position, unplaced_[i].time});
  }
  unplaced_.clear();
  last_position_ = position;
  fit();
}

void TickHistory::fit() {
  const double n = static_cast<double>(seen_.size());
  double mean_position = 0;
  double mean_time = 0;
  for (const auto& seen : seen_) {
    mean_position += seen.position / n;
    mean_time += seen.time / n;
  }
  double spread = 0;
  double product = 0;
  for (const auto& seen : seen_) {
    spread += (seen.position - mean_position) * (seen.position - mean_position);
    product += (seen.position - mean_position) * (seen.time - mean_time);
  }
  period_ = product / spread;
  phase_ = mean_time - period_ * mean_position;
  double squares = 0;
  for (const auto& seen : seen_) squares += (seen.time - due(seen.position)) * (seen.time - due(seen.position));
  scatter_ = std::sqrt(squares / (n - 2));
}

std::optional<double> TickHistory::next(double after) const {
  if (!regular()) return std::nullopt;
  return due(std::ceil((after - phase_) / period_));
}

double TickHistory::due(const Tick& tick) const {
  return due(position(tick));
}

double TickHistory::time(const Tick& tick) const {
  if (!regular()) return tick.time;
  const double at = due(tick);
  return is_clear(tick) ? at + seen_share * (tick.time - at) : at;
}

double TickHistory::jitter() const {
  const double known = std::hypot(seen_share * scatter_, usual_jitter * period_);
  return std::sqrt((usual_weight * known * known + jitter_squares_) / (usual_weight + jitter_freedom_));
}

double TickHistory::jitter_factor() const {
  return 1 + 1.0 / (usual_weight + jitter_freedom_);
}

void TickHistory::learn_jitter(const std::vector<Tick>& ticks, std::size_t first) {
  if (!regular() || first + 2 >= ticks.size()) return;
  const double n = static_cast<double>(ticks.size() - 1 - first);
  const double watts = (ticks.back().joules - ticks[first].joules) / (time(ticks.back()) - time(ticks[first]));
  double squares = 0;
  for (std::size_t i = first; i + 1 < ticks.size(); ++i) {
    const double seconds = time(ticks[i + 1]) - time(ticks[i]);
    const double off = (ticks[i + 1].joules - ticks[i].joules) / watts - seconds;
    squares += off * off;
  }
  // Each tick's error is in two intervals, with opposite signs.
  const double variance = squares / (2 * (n - 1 / n));
  // Far more than is usual is a change of power, not of the counter's ways.
  if (variance > largest_lesson * jitter() * jitter()) return;
  jitter_squares_ = remembered * jitter_squares_ + (n - 1) * variance;
  jitter_freedom_ = remembered * jitter_freedom_ + n - 1;
}

WindowPower window_power(const std::vector<Tick>& ticks, std::size_t first, const TickHistory& history) {
  const std::size_t last = ticks.size() - 1;
  WindowPower result;
  result.begin = history.time(ticks[first]);
  result.end = history.time(ticks[last]);
  const double duration = result.end - result.begin;
  result.watts = (ticks[last].joules - ticks[first].joules) / duration;
  result.intervals =
      history.regular() ? std::llround(duration / history.period()) : static_cast<std::int64_t>(last - first);

  // The scatter of the power itself, weighted by duration, for a missed tick makes one interval of two; less what the
  // errors of the ticks' times bring into it.
  const auto error_of = [&](const Tick& tick) {
    return history.regular() ? history.jitter() : tick.uncertainty / std::sqrt(3.0);
  };
  double squares = 0;
  double of_times = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double seconds = history.time(ticks[i + 1]) - history.time(ticks[i]);
    const double off = (ticks[i + 1].joules - ticks[i].joules) / seconds - result.watts;
    const double error = std::hypot(error_of(ticks[i]), error_of(ticks[i + 1])) / seconds * result.watts;
    squares += off * off * seconds / duration;
    of_times += error * error * seconds / duration;
  }
  const double samples = static_cast<double>(last - first);
  double scatter = 0;
  if (samples > 1) {
    const double variance = squares * samples / (samples - 1);
    // More than the errors of times explain, nineteen times out of twenty.
    if (variance > of_times * (1 + 2 * std::sqrt(2 / (samples - 1))))
      scatter = std::sqrt((variance - of_times) / samples);
  }
  const double factor = history.regular() ? history.jitter_factor() : 1;
  const double of_length = factor * std::hypot(error_of(ticks[first]), error_of(ticks[last])) / duration;
  result.length_error = result.watts * of_length;
  result.standard_error = std::hypot(scatter, result.length_error);
  return result;
}

}  // namespace wattune
