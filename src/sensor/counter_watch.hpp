#pragma once
// The steps of an energy counter, as they come.

#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "power/meter.hpp"
#include "sensor/tick_history.hpp"
#include "sensor/window_fit.hpp"

namespace wattune {

class CounterWatch {
 public:
  CounterWatch(PowerMeter& meter, Clock& clock) : meter_(meter), clock_(clock) {}

  /// Asks the counter; to be called often.
  void look();
  [[nodiscard]] bool answers() const { return joules_.has_value(); }
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  [[nodiscard]] const TickHistory& history() const { return history_; }
  /// Mean power of each period, at its end. @pre history().regular()
  [[nodiscard]] std::vector<Update> updates() const;

 private:
  PowerMeter& meter_;
  Clock& clock_;
  std::optional<double> joules_;
  double asked_ = 0;
  std::vector<Tick> ticks_;
  TickHistory history_;
};

}  // namespace wattune
