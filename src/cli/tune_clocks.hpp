#pragma once
// What of a tuning depends on the board's calibration: the clocks that are searched (--clocks ridge and auto), and the
// own clocks of the best configurations.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/calibration.hpp"
#include "cli/commands.hpp"
#include "space/search_space.hpp"
#include "tune/kernel_clocks.hpp"

namespace wattune::cli {

/// Clocks that follow from a calibration. In Hz.
struct CalibratedClocks {
  PowerModel device;
  std::vector<double> all;     ///< among which configurations may have their own: the values of the parameter
  std::vector<double> search;  ///< to which the search is held
};

/// Whether --clocks asks for them.
bool are_calibrated(const SettingChoice& choice);

/// From the calibration of the board, which is made where there is none. Says what is searched.
/// @param settings of the board, not acquired @return nothing where making it was interrupted
/// @throws UsageError for --clock-width; as obtain_calibration()
std::optional<CalibratedClocks> calibrated_clocks(const TuneArguments& arguments, const std::string& device,
                                                  const SettingsClient& settings,
                                                  const CalibrationSurroundings& surroundings);

/// Turns --method clocks into what it stands for. @throws UsageError for options that do not go with it.
void resolve_clocks_method(TuneArguments& arguments);

/// The space that the strategy searches, where that is not the problem's whole: at the clocks of the search, and of
/// --method clocks the one configuration. @throws UsageError for a --configuration that is none or not valid.
SearchSpace search_space(const TuneArguments& arguments, const Problem& problem,
                         const std::optional<CalibratedClocks>& clocks);

/// Runs with another search space are other runs: a part of their key.
std::string clocks_key(const std::optional<CalibratedClocks>& clocks);

/// The own clocks of the best configurations by energy; none where energy is not minimised. Says what it does.
/// @param space the problem's whole @return of those that were finished
std::vector<KernelClock> find_own_clocks(const TuneArguments& arguments, const Problem& problem,
                                         const SearchSpace& space, const std::vector<Objective>& objectives,
                                         const CalibratedClocks& clocks, Evaluator& evaluator, Journal& journal,
                                         TuneResult& result, const TuneOptions& run);

/// One line of what was found.
std::string to_text(const KernelClock& clock, const std::vector<std::string>& parameter_names);
nlohmann::json to_json(const KernelClock& clock, const std::vector<std::string>& parameter_names);

}  // namespace wattune::cli
