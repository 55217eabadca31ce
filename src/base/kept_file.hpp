#pragma once
// Files that are kept for a user between runs: what was found out of a board.

#include <filesystem>
#include <string>
#include <system_error>

namespace wattune {

/// The folder of such files of one kind: the one that an environment variable names, else NAME in WATTUNE_CACHE_DIR, in
/// XDG_CACHE_HOME/wattune, or in HOME/.cache/wattune; empty where none of them is set.
std::filesystem::path kept_folder(const char* variable, const std::string& name);

/// "A_B.json" in the folder, without whatever of A and B has a meaning in file names.
std::filesystem::path kept_file(const std::filesystem::path& folder, const std::string& a, const std::string& b);

/// Replaces a file, making its folder, so that readers see the old text or the new one whole.
std::error_code replace_file(const std::filesystem::path& file, const std::string& text);

}  // namespace wattune
