#pragma once
// What counter and instantaneous power say of a load that is switched on and off, against what they should say.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "power/meter.hpp"
#include "sensor/switched_load.hpp"

namespace wattune {

struct DutyTableOptions {
  double phase_seconds = 2;  ///< for each row and phase
  unsigned phases = 4;       ///< of the switching against the counter's steps at its beginning, in each row
  unsigned most_phases = 8;  ///< where on and off last equally long
  double rise_seconds = 0;   ///< time constant with which the counter shows a change, as of SensorProfile
};

/// Means over the phases of one row. Powers in W, relative quantities as fractions.
struct DutyRow {
  double on_seconds = 0;
  double off_seconds = 0;
  /// The switching keeps its phase throughout, so that a sensor whose period is the same sees the same part of it again
  /// and again; else pauses are longer at first and shorter later, and the phase goes through a whole cycle and back.
  bool in_step = false;
  unsigned phases = 0;
  /// Of a square wave between the power of the steady load and that of the idle device, both measured by the counter
  /// right before each phase (their mean): power goes with the temperature.
  double expected = 0;
  std::optional<double> counter;
  std::optional<double> counter_error;   ///< counter / expected - 1
  std::optional<double> counter_spread;  ///< standard deviation over the phases of each phase's counter / expected
  std::optional<double> instant;
  std::optional<double> instant_error;
  std::optional<double> instant_spread;
};

struct DutyTable {
  double on_watts = 0;   ///< of the steady load, by the counter
  double off_watts = 0;  ///< idle with a context, by the counter, right after the load
  std::vector<DutyRow> rows;
};

/// Takes about (rows * phases + 6) * phase_seconds, and one more second for each row and phase. @throws DeviceError
/// where the meter has no counter that moves.
DutyTable measure_duty_table(PowerMeter& meter, SwitchedLoad& load, Clock& clock, const DutyTableOptions& options);

nlohmann::json to_json(const DutyTable& table);
DutyTable duty_table_from_json(const nlohmann::json& json);
/// As lines of text.
std::string to_text(const DutyTable& table);

}  // namespace wattune
