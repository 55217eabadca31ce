#pragma once
// Measures a board over its clocks.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "model/calibration.hpp"
#include "settings/client.hpp"

namespace wattune {

struct CalibrationOptions {
  std::string device;                        ///< as the user names it
  std::filesystem::path compute_problem;     ///< problem file of a kernel that only computes
  std::filesystem::path memory_problem;      ///< of one that only moves data; empty: none
  std::size_t count = 10;                    ///< clocks at which each is measured
  bool two_stage = false;                    ///< half of them around the ridge that the other half suggests
  bool look_for_lock = true;                 ///< as in LiveOptions
  std::vector<std::string> voltage_command;  ///< as in LiveOptions
  std::string log_file;                      ///< where the children's own output goes
  std::vector<std::string> environment;      ///< for the children
  Clock* clock = nullptr;                    ///< device time; null: real time
  int wake_fd = -1;
  std::function<bool()> interrupted;
  std::function<void(const std::string&)> on_note;  ///< one line each
};

/// Clocks that one kernel needs at least: below, nothing can be fitted.
constexpr std::size_t least_calibration_clocks = 6;

/// Device time that it takes, about, in seconds: to tell users before.
double calibration_seconds(const CalibrationOptions& options);

/// Measures both kernels in their default configuration at clocks spread over those that the board reaches. A clock
/// that it does not reach is left out.
/// @param settings of the board; acquired, and still to be released
/// @return nothing where it was interrupted. @throws Error as LiveEvaluator; DeviceError where too few clocks could be
/// measured, saying why.
std::optional<Calibration> calibrate(const std::shared_ptr<SettingsClient>& settings,
                                     const CalibrationOptions& options);

}  // namespace wattune
