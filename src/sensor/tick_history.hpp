#pragma once
// The moments at which an energy counter steps, and the power between them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace wattune {

/// A step of an energy counter as polling saw it.
struct Tick {
  double time;         ///< seconds; the middle of the interval in which it fell
  double uncertainty;  ///< half that interval, s
  double joules;       ///< the counter after it
};

/// What a counter's steps so far tell about its steps to come. Kept from one measurement to the next, so that the few
/// ticks of a short window are placed by the period and phase of all before them.
class TickHistory {
 public:
  /// @return false where it cannot be told which step it was, for polling was held up while two were due, or it does
  /// not fit: it is not to be used, as if nobody had looked.
  bool add(const Tick& tick);

  /// Whether the steps seen so far have a period.
  [[nodiscard]] bool regular() const noexcept { return period_ > 0; }
  /// Steps that were added so far.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Seconds; 0 where the steps are not regular.
  [[nodiscard]] double period() const noexcept { return period_; }
  /// The first step that is due after a moment; nothing where the steps are not regular.
  [[nodiscard]] std::optional<double> next(double after) const;
  /// When the step was due by period and phase. @pre regular()
  [[nodiscard]] double due(const Tick& tick) const;
  /// When a step most likely took place: between the moment at which it was seen and the one at which it was due.
  [[nodiscard]] double time(const Tick& tick) const;
  /// Standard deviation of the error of a tick's time against the energy that its value stands for, s: what earlier
  /// windows have taught, and, as long as that is little, what counters are known for.
  [[nodiscard]] double jitter() const;
  /// By how much the half-width of an interval of confidence must exceed that of a known jitter.
  [[nodiscard]] double jitter_factor() const;
  /// Learns from ticks, from position `first` on, between which power was the same.
  void learn_jitter(const std::vector<Tick>& ticks, std::size_t first);

 private:
  struct Seen {
    double position;  ///< periods since the first
    double time;
  };
  bool place(const Tick& tick);
  [[nodiscard]] bool is_certain(const Tick& tick) const;
  [[nodiscard]] bool is_clear(const Tick& tick) const;
  /// Periods from the first step to this one.
  [[nodiscard]] double position(const Tick& tick) const;
  void begin();
  void fit();
  [[nodiscard]] double due(double position) const { return phase_ + period_ * position; }

  std::size_t count_ = 0;
  std::deque<Seen> seen_;
  std::vector<Tick> unplaced_;  ///< seen before there was a period
  int misplaced_ = 0;           ///< how often ticks were not where they were due of late
  int uncertain_ = 0;           ///< how many were uncertain since the last that was not
  double period_ = 0;
  double phase_ = 0;
  std::optional<double> last_position_;  ///< of the last step that was certain
  double scatter_ = 0;                   ///< standard deviation of the times seen around those due, s
  double jitter_squares_ = 0;            ///< s^2, of what windows have taught
  double jitter_freedom_ = 0;            ///< degrees of freedom of that
};

struct WindowPower {
  double watts = 0;
  double standard_error = 0;   ///< W
  std::int64_t intervals = 0;  ///< ticks that the window spans
  double begin = 0;            ///< s
  double end = 0;              ///< s
  double length_error = 0;     ///< W, the part of standard_error that comes from where the window begins and ends
};

/// Average power from the tick at position `first` to the last.
/// @pre first + 1 < ticks.size().
WindowPower window_power(const std::vector<Tick>& ticks, std::size_t first, const TickHistory& history);

}  // namespace wattune
