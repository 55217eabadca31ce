// Names of the CUDA driver's results.

#include <algorithm>
#include <iterator>

#include "driver/cuda_driver.hpp"
#include "export.hpp"

namespace wattune::simgpu {

namespace {

struct Named {
  CudaResult result;
  const char* name;
  const char* text;
};

constexpr Named results[] = {
    {CudaResult::success, "CUDA_SUCCESS", "no error"},
    {CudaResult::invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CudaResult::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CudaResult::not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CudaResult::device_unavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {CudaResult::no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CudaResult::invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CudaResult::invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CudaResult::invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CudaResult::ecc_uncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {CudaResult::invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CudaResult::not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CudaResult::not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CudaResult::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CudaResult::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CudaResult::launch_timeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CudaResult::illegal_instruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {CudaResult::misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CudaResult::launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CudaResult::not_supported, "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported (under WATTUNE_SIM_RECORDED: the file has no such configuration)"},
    {CudaResult::system_not_ready, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {CudaResult::unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CudaResult find(CudaResult wanted, const char** text, const char* Named::*member) {
  const auto* found =
      std::find_if(std::begin(results), std::end(results), [&](const Named& known) { return known.result == wanted; });
  *text = found != std::end(results) ? found->*member : nullptr;
  return *text != nullptr ? CudaResult::success : CudaResult::invalid_value;
}

}  // namespace

}  // namespace wattune::simgpu

WATTUNE_SIM_EXPORT wattune::CudaResult cuGetErrorName(wattune::CudaResult result, const char** name) {
  return wattune::simgpu::find(result, name, &wattune::simgpu::Named::name);
}

WATTUNE_SIM_EXPORT wattune::CudaResult cuGetErrorString(wattune::CudaResult result, const char** text) {
  return wattune::simgpu::find(result, text, &wattune::simgpu::Named::text);
}
