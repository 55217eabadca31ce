#pragma once
// Files that are kept for a user between runs: what was found out of a board.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <system_error>

namespace wattune {

/// The folder of such files of one kind: the one that an environment variable names, else NAME in WATTUNE_CACHE_DIR, in
/// XDG_CACHE_HOME/wattune, or in HOME/.cache/wattune; empty where none of them is set.
std::filesystem::path kept_folder(const char* variable, const std::string& name);

/// "A_B.json" in the folder, without whatever of A and B has a meaning in file names.
std::filesystem::path kept_file(const std::filesystem::path& folder, const std::string& a, const std::string& b);

/// A kind of such files: JSON, one for each board and driver.
struct KeptKind {
  const char* what;      ///< "sensor profile"
  const char* variable;  ///< of the environment, which names the folder
  const char* folder;    ///< its name where that does not
  const char* made_by;   ///< the command that makes one anew
};
std::filesystem::path kept_folder(const KeptKind& kind);

/// Keeps one. @return its file. @throws RunError where it cannot be written.
std::filesystem::path keep_json(const KeptKind& kind, const std::filesystem::path& folder, const std::string& board,
                                const std::string& driver, const nlohmann::json& object);

/// Reads one. @throws UsageError where it cannot be read, or is no JSON.
nlohmann::json read_kept_json(const KeptKind& kind, const std::filesystem::path& file);

/// What to say of one that is passed over: a damaged file is not worth ending a run for, but it was made for a reason.
std::string passed_over_text(const KeptKind& kind, const std::filesystem::path& file, const std::string& why);

/// Replaces a file, making its folder, so that readers see the old text or the new one whole.
std::error_code replace_file(const std::filesystem::path& file, const std::string& text);

}  // namespace wattune
