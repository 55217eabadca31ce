#include "settings/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.hpp"

namespace wattune {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int record_version = 1;

class OtherVersion : public UsageError {
 public:
  OtherVersion() : UsageError("it was written by another version of wattune; use that one's 'wattune restore'") {}
};

/// What `read` makes of a key's value. @throws UsageError that names the key
template <typename Read>
auto read_key(const json& object, const char* key, Read read) {
  const auto found = object.find(key);
  if (found == object.end()) throw UsageError(fmt::format("key '{}' is missing", key));
  try {
    return read(*found);
  } catch (const json::exception&) {
    throw UsageError(fmt::format("key '{}' does not hold what it should", key));
  }
}

template <typename Type>
Type read_key(const json& object, const char* key) {
  return read_key(object, key, [](const json& value) { return value.get<Type>(); });
}

/// @throws DeviceError that names the file, and says what to do
SettingsRecord read_record(const fs::path& path) {
  const std::string text = read_file(path, "the record of settings");
  try {
    return record_from_text(text);
  } catch (const OtherVersion& other) {
    throw DeviceError(fmt::format("the record of settings '{}' cannot be used: {}", path.string(), other.what()));
  } catch (const UsageError& error) {
    throw DeviceError(
        fmt::format("the record of settings '{}' is damaged ({}), so that nobody knows what they were: see that the "
                    "board's clocks and power limit are as they should be ('nvidia-smi -rgc' and 'nvidia-smi -rmc', or "
                    "a reboot, reset clocks), then delete the file",
                    path.string(), error.what()));
  }
}

/// Empty where the folder may be used.
std::string objection(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) return system_error_text(errno);
  if (!S_ISDIR(status.st_mode)) return "it is no folder";
  if (status.st_uid != ::geteuid()) return fmt::format("it belongs to user {}", status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return system_error_text(errno);
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0) return system_error_text(errno);
  // NFS, Lustre, GPFS, SMB, SMB2, Ceph, BeeGFS, AFS: other nodes would take our records for their own.
  constexpr unsigned long networked[] = {0x6969,     0x0BD00BD0, 0x47504653, 0xFF534D42,
                                         0xFE534D42, 0x00C36400, 0x19830326, 0x5346414F};
  const auto type = static_cast<unsigned long>(system.f_type) & 0xFFFFFFFFUL;
  if (std::find(std::begin(networked), std::end(networked), type) != std::end(networked)) {
    return "it lies on a network file system";
  }
  return {};
}

void write_all(int fd, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::system_error(errno, std::generic_category());
    written += static_cast<std::size_t>(n);
  }
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

}  // namespace

std::string to_text(const SettingsRecord& r) {
  json touched = json::array();
  for (const Setting setting : r.touched) touched.push_back(parameter_of(setting));
  return json{{"version", record_version},
              {"uuid", r.uuid},
              {"library", r.library},
              {"route", r.route},
              {"route_details", r.route_details},
              {"boot", r.boot},
              {"driver", r.driver},
              {"client", to_json(r.client)},
              {"server", to_json(r.server)},
              {"created", r.created},
              {"before", to_json(r.before)},
              {"touched", touched}}
             .dump(2) +
         "\n";
}

SettingsRecord record_from_text(const std::string& text) {
  const json j = json::parse(text, nullptr, false);
  if (!j.is_object()) throw UsageError("it is not a JSON object");
  if (read_key<int>(j, "version") != record_version) throw OtherVersion();
  SettingsRecord r;
  r.uuid = read_key<std::string>(j, "uuid");
  r.library = read_key<std::string>(j, "library");
  r.route = read_key<std::string>(j, "route");
  if (j.contains("route_details")) r.route_details = read_key<std::string>(j, "route_details");
  r.boot = read_key<std::string>(j, "boot");
  r.driver = read_key<std::string>(j, "driver");
  r.client = read_key(j, "client", process_identity_from_json);
  r.server = read_key(j, "server", process_identity_from_json);
  r.created = read_key<std::string>(j, "created");
  r.before = read_key(j, "before", saved_settings_from_json);
  for (const auto& name : read_key<std::vector<std::string>>(j, "touched")) {
    const auto setting = setting_of(name);
    if (!setting) throw UsageError("there is no setting '" + name + "'");
    r.touched.push_back(*setting);
  }
  return r;
}

SettingsFolder SettingsFolder::open(bool simulated) {
  std::vector<std::pair<fs::path, mode_t>> candidates;
  const std::string named = environment("WATTUNE_SETTINGS_DIR");
  const std::string machine = environment("WATTUNE_SIM_STATE");
  if (!named.empty()) {
    candidates.emplace_back(fs::absolute(named), 0700);
  } else if (simulated && !machine.empty()) {
    candidates.emplace_back(fs::absolute(machine + ".settings"), 0700);
  } else {
    if (::geteuid() == 0) candidates.emplace_back("/run/wattune", 0755);
    candidates.emplace_back(fmt::format("/var/tmp/wattune-{}", ::geteuid()), 0700);
  }
  std::string objections;
  for (const auto& [folder, mode] : candidates) {
    ::mkdir(folder.c_str(), mode);
    const std::string why_not = objection(folder);
    if (why_not.empty()) return SettingsFolder(folder);
    objections += fmt::format("{}{}: {}", objections.empty() ? "" : "; ", folder.string(), why_not);
  }
  throw DeviceError(fmt::format(
      "cannot change device settings: there is no safe place on this node to note what they were before ({}); correct "
      "that, or name a folder of your own on a local disk in WATTUNE_SETTINGS_DIR",
      objections));
}

fs::path SettingsFolder::file(const std::string& uuid, const char* ending) const {
  // UUIDs come from NVML; all the same none may lead out of the folder.
  std::string name = uuid;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_'; }, '_');
  return path_ / (name + ending);
}

std::optional<BoardLock> SettingsFolder::try_lock(const std::string& uuid) const {
  const fs::path path = file(uuid, ".lock");
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock) {
    throw DeviceError(
        fmt::format("cannot lock the settings of {}: '{}': {}", uuid, path.string(), system_error_text(errno)));
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    throw DeviceError(
        fmt::format("cannot lock the settings of {}: '{}': {}", uuid, path.string(), system_error_text(errno)));
  }
  // For messages only: the lock is the kernel's.
  const std::string holder = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock.get(), 0) == 0) {
    [[maybe_unused]] const auto written = ::write(lock.get(), holder.data(), holder.size());
  }
  return BoardLock(std::move(lock));
}

std::string SettingsFolder::holder(const std::string& uuid) const {
  try {
    if (const auto record = find(uuid)) return fmt::format("wattune (pid {})", record->client.pid);
    const std::string text = read_file(file(uuid, ".lock"), "the lock");
    return fmt::format("wattune's settings server (pid {})", text.substr(0, text.find('\n')));
  } catch (const Error&) {
    return "another process";
  }
}

void SettingsFolder::write(const SettingsRecord& record) const {
  const fs::path path = file(record.uuid, ".json");
  const fs::path temporary = file(record.uuid, ".new");
  try {
    const FileDescriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd) throw std::system_error(errno, std::generic_category());
    write_all(fd.get(), to_text(record));
    if (::fsync(fd.get()) != 0) throw std::system_error(errno, std::generic_category());
    fs::rename(temporary, path);
    sync_folder(path_);
  } catch (const std::system_error& error) {
    throw DeviceError(fmt::format("cannot change device settings: what they were before cannot be noted in '{}': {}",
                                  path.string(), error.code().message()));
  }
}

void SettingsFolder::remove(const std::string& uuid) const {
  ::unlink(file(uuid, ".json").c_str());
  sync_folder(path_);
}

std::optional<SettingsRecord> SettingsFolder::find(const std::string& uuid) const {
  std::error_code error;
  const fs::path path = file(uuid, ".json");
  if (!fs::exists(path, error)) return std::nullopt;
  return read_record(path);
}

std::vector<SettingsRecord> SettingsFolder::records(std::vector<std::string>* problems) const {
  std::vector<SettingsRecord> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().extension() != ".json") continue;
    try {
      all.push_back(read_record(entry.path()));
    } catch (const Error& wrong) {
      if (problems != nullptr) problems->emplace_back(wrong.what());
    }
  }
  return all;
}

}  // namespace wattune
