#pragma once
// `tune --device replay:FILE`.

#include <string>

#include "cli/commands.hpp"

namespace wattune::cli {

/// Whether --device names recorded results.
bool is_replay_device(const std::string& device);

/// run_tune() with them. @throws UsageError also for options that would make other results (cli/replay_options).
int run_tune_replayed(TuneArguments arguments);

}  // namespace wattune::cli
