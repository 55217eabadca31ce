// Devices and contexts of the simulated CUDA driver.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>

#include "cuda/objects.hpp"
#include "export.hpp"
#include "hash.hpp"

namespace wattune::simgpu {

namespace {

constexpr int driver_version = 13000;

/// Boards in CUDA's order: fastest first.
std::vector<std::uint32_t> cuda_order() {
  Machine& machine = Machine::instance();
  std::vector<std::uint32_t> order;
  for (std::uint32_t board = 0; board < machine.board_count(); ++board) {
    if (!machine.lost(board)) order.push_back(board);
  }
  auto speed = [&](std::uint32_t board) {
    const Description& description = machine.description(board);
    return description.multiprocessors * description.limits.flop_per_cycle * description.default_clock;
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return speed(a) > speed(b); });
  return order;
}

bool says_wrong(std::string_view point, std::uint32_t board) {
  return Machine::instance().pass(point, board).has_value();
}

std::mutex& contexts_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Primary contexts by board.
std::map<std::uint32_t, std::unique_ptr<CudaContextOpaque>>& primary_contexts() {
  static std::map<std::uint32_t, std::unique_ptr<CudaContextOpaque>> contexts;
  return contexts;
}

CudaResult with_device(CudaDeviceHandle device, const std::function<CudaResult(std::uint32_t)>& function) noexcept {
  return guarded([&] {
    const auto board = board_of(device);
    return board ? function(*board) : CudaResult::invalid_device;
  });
}

CudaResult copy_text(const std::string& text, char* target, int length) {
  if (target == nullptr || length <= 0) return CudaResult::invalid_value;
  std::snprintf(target, static_cast<std::size_t>(length), "%s", text.c_str());
  return CudaResult::success;
}

std::optional<std::uint64_t> attribute_of(const Description& description, CudaDeviceAttribute attribute) {
  const DeviceLimits& limits = description.limits;
  constexpr std::uint64_t grid_x = 2147483647;
  constexpr std::uint64_t grid_yz = 65535;
  switch (attribute) {
    case CudaDeviceAttribute::max_threads_per_block:
    case CudaDeviceAttribute::max_block_dim_x:
    case CudaDeviceAttribute::max_block_dim_y:
      return limits.max_threads_per_block;
    case CudaDeviceAttribute::max_block_dim_z:
      return 64;
    case CudaDeviceAttribute::max_grid_dim_x:
      return grid_x;
    case CudaDeviceAttribute::max_grid_dim_y:
    case CudaDeviceAttribute::max_grid_dim_z:
      return grid_yz;
    case CudaDeviceAttribute::max_shared_memory_per_block:
      return limits.shared_bytes_per_block;
    case CudaDeviceAttribute::max_registers_per_block:
      return limits.registers_per_block;
    case CudaDeviceAttribute::multiprocessor_count:
      return description.multiprocessors;
    case CudaDeviceAttribute::compute_capability_major:
      return limits.compute_major;
    case CudaDeviceAttribute::compute_capability_minor:
      return limits.compute_minor;
    case CudaDeviceAttribute::max_shared_memory_per_block_optin:
      return limits.shared_bytes_per_block_optin;
    default:
      break;
  }
  constexpr auto max_threads_per_multiprocessor = static_cast<CudaDeviceAttribute>(39);
  if (attribute == max_threads_per_multiprocessor) return limits.max_threads_per_multiprocessor;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> board_of(CudaDeviceHandle device) {
  const auto order = cuda_order();
  if (device < 0 || static_cast<std::size_t>(device) >= order.size()) return std::nullopt;
  return order[static_cast<std::size_t>(device)];
}

std::array<std::uint8_t, 16> board_uuid(std::uint32_t board) {
  std::array<std::uint8_t, 16> uuid{};
  const std::string name = Machine::instance().board_name(board);
  const std::uint64_t halves[] = {hash_of(name), hash_of(name, hash_of("uuid"))};
  std::memcpy(uuid.data(), halves, sizeof halves);
  // All simulated boards' begin alike, so that nobody takes one for a board of theirs.
  constexpr std::uint8_t mark[] = {0x51, 0x3d, 0x51, 0x3d};
  std::memcpy(uuid.data(), mark, sizeof mark);
  return uuid;
}

PciId board_pci(std::uint32_t board) {
  Machine& machine = Machine::instance();
  const auto& all = descriptions();
  const auto model = static_cast<unsigned>(&machine.description(board) - all.data());
  // A domain that no real machine has.
  constexpr unsigned domain = 0x513d;
  return {domain, model + 1, machine.board_number(board)};
}

}  // namespace wattune::simgpu

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT CudaResult cuInit(unsigned) {
  return guarded([] {
    const auto fault = Machine::instance().pass("init");
    if (fault && fault->action == Action::hang) hang();
    if (fault && fault->action == Action::result) return static_cast<CudaResult>(fault->result);
    return cuda_order().empty() ? CudaResult::no_device : CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CudaResult::invalid_value;
  *version = driver_version;
  return CudaResult::success;
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGetCount(int* count) {
  return guarded([&] {
    *count = static_cast<int>(cuda_order().size());
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGet(CudaDeviceHandle* device, int ordinal) {
  return with_device(ordinal, [&](std::uint32_t) {
    *device = ordinal;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGetName(char* name, int length, CudaDeviceHandle device) {
  return with_device(device, [&](std::uint32_t board) {
    return copy_text(Machine::instance().description(board).name, name, length);
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceTotalMem_v2(std::size_t* bytes, CudaDeviceHandle device) {
  return with_device(device, [&](std::uint32_t board) {
    *bytes = Machine::instance().description(board).limits.memory_bytes;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGetAttribute(int* value, CudaDeviceAttribute attribute, CudaDeviceHandle device) {
  return with_device(device, [&](std::uint32_t board) {
    const auto found = attribute_of(Machine::instance().description(board), attribute);
    if (!found) return CudaResult::invalid_value;
    *value = static_cast<int>(*found);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGetUuid_v2(CudaUuid* uuid, CudaDeviceHandle device) {
  return with_device(device, [&](std::uint32_t board) {
    const auto bytes = board_uuid(board);
    std::copy(bytes.begin(), bytes.end(), uuid->bytes);
    if (says_wrong("cuda_uuid", board)) uuid->bytes[15] ^= 0xff;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGetUuid(CudaUuid* uuid, CudaDeviceHandle device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

WATTUNE_SIM_EXPORT CudaResult cuDeviceGetPCIBusId(char* text, int length, CudaDeviceHandle device) {
  return with_device(device, [&](std::uint32_t board) {
    PciId id = board_pci(board);
    if (says_wrong("cuda_pci", board)) id.bus += 0x40;
    return copy_text(fmt::format("{:04X}:{:02X}:{:02X}.0", id.domain, id.bus, id.device), text, length);
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDevicePrimaryCtxRetain(CudaContext* context, CudaDeviceHandle device) {
  return with_device(device, [&](std::uint32_t board) {
    const std::lock_guard lock(contexts_mutex());
    auto& own = primary_contexts()[board];
    if (!own) {
      if (const CudaResult fault = fault_at("context", board); fault != CudaResult::success) return fault;
      const auto slot = Machine::instance().open_context(board);
      if (!slot) return CudaResult::out_of_memory;
      own = std::make_unique<CudaContextOpaque>();
      own->board = board;
      own->slot = *slot;
      own->default_stream.context = own.get();
      Machine::instance().spend(board, call_seconds::open_context);
    }
    ++own->retained;
    *context = own.get();
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuDevicePrimaryCtxRelease_v2(CudaDeviceHandle device) {
  return guarded([&] {
    const std::lock_guard lock(contexts_mutex());
    // Of a lost board the number is another's now: the context of the calling thread tells which it is.
    const auto board = board_of(device);
    CudaContext current = current_context();
    const auto found = primary_contexts().find(current != nullptr ? current->board : board.value_or(none));
    if (found == primary_contexts().end() || !found->second) return CudaResult::invalid_context;
    if (--found->second->retained > 0) return CudaResult::success;
    CudaContext context = found->second.get();
    for (const auto& [address, bytes] : context->allocations) std::free(reinterpret_cast<void*>(address));
    Machine::instance().close_context(context->slot);
    if (current_context() == context) current_context() = nullptr;
    primary_contexts().erase(found);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuCtxSetCurrent(CudaContext context) {
  current_context() = context;
  return CudaResult::success;
}
