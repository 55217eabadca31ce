#pragma once
// A board's calibration, found or made: for `wattune calibrate`, and for tunings whose clocks follow from it.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/interrupt.hpp"
#include "model/calibration.hpp"
#include "tune/scratch.hpp"
#include "tune/setting_axes.hpp"

namespace wattune::cli {

struct CalibrationRequest {
  std::string device;           ///< as the user names it; a simulated one has been prepared
  SettingChoice settings;       ///< permission and routes; its values do not count
  std::string voltage_command;  ///< as --voltage-command of tune
  std::size_t samples = 10;     ///< clocks at which each kernel is measured
  bool two_stage = false;
  bool probe = true;              ///< of the power sensors first, where they are not known
  std::string compiler = "auto";  ///< of CUDA kernels
};

/// What a calibration uses of the run.
struct CalibrationSurroundings {
  const ScratchFolder& scratch;
  const Interrupt& interrupt;
  Clock* clock = nullptr;  ///< of a simulated device
};

/// Measures and keeps it, saying on stderr what is done and how long it takes. Clocks are changed, and put back.
/// @return nothing where it was interrupted. @throws DeviceError without permission, and as calibrate(). Where it
/// cannot be kept, that is a warning: it serves this run. Where clocks cannot be put back it is kept all the same.
std::optional<Calibration> make_calibration(const CalibrationRequest& request,
                                            const CalibrationSurroundings& surroundings);

/// The one that is kept for this board, else for its model (which is said), else one made now.
/// @param settings of the board, not acquired @return as make_calibration()
std::optional<Calibration> obtain_calibration(const CalibrationRequest& request, const SettingsClient& settings,
                                              const CalibrationSurroundings& surroundings);

}  // namespace wattune::cli
