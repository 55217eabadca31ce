#include "tune/binary_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "tune/wire.hpp"

namespace wattune {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Changes whenever the content of the files does.
constexpr const char* format_name = "wattune-binary-2";

bool write_whole(const fs::path& file, const std::string& content) {
  const FileDescriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return false;
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t n = ::write(fd.get(), content.data() + written, content.size() - written);
    if (n <= 0) return false;
    written += static_cast<std::size_t>(n);
  }
  return true;
}

/// The checksum that stands before the content, so that a file cut short by a crash is not taken for a binary.
std::string checksum(std::string_view content) {
  return Hasher().add(format_name).add(content).hex();
}

}  // namespace

BinaryCache::BinaryCache(fs::path folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

fs::path BinaryCache::default_folder() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const auto own = variable("WATTUNE_CACHE_DIR"); !own.empty()) return own;
  if (const auto xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "wattune";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "wattune";
  return {};
}

std::string BinaryCache::key(const CompileRequest& request, const std::string& compiler) {
  Hasher hasher;
  hasher.add(format_name).add(compiler).add(request.source).add(request.kernel_name).add(request.includes_hash);
  for (const auto& [name, value] : request.defines) hasher.add(name).add(value);
  hasher.add(static_cast<std::uint64_t>(request.defines.size()));
  for (const auto& option : request.options) hasher.add(option);
  hasher.add(static_cast<std::uint64_t>(request.options.size()));
  for (const auto& path : request.include_paths) hasher.add(path);
  return hasher.hex();
}

std::optional<CompileOutcome> BinaryCache::find(const std::string& key) const {
  const fs::path file = folder_ / key.substr(0, 2) / key;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  try {
    const std::string content = read_file(file, "a cached binary");
    const std::size_t head = checksum("").size();
    if (content.size() < head || checksum(std::string_view(content).substr(head)) != content.substr(0, head)) {
      return std::nullopt;
    }
    const json object = json::from_cbor(content.begin() + static_cast<std::ptrdiff_t>(head), content.end());
    ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);  // it was used now: the oldest go first
    if (object.contains("failure")) return tl::unexpected(failure_from_json(object.at("failure")));
    return compile_result_from_json(object.at("result"));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void BinaryCache::keep(const std::string& key, const CompileOutcome& outcome) {
  const json object = outcome ? json{{"result", to_json(*outcome)}} : json{{"failure", to_json(outcome.error())}};
  std::string content;
  json::to_cbor(object, content);
  content.insert(0, checksum(content));
  const fs::path file = folder_ / key.substr(0, 2) / key;
  const fs::path aside = file.string() + fmt::format(".{}.tmp", ::getpid());
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (!error && write_whole(aside, content)) fs::rename(aside, file, error);
  if (error || !fs::exists(file, error)) {
    fs::remove(aside, error);
    return;
  }
  // Looking through the folder costs more than writing to it: once for every 1/16 of its size.
  written_ += content.size();
  if (written_ > max_bytes_ / 16) {
    written_ = 0;
    remove_old();
  }
}

void BinaryCache::remove_old() const {
  struct File {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const File file{entry->path(), entry->last_write_time(error), entry->file_size(error)};
    if (error) continue;  // another process has removed it
    total += file.bytes;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const auto& file : files) {
    if (total <= max_bytes_) break;
    if (fs::remove(file.path, error)) total -= file.bytes;
  }
}

}  // namespace wattune
