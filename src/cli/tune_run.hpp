#pragma once
// What a tuning run on a device and one on recorded results have in common.

#include <filesystem>
#include <span>
#include <string>

#include "backend/backend.hpp"
#include "cli/commands.hpp"
#include "report/run_info.hpp"

namespace wattune::cli {

/// What the command line says, else the problem, else ten minutes. @throws UsageError for a faulty --budget.
Budget choose_budget(const TuneArguments& arguments, const Problem& problem);

/// The folder of the journal, made where it is missing. @throws UsageError where it cannot be written.
std::filesystem::path choose_output(const TuneArguments& arguments, const Problem& problem);

/// "minimize energy, maximize GFLOP/s".
std::string objectives_text(std::span<const Objective> objectives);

/// Everything that is known before the first evaluation.
RunInfo make_run_info(const TuneArguments& arguments, const Problem& problem, const SearchSpace& space,
                      const DeviceInfo& device);

}  // namespace wattune::cli
