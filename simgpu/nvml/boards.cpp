// Boards as NVML knows them: finding them, and who they are.

#include "nvml/boards.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

#include "cuda/objects.hpp"
#include "export.hpp"
#include "nvml/types.hpp"

namespace wattune::simgpu {

namespace {

constexpr const char* driver_version = "580.0.simulated";
constexpr const char* nvml_version = "13.580.0.simulated";
constexpr int cuda_version = 13000;

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::string nvml_uuid(std::uint32_t board) {
  auto uuid = board_uuid(board);
  if (Machine::instance().pass("nvml_uuid", board)) uuid[14] ^= 0xff;
  return uuid_text(uuid);
}

/// Before and after what a slow call does.
void dawdle() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

NvmlResult not_passed(std::string_view point) {
  const auto fault = Machine::instance().pass(fmt::format("nvml.{}", point));
  if (!fault) return NvmlResult::success;
  if (fault->action == Action::hang) hang();
  if (fault->action == Action::slow) dawdle();
  return fault->action == Action::result ? static_cast<NvmlResult>(fault->result) : NvmlResult::success;
}

NvmlResult find_board(NvmlDevice* device, const std::function<bool(std::uint32_t)>& matches) {
  Machine& machine = Machine::instance();
  for (std::uint32_t board = 0; board < machine.board_count(); ++board) {
    if (!matches(board)) continue;
    if (machine.lost(board)) return NvmlResult::gpu_is_lost;
    *device = nvml_device(board);
    return NvmlResult::success;
  }
  return NvmlResult::not_found;
}

}  // namespace

std::atomic<int>& nvml_users() {
  static std::atomic<int> users{0};
  return users;
}

NvmlDevice nvml_device(std::uint32_t board) {
  static std::array<NvmlDeviceOpaque, most_boards> devices;
  devices[board].board = board;
  return &devices[board];
}

NvmlResult guarded_nvml(const std::function<NvmlResult()>& function) noexcept {
  try {
    return nvml_users() > 0 ? function() : NvmlResult::uninitialized;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulated GPU: %s\n", error.what());
    return NvmlResult::unknown;
  }
}

NvmlResult call(NvmlDevice device, std::string_view point, double CallCosts::*cost,
                const std::function<NvmlResult(std::uint32_t board)>& function) noexcept {
  return guarded_nvml([&] {
    if (device == nullptr) return NvmlResult::invalid_argument;
    Machine& machine = Machine::instance();
    const std::uint32_t board = device->board;
    const CallCosts& costs = machine.description(board).calls;
    if (machine.lost(board)) return NvmlResult::gpu_is_lost;
    if (cost != nullptr) {
      machine.spend(board, cost == &CallCosts::counter ? counter_seconds(costs) : costs.*cost);
    }
    if (const auto fault = machine.pass(fmt::format("nvml.{}", point), board)) {
      if (fault->action == Action::hang) hang();
      if (fault->action == Action::lost) return NvmlResult::gpu_is_lost;
      if (fault->action == Action::slow) {
        dawdle();
        const NvmlResult result = function(board);
        dawdle();
        return result;
      }
      return static_cast<NvmlResult>(fault->result);
    }
    return function(board);
  });
}

double counter_seconds(const CallCosts& costs) {
  static std::atomic<unsigned> calls{0};
  constexpr unsigned one_in = 100;
  return ++calls % one_in == 0 ? costs.counter_tail : costs.counter;
}

double average_power(Board& physics, const BoardSlot& slot) {
  return slot.power_is_stale ? slot.stale_average : physics.average_power();
}

double instant_power(Board& physics, const BoardSlot& slot) {
  return slot.power_is_stale ? slot.stale_instant : physics.instant_power();
}

void pass_power_sensor(std::uint32_t board) {
  Machine& machine = Machine::instance();
  if (!machine.pass("power_sensor", board)) return;
  machine.with_board(board, [](Board& physics, BoardSlot& slot) {
    slot.stale_average = physics.average_power();
    slot.stale_instant = physics.instant_power();
    slot.power_is_stale = true;
  });
}

double counter_joules(std::uint32_t board) {
  constexpr double jump_back = 1000;
  Machine& machine = Machine::instance();
  const auto fault = machine.pass("energy_counter", board);
  return machine.with_board(board, [&](Board& physics, BoardSlot& slot) {
    const double joules = physics.counter_joules() - slot.counter_offset;
    if (fault && fault->action == Action::still && !slot.counter_is_still) {
      slot.counter_is_still = true;
      slot.still_counter = joules;
    }
    if (fault && fault->action == Action::back) slot.counter_offset += std::min(jump_back, joules);
    if (fault && fault->action == Action::wrap) slot.counter_offset += joules;
    return slot.counter_is_still ? slot.still_counter : physics.counter_joules() - slot.counter_offset;
  });
}

NvmlResult copy_text(const std::string& text, char* target, unsigned length) {
  if (target == nullptr) return NvmlResult::invalid_argument;
  if (length <= text.size()) return NvmlResult::insufficient_size;
  std::memcpy(target, text.c_str(), text.size() + 1);
  return NvmlResult::success;
}

}  // namespace wattune::simgpu

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT NvmlResult nvmlInit_v2() {
  ++nvml_users();
  const NvmlResult result = guarded_nvml([] {
    Machine::instance();
    return not_passed("init");
  });
  if (result != NvmlResult::success) --nvml_users();
  return result;
}

WATTUNE_SIM_EXPORT NvmlResult nvmlInit() {
  return nvmlInit_v2();
}

WATTUNE_SIM_EXPORT NvmlResult nvmlInitWithFlags(unsigned) {
  return nvmlInit_v2();
}

WATTUNE_SIM_EXPORT NvmlResult nvmlShutdown() {
  int users = nvml_users();
  while (users > 0) {
    if (nvml_users().compare_exchange_weak(users, users - 1)) return NvmlResult::success;
  }
  return NvmlResult::uninitialized;
}

WATTUNE_SIM_EXPORT const char* nvmlErrorString(NvmlResult result) {
  switch (result) {
    case NvmlResult::success:
      return "Success";
    case NvmlResult::uninitialized:
      return "Uninitialized";
    case NvmlResult::invalid_argument:
      return "Invalid Argument";
    case NvmlResult::not_supported:
      return "Not Supported";
    case NvmlResult::no_permission:
      return "Insufficient Permissions";
    case NvmlResult::not_found:
      return "Not Found";
    case NvmlResult::insufficient_size:
      return "Insufficient Size";
    case NvmlResult::driver_not_loaded:
      return "Driver Not Loaded";
    case NvmlResult::function_not_found:
      return "Function Not Found";
    case NvmlResult::gpu_is_lost:
      return "GPU is lost";
    case NvmlResult::reset_required:
      return "GPU requires restart";
    case NvmlResult::version_mismatch:
      return "Driver/library version mismatch";
    case NvmlResult::unknown:
      return "Unknown Error";
  }
  return "Unknown Error";
}

WATTUNE_SIM_EXPORT NvmlResult nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return guarded_nvml([&] { return copy_text(driver_version, text, length); });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return guarded_nvml([&] { return copy_text(nvml_version, text, length); });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlSystemGetCudaDriverVersion(int* version) {
  return guarded_nvml([&] {
    *version = cuda_version;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetCount_v2(unsigned* count) {
  return guarded_nvml([&] {
    *count = Machine::instance().board_count();
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  return guarded_nvml([&] {
    if (index >= Machine::instance().board_count()) return NvmlResult::invalid_argument;
    return find_board(device, [&](std::uint32_t board) { return board == index; });
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetHandleByIndex(unsigned index, NvmlDevice* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  return guarded_nvml([&] {
    if (const NvmlResult fault = not_passed("by_uuid"); fault != NvmlResult::success) return fault;
    if (uuid == nullptr) return NvmlResult::invalid_argument;
    return find_board(device, [&](std::uint32_t board) { return nvml_uuid(board) == uuid; });
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* text, NvmlDevice* device) {
  return guarded_nvml([&] {
    if (const NvmlResult fault = not_passed("by_pci"); fault != NvmlResult::success) return fault;
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned number = 0;
    if (text == nullptr || std::sscanf(text, "%x:%x:%x", &domain, &bus, &number) != 3) {
      return NvmlResult::invalid_argument;
    }
    return find_board(device, [&](std::uint32_t board) {
      const PciId id = board_pci(board);
      return id.domain == domain && id.bus == bus && id.device == number;
    });
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetUUID(NvmlDevice device, char* text, unsigned length) {
  return call(device, "uuid", nullptr, [&](std::uint32_t board) { return copy_text(nvml_uuid(board), text, length); });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetName(NvmlDevice device, char* text, unsigned length) {
  return call(device, "name", nullptr, [&](std::uint32_t board) {
    return copy_text(Machine::instance().description(board).name, text, length);
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetIndex(NvmlDevice device, unsigned* index) {
  return call(device, "index", nullptr, [&](std::uint32_t board) {
    *index = board;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetMinorNumber(NvmlDevice device, unsigned* number) {
  return nvmlDeviceGetIndex(device, number);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPciInfo* info) {
  return call(device, "pci", nullptr, [&](std::uint32_t board) {
    const PciId id = board_pci(board);
    *info = {};
    info->domain = id.domain;
    info->bus = id.bus;
    info->device = id.device;
    std::snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "%04X:%02X:%02X.0", id.domain & 0xffffU,
                  id.bus & 0xffU, id.device & 0xffU);
    std::snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:%02X.0", id.domain, id.bus & 0xffU, id.device & 0xffU);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPciInfo_v2(NvmlDevice device, NvmlPciInfo* info) {
  return nvmlDeviceGetPciInfo_v3(device, info);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetArchitecture(NvmlDevice device, unsigned* architecture) {
  return call(device, "architecture", nullptr, [&](std::uint32_t board) {
    const DeviceLimits& limits = Machine::instance().description(board).limits;
    // NVML_DEVICE_ARCH_VOLTA and the following.
    const unsigned capability = limits.compute_major * 10 + limits.compute_minor;
    *architecture = capability < 75 ? 5 : capability < 80 ? 6 : capability < 89 ? 7 : capability < 90 ? 8 : 9;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetCudaComputeCapability(NvmlDevice device, int* major, int* minor) {
  return call(device, "capability", nullptr, [&](std::uint32_t board) {
    const DeviceLimits& limits = Machine::instance().description(board).limits;
    *major = static_cast<int>(limits.compute_major);
    *minor = static_cast<int>(limits.compute_minor);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceIsMigDeviceHandle(NvmlDevice device, unsigned* is) {
  return call(device, "mig", nullptr, [&](std::uint32_t) {
    *is = 0;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetMigMode(NvmlDevice device, unsigned*, unsigned*) {
  return call(device, "mig", nullptr, [](std::uint32_t) { return NvmlResult::not_supported; });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPersistenceMode(NvmlDevice device, unsigned* enabled) {
  return call(device, "persistence", nullptr, [&](std::uint32_t) {
    *enabled = 1;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetComputeMode(NvmlDevice device, unsigned* mode) {
  return call(device, "compute_mode", nullptr, [&](std::uint32_t) {
    *mode = 0;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemory* memory) {
  return call(device, "memory", &CallCosts::state, [&](std::uint32_t board) {
    Machine& machine = Machine::instance();
    memory->total = machine.description(board).limits.memory_bytes;
    memory->used = std::min<unsigned long long>(machine.used_memory(board), memory->total);
    memory->free = memory->total - memory->used;
    return NvmlResult::success;
  });
}

namespace {

/// The processes that compute on a board, in whichever form the caller knows.
template <typename Process>
NvmlResult give_processes(NvmlDevice device, unsigned* count, Process* processes) {
  return call(device, "processes", &CallCosts::state, [&](std::uint32_t board) {
    const auto found = Machine::instance().processes(board);
    const unsigned room = *count;
    *count = static_cast<unsigned>(found.size());
    if (room < found.size()) return NvmlResult::insufficient_size;
    for (std::size_t i = 0; i < found.size(); ++i) {
      Process& process = processes[i];
      process = {};
      process.pid = static_cast<unsigned>(found[i].pid);
      process.used_memory = found[i].memory;
      if constexpr (requires { process.instance; }) {
        process.instance = process.compute_instance = ~0U;  // not divided
      }
    }
    return NvmlResult::success;
  });
}

}  // namespace

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice device, unsigned* count,
                                                                      NvmlProcess* processes) {
  return give_processes(device, count, processes);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetComputeRunningProcesses_v2(NvmlDevice device, unsigned* count,
                                                                      NvmlProcess* processes) {
  return give_processes(device, count, processes);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetComputeRunningProcesses(NvmlDevice device, unsigned* count,
                                                                   NvmlProcessOld* processes) {
  return give_processes(device, count, processes);
}
