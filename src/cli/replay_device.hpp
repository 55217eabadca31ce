#pragma once
// `tune --device replay:FILE`.

#include <string>

#include "cli/commands.hpp"

namespace wattune::cli {

/// Whether --device names recorded results.
bool is_replay_device(const std::string& device);

/// run_tune() with them. Options of compiling and measuring have no effect.
int run_tune_replayed(TuneArguments arguments);

}  // namespace wattune::cli
