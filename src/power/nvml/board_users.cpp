#include "power/nvml/board_users.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace wattune {

namespace {

/// nvmlProcessInfo_t, the same for the second and third form of the call.
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_memory;
  unsigned instance, compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);

using ListProcesses = NvmlResult (*)(NvmlDevice, unsigned* count, NvmlProcess*);

/// Ids of the processes that compute on a board; nothing where NVML does not say.
std::optional<std::vector<pid_t>> processes_on(const Nvml& nvml, NvmlDevice device) {
  ListProcesses list = nullptr;
  nvml.library.optional(list, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (list == nullptr) nvml.library.optional(list, "nvmlDeviceGetComputeRunningProcesses_v2");
  if (list == nullptr) return std::nullopt;
  std::vector<NvmlProcess> found(16);
  while (true) {
    auto count = static_cast<unsigned>(found.size());
    const NvmlResult result = list(device, &count, found.data());
    if (result == NvmlResult::insufficient_size && count > found.size()) {
      found.resize(2UL * count);  // more may come before the next call
      continue;
    }
    if (result != NvmlResult::success) return std::nullopt;
    std::vector<pid_t> pids;
    const std::size_t given = std::min<std::size_t>(count, found.size());
    for (std::size_t i = 0; i < given; ++i) pids.push_back(static_cast<pid_t>(found[i].pid));
    return pids;
  }
}

/// What /proc tells of a process; empty where it has ended or is not to be seen.
std::string read_about(pid_t pid, const char* what) {
  std::ifstream file(fmt::format("/proc/{}/{}", pid, what), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<pid_t> parent_of(pid_t pid) {
  const std::string stat = read_about(pid, "stat");
  // "PID (NAME) STATE PARENT ...", where the name may hold anything.
  const std::size_t end = stat.rfind(") ");
  constexpr std::size_t state_length = 4;  // with the characters around it
  if (end == std::string::npos || stat.size() <= end + state_length) return std::nullopt;
  return static_cast<pid_t>(std::atoi(stat.c_str() + end + state_length));
}

std::filesystem::path program_of(pid_t pid) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error);
}

/// Workers and compile processes are children of their coordinator, which is the same program.
bool is_of_this_run(pid_t pid) {
  if (pid == ::getpid()) return true;
  const auto coordinator = program_of(::getppid());
  return !coordinator.empty() && coordinator == program_of(::getpid()) && parent_of(pid) == ::getppid();
}

/// A process may call itself anything.
std::string name_of(pid_t pid) {
  std::string name = read_about(pid, "comm");
  while (name.ends_with('\n')) name.pop_back();
  for (char& letter : name) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return name.empty() ? fmt::format("pid {}", pid) : fmt::format("{} (pid {})", name, pid);
}

}  // namespace

BoardUsers::BoardUsers(const std::string& uuid, const std::string& pci, const std::string& library) {
  try {
    nvml_ = load_nvml(library);
  } catch (const DeviceError&) {
    return;
  }
  if (!uuid.empty() && nvml_->device_by_uuid(uuid.c_str(), &device_) == NvmlResult::success) return;
  if (!pci.empty() && nvml_->device_by_pci(pci.c_str(), &device_) == NvmlResult::success) return;
  nvml_.reset();
}

std::optional<std::vector<std::string>> BoardUsers::others() const {
  if (!nvml_) return std::nullopt;
  const auto pids = processes_on(*nvml_, device_);
  if (!pids || std::find(pids->begin(), pids->end(), ::getpid()) == pids->end()) return std::nullopt;
  std::vector<std::string> names;
  for (const pid_t pid : *pids) {
    if (!is_of_this_run(pid)) names.push_back(name_of(pid));
  }
  return names;
}

}  // namespace wattune
