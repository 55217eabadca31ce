#include "backend/cuda/cuda_error.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace wattune {

namespace {

Outcome outcome_of(CudaResult result) {
  switch (result) {
    case CudaResult::out_of_memory:
    case CudaResult::launch_out_of_resources:
    case CudaResult::cooperative_launch_too_large:
      return Outcome::resources;

    case CudaResult::invalid_image:
    case CudaResult::no_binary_for_gpu:
    case CudaResult::invalid_ptx:
    case CudaResult::unsupported_ptx_version:
    case CudaResult::invalid_source:
    case CudaResult::not_found:
      return Outcome::compile;

    // The board, or the driver's hold on it, is gone: another process would find the same.
    case CudaResult::not_initialized:
    case CudaResult::deinitialized:
    case CudaResult::device_unavailable:
    case CudaResult::no_device:
    case CudaResult::invalid_device:
    case CudaResult::system_not_ready:
    case CudaResult::system_driver_mismatch:
    case CudaResult::external_device:
      return Outcome::lost_device;

    // These stay with the context: every later call gives the same error until the process ends.
    case CudaResult::invalid_context:
    case CudaResult::ecc_uncorrectable:
    case CudaResult::nvlink_uncorrectable:
    case CudaResult::contained:
    case CudaResult::illegal_address:
    case CudaResult::launch_timeout:
    case CudaResult::launch_incompatible_texturing:
    case CudaResult::context_is_destroyed:
    case CudaResult::assert_failed:
    case CudaResult::hardware_stack_error:
    case CudaResult::illegal_instruction:
    case CudaResult::misaligned_address:
    case CudaResult::invalid_address_space:
    case CudaResult::invalid_pc:
    case CudaResult::launch_failed:
    case CudaResult::tensor_memory_leak:
    case CudaResult::mps_client_terminated:
    case CudaResult::unknown:
      return Outcome::crash;

    default:
      return Outcome::launch;
  }
}

}  // namespace

Failure cuda_failure(const CudaDriver& driver, CudaResult result, std::string_view doing) {
  return {outcome_of(result), fmt::format("{}: {}", doing, driver.describe(result))};
}

bool poisons(Outcome outcome) noexcept {
  return outcome == Outcome::crash || outcome == Outcome::lost_device;
}

void require(const CudaDriver& driver, CudaResult result, std::string_view doing) {
  if (result != CudaResult::success) throw DeviceError(fmt::format("cannot {}: {}", doing, driver.describe(result)));
}

}  // namespace wattune
