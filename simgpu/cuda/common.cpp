// What all parts of the driver share.

#include <cstdio>
#include <exception>
#include <new>

#include "cuda/objects.hpp"
#include "machine/process.hpp"

namespace wattune::simgpu {

CudaContext& current_context() {
  thread_local CudaContext current = nullptr;
  return current;
}

CudaStream stream_or_default(CudaStream stream) {
  return stream != nullptr ? stream : &current_context()->default_stream;
}

CudaResult guarded(const std::function<CudaResult()>& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return CudaResult::out_of_memory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulated GPU: %s\n", error.what());
    return CudaResult::system_not_ready;
  }
}

CudaResult in_context(const std::function<CudaResult(CudaContext)>& function) noexcept {
  return guarded([&] {
    CudaContext context = current_context();
    if (context == nullptr) return CudaResult::invalid_context;
    Machine& machine = Machine::instance();
    if (machine.lost(context->board)) return CudaResult::unknown;
    if (const auto error = machine.context_error(context->slot); error != 0) return static_cast<CudaResult>(error);
    const CudaResult result = function(context);
    if (result != CudaResult::success) return result;
    if (machine.lost(context->board)) return CudaResult::unknown;
    return result;
  });
}

void hang() {
  while (true) real_sleep(1);
}

CudaResult fault_at(std::string_view point, std::uint32_t board) {
  const auto fault = Machine::instance().pass(point, board);
  if (!fault) return CudaResult::success;
  if (fault->action == Action::hang) hang();
  if (fault->action == Action::lost) return CudaResult::unknown;
  return static_cast<CudaResult>(fault->result);
}

Demand& next_demand() {
  static Demand demand;
  return demand;
}

}  // namespace wattune::simgpu
