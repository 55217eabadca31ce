#include "tune/scratch.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {

namespace {

namespace fs = std::filesystem;

/// Folders of processes that no longer live. Only this user's: the name and the owner say so.
void remove_stale(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t pid = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, pid);
    if (parsed.ec != std::errc() || parsed.ptr != end || pid <= 0) continue;
    struct stat status {};
    const bool ours =
        ::lstat(entry.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
    const bool dead = ::kill(pid, 0) != 0 && errno == ESRCH;
    if (ours && (dead || pid == ::getpid())) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  const std::string prefix = fmt::format("wattune-{}-", ::geteuid());
  if (!error) {
    remove_stale(parent, prefix);
    path_ = parent / fmt::format("{}{}", prefix, ::getpid());
    if (::mkdir(path_.c_str(), 0700) == 0) return;
    error = std::error_code(errno, std::generic_category());
  }
  throw RunError(fmt::format("cannot make a temporary folder in '{}': {}; set TMPDIR to one that can be written",
                             parent.string(), error.message()));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::environment() const {
  std::vector<std::string> result = {"TMPDIR=" + path_.string()};
  if (std::getenv("POCL_CACHE_DIR") == nullptr) result.push_back("POCL_CACHE_DIR=" + (path_ / "pocl").string());
  return result;
}

}  // namespace wattune
