// Memory of the simulated CUDA driver. A device's memory is that of this process, and data is really moved.

#include <cstdlib>
#include <cstring>
#include <new>

#include "cuda/objects.hpp"
#include "export.hpp"

namespace wattune::simgpu {

namespace {

constexpr std::size_t alignment = 256;

void* address(CudaDevicePointer pointer) {
  return reinterpret_cast<void*>(pointer);
}

/// Whether a range lies in one allocation.
bool within(const std::map<CudaDevicePointer, std::size_t>& allocations, CudaDevicePointer pointer, std::size_t bytes) {
  auto next = allocations.upper_bound(pointer);
  if (next == allocations.begin()) return false;
  const auto& [begin, size] = *std::prev(next);
  return pointer - begin <= size && bytes <= size - (pointer - begin);
}

/// Between host and device.
SimulatedNode transfer(void* target, const void* source, std::size_t bytes) {
  SimulatedNode node;
  node.work.fixed_seconds = static_cast<double>(bytes) * call_seconds::host_copy_per_byte;
  node.effect = {target, source, bytes, 0};
  return node;
}

/// Within the device. @param bytes read and written.
SimulatedNode in_memory(CudaContext context, double bytes, const MemoryEffect& effect) {
  const DeviceLimits& limits = Machine::instance().description(context->board).limits;
  SimulatedNode node;
  node.work.memory_seconds = bytes / limits.memory_bandwidth;
  node.work.memory_activity = 1;
  node.work.fixed_seconds = call_seconds::launch;
  node.effect = effect;
  return node;
}

}  // namespace

CudaDevicePointer allocate(CudaContext context, std::size_t bytes) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const auto pointer = reinterpret_cast<CudaDevicePointer>(memory);
  context->allocations[pointer] = bytes;
  Machine::instance().count_memory(context->slot, static_cast<std::int64_t>(bytes));
  return pointer;
}

void release(CudaContext context, CudaDevicePointer pointer) {
  const auto found = context->allocations.find(pointer);
  Machine::instance().count_memory(context->slot, -static_cast<std::int64_t>(found->second));
  std::free(address(pointer));
  context->allocations.erase(found);
}

}  // namespace wattune::simgpu

namespace wattune {

void MemoryEffect::happen() const {
  if (bytes == 0) return;
  if (source == nullptr) {
    std::memset(target, value, bytes);
  } else {
    std::memmove(target, source, bytes);
  }
}

}  // namespace wattune

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT CudaResult cuMemAlloc_v2(CudaDevicePointer* pointer, std::size_t bytes) {
  return in_context([&](CudaContext context) {
    if (bytes == 0) return CudaResult::invalid_value;
    if (const CudaResult fault = fault_at("allocate", context->board); fault != CudaResult::success) return fault;
    Machine& machine = Machine::instance();
    const std::uint64_t total = machine.description(context->board).limits.memory_bytes;
    const std::uint64_t used = machine.used_memory(context->board);
    if (used > total || bytes > total - used) return CudaResult::out_of_memory;
    *pointer = allocate(context, bytes);
    machine.spend(context->board, call_seconds::allocate);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemFree_v2(CudaDevicePointer pointer) {
  return in_context([&](CudaContext context) {
    if (!context->allocations.contains(pointer)) return CudaResult::invalid_value;
    release(context, pointer);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  return in_context([&](CudaContext) {
    if (bytes == 0) return CudaResult::invalid_value;
    *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    return *memory != nullptr ? CudaResult::success : CudaResult::out_of_memory;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemFreeHost(void* memory) {
  std::free(memory);
  return CudaResult::success;
}

WATTUNE_SIM_EXPORT CudaResult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return in_context([&](CudaContext context) {
    Machine& machine = Machine::instance();
    *total = machine.description(context->board).limits.memory_bytes;
    const std::uint64_t used = machine.used_memory(context->board);
    *free = used < *total ? *total - used : 0;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemcpyHtoDAsync_v2(CudaDevicePointer target, const void* source, std::size_t bytes,
                                                   CudaStream stream) {
  return in_context([&](CudaContext context) {
    if (const CudaResult fault = fault_at("copy", context->board); fault != CudaResult::success) return fault;
    if (!within(context->allocations, target, bytes)) return CudaResult::invalid_value;
    return enqueue(stream, transfer(address(target), source, bytes));
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemcpyDtoHAsync_v2(void* target, CudaDevicePointer source, std::size_t bytes,
                                                   CudaStream stream) {
  return in_context([&](CudaContext context) {
    if (const CudaResult fault = fault_at("copy", context->board); fault != CudaResult::success) return fault;
    if (!within(context->allocations, source, bytes)) return CudaResult::invalid_value;
    return enqueue(stream, transfer(target, address(source), bytes));
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemcpyDtoDAsync_v2(CudaDevicePointer target, CudaDevicePointer source,
                                                   std::size_t bytes, CudaStream stream) {
  return in_context([&](CudaContext context) {
    if (!within(context->allocations, target, bytes) || !within(context->allocations, source, bytes)) {
      return CudaResult::invalid_value;
    }
    return enqueue(stream,
                   in_memory(context, 2 * static_cast<double>(bytes), {address(target), address(source), bytes, 0}));
  });
}

WATTUNE_SIM_EXPORT CudaResult cuMemsetD8Async(CudaDevicePointer target, unsigned char value, std::size_t bytes,
                                              CudaStream stream) {
  return in_context([&](CudaContext context) {
    if (!within(context->allocations, target, bytes)) return CudaResult::invalid_value;
    return enqueue(stream, in_memory(context, static_cast<double>(bytes), {address(target), nullptr, bytes, value}));
  });
}
