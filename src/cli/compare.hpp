#pragma once
// `wattune compare`.

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace wattune::cli {

struct CompareArguments {
  std::vector<std::string> inputs;   ///< result files; or one problem file, where tune.device is given
  std::vector<std::string> methods;  ///< empty: all
  bool common_clock = false;
  bool json = false;
  TuneArguments tune;  ///< of runs; objectives and base clock also of recorded results
};

/// Reads results, or runs every method in turn. @return the exit code: that of a device error where methods could not
/// be run for want of permission to set clocks.
int run_compare(const CompareArguments& arguments);

}  // namespace wattune::cli
