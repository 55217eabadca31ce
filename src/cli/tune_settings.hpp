#pragma once
// What of a tuning depends on the device's settings: the problem with its clocks and limits, and who sets them.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/tune_clocks.hpp"
#include "problem/problem.hpp"
#include "settings/client.hpp"
#include "tune/live_evaluator.hpp"
#include "tune/tuner.hpp"

namespace wattune::cli {

/// The problem for the device's language, and that device.
struct Chosen {
  Problem problem;
  std::string text;
  std::string device;
  ReadOptions options;                       ///< by which the problem was read
  std::shared_ptr<SettingsClient> settings;  ///< null where nothing is to be set
  std::optional<CalibratedClocks> clocks;    ///< where they follow from the board's calibration
};

Chosen choose(const TuneArguments& arguments);

/// Where clocks or limits are to be tuned: finds out whether they can be, before anything else is done, and reads the
/// problem again with the values that the device supports. Calibrates the board where the clocks follow from that.
/// @return false where that was interrupted.
bool choose_settings(const TuneArguments& arguments, Chosen& chosen, const CalibrationSurroundings& surroundings);

/// Energy where clocks or limits are tuned and nothing else is asked for.
std::vector<Objective> objectives_of(const TuneArguments& arguments, Chosen& chosen);

/// What the evaluator has to know of settings. Takes the device. @return false where that was interrupted.
bool take_settings(const TuneArguments& arguments, const Chosen& chosen, const Budget& budget, int wake_fd,
                   LiveOptions& live);

/// Without a word of the user's, voltages are read where clocks or limits are tuned.
std::vector<std::string> voltage_command(const TuneArguments& arguments, const Chosen& chosen);

/// Puts the device back. Where that fails, it is the run's error, told after the results.
void give_back_settings(const Chosen& chosen, TuneResult& result);

}  // namespace wattune::cli
