#pragma once
// The output of a shell command.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace wattune {

/// Runs `command` with /bin/sh -c in `folder` and gives what it writes to stdout, which must be `bytes` bytes. Its
/// stderr is this process's, its stdin empty.
/// @throws UsageError without the problem's place where it fails, or writes more or less.
std::vector<std::byte> shell_output(const std::string& command, const std::filesystem::path& folder, std::size_t bytes);

}  // namespace wattune
