#include "settings/process_identity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/error.hpp"

namespace wattune {

namespace {

struct Stat {
  char state = 0;
  pid_t parent = 0;
  pid_t session = 0;
  std::uint64_t start_time = 0;
};

std::optional<Stat> read_stat(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The name, in brackets, may itself hold brackets and spaces.
  const auto end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(end + 1));
  Stat stat;
  std::string skipped;
  rest >> stat.state >> stat.parent >> skipped >> stat.session;
  constexpr int between_session_and_start = 15;
  for (int i = 0; i < between_session_and_start; ++i) rest >> skipped;
  rest >> stat.start_time;
  if (!rest || stat.state == 'Z' || stat.state == 'X') return std::nullopt;
  return stat;
}

}  // namespace

ProcessIdentity identify(pid_t pid) {
  const auto stat = read_stat(pid);
  return {pid, stat ? stat->start_time : 0};
}

ProcessIdentity own_identity() {
  return identify(::getpid());
}

bool is_alive(const ProcessIdentity& process) {
  const auto stat = read_stat(process.pid);
  return stat && stat->start_time == process.start_time;
}

pid_t parent_of(pid_t pid) {
  const auto stat = read_stat(pid);
  return stat ? stat->parent : 0;
}

std::int64_t user_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  std::string word;
  while (file >> word) {
    std::int64_t user = -1;
    if (word == "Uid:" && file >> user) return user;
  }
  return -1;
}

bool survives_in_session(const ProcessIdentity& leader) {
  // Session 0 is the kernel's; where it is our own, the number was given anew.
  if (leader.pid <= 0 || leader.pid == ::getsid(0)) return false;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (fault != std::errc() || end != name.data() + name.size() || pid == leader.pid) continue;
    const auto stat = read_stat(pid);
    if (stat && stat->session == leader.pid && stat->start_time >= leader.start_time) return true;
  }
  return false;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (file >> id) return id;
  throw DeviceError(
      "cannot change device settings: /proc/sys/kernel/random/boot_id cannot be read, without which "
      "what was left by a crash could not be told from what a reboot has put back; mount /proc");
}

nlohmann::json to_json(const ProcessIdentity& process) {
  return {{"pid", process.pid}, {"start_time", process.start_time}};
}

ProcessIdentity process_identity_from_json(const nlohmann::json& json) {
  return {json.at("pid").get<pid_t>(), json.at("start_time").get<std::uint64_t>()};
}

}  // namespace wattune
