#pragma once
// Commands of a user or a site: run without a shell, with values in place of {names}, and with a limit of time.

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace wattune {

/// Cuts a command into words at white space; '...' and "..." hold words together. @param option how errors call it.
/// @throws UsageError where a quotation mark is not closed, or there is no word.
std::vector<std::string> split_command(const std::string& text, const std::string& option);

/// Replaces each {name} by its value. Other braces stay as they are.
std::vector<std::string> fill_in(std::vector<std::string> words, const std::map<std::string, std::string>& values);

/// Whether {name} occurs.
bool has_placeholder(const std::vector<std::string>& words, const std::string& name);

struct CommandResult {
  bool ok = false;      ///< it ended with status 0 in time
  std::string output;   ///< what it printed, its first 64 KiB
  std::string problem;  ///< what went wrong: "exited with code 3: no such board"; empty where nothing did
};

/// Runs a program found in PATH, with nothing on its standard input. Where it takes longer it is killed, with what it
/// has started. @param meanwhile called every few milliseconds; may be empty.
CommandResult run_command(const std::vector<std::string>& words, double limit_seconds,
                          const std::function<void()>& meanwhile = {});

}  // namespace wattune
