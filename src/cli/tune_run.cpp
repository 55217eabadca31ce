#include "cli/tune_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "result/order.hpp"
#include "tune/tuner.hpp"

namespace wattune::cli {

namespace fs = std::filesystem;

Budget choose_budget(const TuneArguments& arguments, const Problem& problem) {
  constexpr double default_seconds = 600;
  Budget budget;
  for (const auto& text : arguments.budget) budget = combine(budget, parse_budget(text));
  if (arguments.budget.empty()) budget = problem.budget;
  if (!budget.evaluations && !budget.seconds && !budget.fraction) budget.seconds = default_seconds;
  return budget;
}

fs::path choose_output(const TuneArguments& arguments, const Problem& problem) {
  fs::path folder = arguments.output;
  if (folder.empty()) folder = problem.file.parent_path() / (problem.file.stem().string() + "-wattune");
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = std::error_code(errno, std::generic_category());
  if (error) {
    throw UsageError(fmt::format("cannot write to the output folder '{}': {}; give another with -o", folder.string(),
                                 error.message()));
  }
  return folder;
}

std::string objectives_text(std::span<const Objective> objectives) {
  std::string text;
  for (const auto& objective : objectives) text += (text.empty() ? "" : ", ") + to_string(objective);
  return text;
}

RunInfo make_run_info(const TuneArguments& arguments, const Problem& problem, const SearchSpace& space,
                      const DeviceInfo& device) {
  RunInfo run;
  run.problem = problem.name;
  run.device_id = device.id;
  run.device_name = device.name;
  run.board = device.board();
  run.simulated = device.simulated;
  run.space_size = space.size();
  run.cartesian = space.cartesian();
  if (!arguments.own_clock_only) run.strategy = arguments.strategy;
  run.seed = arguments.seed;
  return run;
}

}  // namespace wattune::cli
