#pragma once
// A folder for what compilers and drivers write on the side, removed when the run ends.

#include <filesystem>
#include <string>
#include <vector>

namespace wattune {

/// Makes "<temporary folder>/wattune-<uid>-<pid>" for this process, and removes those that dead processes left.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Environment of child processes that keeps their temporary files and PoCL's kernel cache in here (the cache, which
  /// would otherwise keep every variant for ever, only where the user has not placed it).
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  std::filesystem::path path_;
};

}  // namespace wattune
