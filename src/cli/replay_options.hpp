#pragma once
// What the options of a tuning mean where recorded results take the place of a device.

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "store/formats/results.hpp"

namespace wattune::cli {

/// Refuses options that would make other results than the recorded ones, and tells of those that have no effect.
/// @throws UsageError
void check_replay_options(const TuneArguments& arguments);

/// The axes of device settings that were recorded: the values that the command line or the problem chooses among them,
/// else all; none where the problem lists the values itself.
/// @param problem as its file has it @param file the results' name, for messages
/// @throws UsageError for values that are not recorded, and for a setting that the results have not.
std::vector<Parameter> recorded_settings(const TuneArguments& arguments, const Problem& problem, const Results& results,
                                         const std::string& file);

/// Results are those of one problem size. @throws UsageError naming both where the problem has another; what the file
/// does not tell is not checked.
void check_problem_size(const TuneArguments& arguments, const Problem& problem, const Results& results,
                        const std::string& file);

}  // namespace wattune::cli
