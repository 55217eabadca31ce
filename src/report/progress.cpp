#include "report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/duration.hpp"
#include "report/format.hpp"
#include "report/table.hpp"
#include "result/order.hpp"

namespace wattune {

namespace {

/// The rate is that of this many evaluations at the end, for variants differ and pauses happen.
constexpr std::size_t rate_window = 50;
constexpr std::size_t default_width = 80;

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody reads: no reason to end a run
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::size_t width_of_stderr() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : default_width;
}

}  // namespace

ProgressOptions ProgressOptions::for_stderr() {
  ProgressOptions options;
  options.terminal = ::isatty(STDERR_FILENO) == 1;
  options.width = width_of_stderr;
  options.write = write_to_stderr;
  options.clock = monotonic_seconds;
  options.objective = {"time", Direction::minimize};
  return options;
}

Progress::Progress(ProgressOptions options) : options_(std::move(options)), began_(options_.clock()) {}

void Progress::add(const Evaluation& evaluation, bool reused) {
  ++done_;
  if (!evaluation.ok()) ++failed_;
  if (const auto value = objective_value(evaluation, options_.objective)) {
    const bool first = !best_.has_value();
    const bool minimize = options_.objective.direction == Direction::minimize;
    if (first || (minimize ? *value < best_->value : *value > best_->value)) {
      best_ = evaluation.quantities.at(options_.objective.name);
    }
  }
  if (!reused) {
    recent_.push_back(options_.clock());
    if (recent_.size() > rate_window) recent_.pop_front();
  }
  tick();
}

void Progress::tick() {
  if (finished_) return;
  const double now = options_.clock();
  double interval = terminal_interval;
  if (!options_.terminal) interval = drawn_ && drawn_done_ == done_ ? idle_interval : plain_interval;
  if (now - drawn_.value_or(options_.terminal ? now - interval : began_) >= interval) draw(now);
}

void Progress::draw(double now) {
  drawn_ = now;
  drawn_done_ = done_;
  const std::string text = line();
  if (!options_.terminal) {
    options_.write(text + "\n");
    return;
  }
  // One column less than there are: a full line would wrap on some terminals. \033[K clears what an older line left.
  const std::size_t width = options_.width();
  options_.write("\r" + shorten(text, width > 1 ? width - 1 : default_width) + "\033[K");
  on_screen_ = true;
}

void Progress::message(std::string_view line) {
  std::string text;
  if (on_screen_) text = "\r\033[K";
  options_.write(text.append(line).append(1, '\n'));
  on_screen_ = false;
  if (options_.terminal && drawn_ && !finished_) draw(options_.clock());
}

void Progress::finish() {
  if (finished_) return;
  if (done_ > 0 || on_screen_) draw(options_.clock());
  if (on_screen_) options_.write("\n");
  on_screen_ = false;
  finished_ = true;
}

double Progress::rate(double now) const {
  if (recent_.empty()) return 0;
  const bool whole_run = recent_.size() < rate_window;
  const double span = now - (whole_run ? began_ : recent_.front());
  const std::size_t count = whole_run ? recent_.size() : recent_.size() - 1;
  return span > 0 ? static_cast<double>(count) / span : 0;
}

std::optional<double> Progress::seconds_left(double now) const {
  std::optional<double> left;
  if (options_.seconds) left = std::max(0.0, *options_.seconds - (now - began_));
  const double per_second = rate(now);
  if (options_.evaluations && per_second > 0) {
    const double to_do = *options_.evaluations > done_ ? static_cast<double>(*options_.evaluations - done_) : 0;
    left = std::min(left.value_or(to_do / per_second), to_do / per_second);
  }
  return left;
}

std::string Progress::line() const {
  const double now = options_.clock();
  std::string text;
  if (options_.evaluations) {
    const std::string total = std::to_string(*options_.evaluations);
    text = fmt::format("[{:>{}}/{}]", done_, total.size(), total);
  } else {
    text = fmt::format("[{}]", done_);
  }
  text += fmt::format(" {} failed", failed_);
  if (best_) {
    Quantity shown = *best_;
    shown.stderr_value = std::numeric_limits<double>::quiet_NaN();
    text += ", best " + format_named(options_.objective.name, shown);
  }
  const double per_second = rate(now);
  if (per_second >= 0.995) {
    text += fmt::format(", {:.1f}/s", per_second);
  } else if (per_second > 0) {
    text += fmt::format(", {:.1f}/min", per_second * 60);
  }
  if (finished_) return text;
  if (const auto left = seconds_left(now)) text += fmt::format(", {} left", format_duration(*left));
  return text;
}

}  // namespace wattune
