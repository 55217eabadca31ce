#pragma once
// The options of `wattune tune`, and those of device settings, which other commands have too.

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace wattune::cli {

void add_tune(CLI::App& app, TuneArguments& arguments);

/// How settings may be made: options of all commands that make any.
void add_permission(CLI::App& command, SettingChoice& choice);

/// Which settings are made, and how. @param many several values of each, as of a tuning
void add_settings(CLI::App& command, SettingChoice& choice, bool many);

}  // namespace wattune::cli
