#pragma once
// Compiled variants on disk, shared by all runs of a user.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "backend/backend.hpp"

namespace wattune {

/// What a compilation gave: a binary, or the compiler's refusal.
using CompileOutcome = tl::expected<CompileResult, Failure>;

/// A folder of files named by key. Safe with several processes: files appear whole (written aside, then renamed), and
/// what is damaged or cannot be written is as if it were not there. A cache never fails a run.
class BinaryCache {
 public:
  static constexpr std::uint64_t default_size = 1ULL << 30;

  /// @param folder made when first written to. @param max_bytes beyond which the least recently used files are removed.
  explicit BinaryCache(std::filesystem::path folder, std::uint64_t max_bytes = default_size);

  /// WATTUNE_CACHE_DIR, else XDG_CACHE_HOME/wattune, else HOME/.cache/wattune; empty where none of them is set.
  static std::filesystem::path default_folder();

  /// All that a binary depends on. `compiler` is Compiler::identity().
  static std::string key(const CompileRequest& request, const std::string& compiler);

  [[nodiscard]] std::optional<CompileOutcome> find(const std::string& key) const;
  void keep(const std::string& key, const CompileOutcome& outcome);

 private:
  void remove_old() const;

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
  std::uint64_t written_ = 0;
};

}  // namespace wattune
