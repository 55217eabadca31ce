// Modules, functions and launches of the simulated CUDA driver.

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "cuda/objects.hpp"
#include "cuda/recorded.hpp"
#include "export.hpp"

namespace wattune::simgpu {

namespace {

constexpr unsigned warp = 32;

/// Threads of a block for which a multiprocessor has registers.
unsigned threads_for_registers(const DeviceLimits& limits, unsigned registers) {
  const unsigned a_warp = std::max(1U, (registers + 7) / 8 * 8 * warp);
  return limits.registers_per_block / a_warp * warp;
}

unsigned max_threads(const CudaFunctionOpaque& function) {
  const DeviceLimits& limits = Machine::instance().description(function.context->board).limits;
  return std::min({function.kernel.max_threads, limits.max_threads_per_block,
                   threads_for_registers(limits, function.kernel.registers)});
}

/// Whether a launch is what the driver would refuse.
CudaResult check_launch(const CudaFunctionOpaque& function, const LaunchShape& shape, std::uint64_t dynamic_shared) {
  const auto& [grid, block] = std::pair(shape.grid, shape.block);
  const auto is_zero = [](unsigned n) { return n == 0; };
  if (std::any_of(grid.begin(), grid.end(), is_zero) || std::any_of(block.begin(), block.end(), is_zero)) {
    return CudaResult::invalid_value;
  }
  if (grid[1] > 65535 || grid[2] > 65535 || block[2] > 64) return CudaResult::invalid_value;
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > 1024) return CudaResult::invalid_value;
  if (threads > max_threads(function)) return CudaResult::launch_out_of_resources;
  if (dynamic_shared > function.dynamic_shared_limit) return CudaResult::invalid_value;
  const Description& description = Machine::instance().description(function.context->board);
  return occupancy(description, shape).blocks_per_multiprocessor == 0 ? CudaResult::launch_out_of_resources
                                                                      : CudaResult::success;
}

/// The work of a launch as it was recorded, where WATTUNE_SIM_RECORDED has it; nothing for other kernels.
/// @param result set where the configuration is not in the file, or did not run when it was recorded.
std::optional<Work> recorded_work_of(const CudaFunctionOpaque& function, const LaunchShape& shape, CudaResult& result) {
  const RecordedKernel* recorded = RecordedKernel::instance();
  if (recorded == nullptr) return std::nullopt;
  auto answer = recorded->find(function.image->variant, shape.block);
  if (answer.kind == RecordedKernel::Answer::Kind::missing) result = CudaResult::not_supported;
  if (answer.kind == RecordedKernel::Answer::Kind::failed) result = CudaResult::launch_out_of_resources;
  if (answer.kind != RecordedKernel::Answer::Kind::found) return std::nullopt;
  const Description& description = Machine::instance().description(function.context->board);
  for (auto& record : answer.records) {
    if (record.sm_clock <= 0) record.sm_clock = description.default_clock;
  }
  return simgpu::recorded_work(description, answer.records);
}

/// Whatever was recorded ran with the blocks that it had: registers that would forbid it were none.
void allow_recorded_blocks(Image& image) {
  constexpr unsigned most_registers = 64;  // of a block of 1024 threads
  const RecordedKernel* recorded = RecordedKernel::instance();
  if (recorded == nullptr || !recorded->is_of(image.variant)) return;
  for (auto& kernel : image.kernels) kernel.registers = std::min(kernel.registers, most_registers);
}

CudaResult find_work(CudaFunctionOpaque& function, const LaunchShape& shape, Work& work) {
  auto& last = function.last;
  const Demand demand = next_demand();
  const bool same = last.work && last.shape.grid == shape.grid && last.shape.block == shape.block &&
                    last.shape.shared_bytes == shape.shared_bytes && last.demand.flop == demand.flop &&
                    last.demand.bytes == demand.bytes;
  if (!same) {
    last.shape = shape;
    last.demand = demand;
    CudaResult result = CudaResult::success;
    last.work = recorded_work_of(function, shape, result);
    if (result != CudaResult::success) return result;
    if (!last.work) {
      last.work =
          launch_work(Machine::instance().description(function.context->board), shape, function.image->variant, demand);
    }
  }
  work = *last.work;
  return CudaResult::success;
}

}  // namespace

}  // namespace wattune::simgpu

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT CudaResult cuModuleLoadData(CudaModule* module, const void* data) {
  return in_context([&](CudaContext context) {
    if (const CudaResult fault = fault_at("load", context->board); fault != CudaResult::success) return fault;
    auto image = read_image(data);
    if (!image) return CudaResult::invalid_image;
    auto own = std::make_unique<CudaModuleOpaque>();
    own->context = context;
    own->image = std::move(*image);
    allow_recorded_blocks(own->image);
    for (const auto& variable : own->image.variables) {
      own->variables[variable.name] = allocate(context, std::max<std::size_t>(variable.bytes, 1));
    }
    Machine::instance().spend(context->board, call_seconds::load_module);
    *module = own.release();
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuModuleUnload(CudaModule module) {
  return guarded([&] {
    const std::unique_ptr<CudaModuleOpaque> own(module);
    if (!own || current_context() != own->context) return CudaResult::invalid_context;
    for (const auto& [name, pointer] : own->variables) release(own->context, pointer);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuModuleGetFunction(CudaFunction* function, CudaModule module, const char* name) {
  return in_context([&](CudaContext context) {
    const auto& kernels = module->image.kernels;
    const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == name; });
    if (found == kernels.end()) return CudaResult::not_found;
    auto& own = module->functions[name];
    if (!own) {
      own = std::make_unique<CudaFunctionOpaque>();
      own->context = context;
      own->image = &module->image;
      own->kernel = *found;
      const std::uint64_t usual = Machine::instance().description(context->board).limits.shared_bytes_per_block;
      own->dynamic_shared_limit = usual > found->shared_bytes ? usual - found->shared_bytes : 0;
    }
    *function = own.get();
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuModuleGetGlobal_v2(CudaDevicePointer* pointer, std::size_t* bytes, CudaModule module,
                                                   const char* name) {
  return in_context([&](CudaContext context) {
    const auto found = module->variables.find(name);
    if (found == module->variables.end()) return CudaResult::not_found;
    if (pointer != nullptr) *pointer = found->second;
    if (bytes != nullptr) *bytes = context->allocations.at(found->second);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuFuncGetAttribute(int* value, CudaFunctionAttribute attribute, CudaFunction function) {
  return in_context([&](CudaContext) {
    const auto give = [&](std::uint64_t number) {
      *value = static_cast<int>(number);
      return CudaResult::success;
    };
    switch (attribute) {
      case CudaFunctionAttribute::max_threads_per_block:
        return give(max_threads(*function));
      case CudaFunctionAttribute::shared_size_bytes:
        return give(function->kernel.shared_bytes);
      case CudaFunctionAttribute::const_size_bytes:
        return give(0);
      case CudaFunctionAttribute::local_size_bytes:
        return give(function->kernel.local_bytes);
      case CudaFunctionAttribute::num_regs:
        return give(function->kernel.registers);
      case CudaFunctionAttribute::max_dynamic_shared_size_bytes:
        return give(function->dynamic_shared_limit);
    }
    return CudaResult::invalid_value;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuFuncSetAttribute(CudaFunction function, CudaFunctionAttribute attribute, int value) {
  return in_context([&](CudaContext context) {
    if (attribute != CudaFunctionAttribute::max_dynamic_shared_size_bytes || value < 0)
      return CudaResult::invalid_value;
    const std::uint64_t most = Machine::instance().description(context->board).limits.shared_bytes_per_block_optin;
    const auto wanted = static_cast<std::uint64_t>(value);
    if (wanted + function->kernel.shared_bytes > most) return CudaResult::invalid_value;
    function->dynamic_shared_limit = wanted;
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuFuncLoad(CudaFunction) {
  return in_context([](CudaContext) { return CudaResult::success; });
}

WATTUNE_SIM_EXPORT CudaResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CudaFunction function,
                                                                          int threads, std::size_t shared_bytes) {
  return in_context([&](CudaContext context) {
    if (function == nullptr || threads <= 0) return CudaResult::invalid_value;
    LaunchShape shape;
    shape.block[0] = static_cast<unsigned>(threads);
    shape.registers_per_thread = function->kernel.registers;
    shape.shared_bytes = function->kernel.shared_bytes + shared_bytes;
    const Description& description = Machine::instance().description(context->board);
    *blocks = static_cast<int>(occupancy(description, shape).blocks_per_multiprocessor);
    return CudaResult::success;
  });
}

WATTUNE_SIM_EXPORT CudaResult cuLaunchKernel(CudaFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                             unsigned block_x, unsigned block_y, unsigned block_z,
                                             unsigned shared_bytes, CudaStream stream, void**, void**) {
  return in_context([&](CudaContext) {
    if (function == nullptr) return CudaResult::invalid_handle;
    LaunchShape shape;
    shape.grid = {grid_x, grid_y, grid_z};
    shape.block = {block_x, block_y, block_z};
    shape.registers_per_thread = function->kernel.registers;
    shape.shared_bytes = function->kernel.shared_bytes + shared_bytes;
    if (const CudaResult bad = check_launch(*function, shape, shared_bytes); bad != CudaResult::success) return bad;
    SimulatedNode node;
    if (const CudaResult bad = find_work(*function, shape, node.work); bad != CudaResult::success) return bad;
    node.is_kernel = true;
    return enqueue(stream, node);
  });
}
