// Our declarations against the toolkit's headers, where these are installed: numbers, and number and kind of
// parameters.

#include <gtest/gtest.h>

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>

#include <type_traits>

#include "driver/cuda_driver.hpp"
#include "driver/nvrtc.hpp"

namespace wattune {
namespace {

template <typename Ours, typename Theirs>
struct SameKind {
  static constexpr bool value = sizeof(Ours) == sizeof(Theirs) &&
                                std::is_pointer<Ours>::value == std::is_pointer<Theirs>::value &&
                                std::is_floating_point<Ours>::value == std::is_floating_point<Theirs>::value;
};

template <typename Ours, typename Theirs>
struct SameCall {
  static constexpr bool value = false;
};
template <typename Ours, typename Theirs>
struct SameCall<Ours(), Theirs()> : SameKind<Ours, Theirs> {};
template <typename Ours, typename Theirs, typename First, typename... Rest, typename TheirFirst, typename... TheirRest>
struct SameCall<Ours(First, Rest...), Theirs(TheirFirst, TheirRest...)> {
  static constexpr bool value =
      SameKind<First, TheirFirst>::value && SameCall<Ours(Rest...), Theirs(TheirRest...)>::value;
};

#define CALL(member, symbol) \
  static_assert(SameCall<std::remove_pointer_t<decltype(CudaDriver::member)>, decltype(symbol)>::value, #symbol)
CALL(init, cuInit);
CALL(driver_get_version, cuDriverGetVersion);
CALL(get_error_name, cuGetErrorName);
CALL(get_error_string, cuGetErrorString);
CALL(device_get_count, cuDeviceGetCount);
CALL(device_get, cuDeviceGet);
CALL(device_get_name, cuDeviceGetName);
CALL(device_total_memory, cuDeviceTotalMem);
CALL(device_get_attribute, cuDeviceGetAttribute);
CALL(device_get_uuid, cuDeviceGetUuid);
CALL(device_get_pci_bus_id, cuDeviceGetPCIBusId);
CALL(primary_context_retain, cuDevicePrimaryCtxRetain);
CALL(primary_context_release, cuDevicePrimaryCtxRelease);
CALL(context_set_current, cuCtxSetCurrent);
CALL(module_load_data, cuModuleLoadData);
CALL(module_unload, cuModuleUnload);
CALL(module_get_function, cuModuleGetFunction);
CALL(module_get_global, cuModuleGetGlobal);
CALL(function_get_attribute, cuFuncGetAttribute);
CALL(function_set_attribute, cuFuncSetAttribute);
CALL(memory_allocate, cuMemAlloc);
CALL(memory_free, cuMemFree);
CALL(memory_get_info, cuMemGetInfo);
CALL(copy_to_device, cuMemcpyHtoDAsync);
CALL(copy_to_host, cuMemcpyDtoHAsync);
CALL(copy_on_device, cuMemcpyDtoDAsync);
CALL(fill_bytes, cuMemsetD8Async);
CALL(stream_create, cuStreamCreate);
CALL(stream_destroy, cuStreamDestroy);
CALL(stream_synchronize, cuStreamSynchronize);
CALL(stream_begin_capture, cuStreamBeginCapture);
CALL(stream_end_capture, cuStreamEndCapture);
CALL(event_create, cuEventCreate);
CALL(event_destroy, cuEventDestroy);
CALL(event_record, cuEventRecord);
CALL(event_query, cuEventQuery);
CALL(event_synchronize, cuEventSynchronize);
CALL(event_elapsed_time, cuEventElapsedTime);
CALL(launch_kernel, cuLaunchKernel);
CALL(graph_launch, cuGraphLaunch);
CALL(graph_exec_destroy, cuGraphExecDestroy);
CALL(graph_destroy, cuGraphDestroy);
#if CUDA_VERSION >= 12000
CALL(graph_instantiate, cuGraphInstantiate);
CALL(graph_upload, cuGraphUpload);
#endif
#if CUDA_VERSION >= 12040
CALL(function_load, cuFuncLoad);
CALL(function_get_parameter, cuFuncGetParamInfo);
#endif
#undef CALL

#define CALL(member, symbol) \
  static_assert(SameCall<std::remove_pointer_t<decltype(Nvrtc::member)>, decltype(symbol)>::value, #symbol)
CALL(get_error_string, nvrtcGetErrorString);
CALL(get_version, nvrtcVersion);
CALL(create_program, nvrtcCreateProgram);
CALL(destroy_program, nvrtcDestroyProgram);
CALL(compile_program, nvrtcCompileProgram);
CALL(get_program_log_size, nvrtcGetProgramLogSize);
CALL(get_program_log, nvrtcGetProgramLog);
CALL(get_cubin_size, nvrtcGetCUBINSize);
CALL(get_cubin, nvrtcGetCUBIN);
CALL(add_name_expression, nvrtcAddNameExpression);
CALL(get_lowered_name, nvrtcGetLoweredName);
CALL(get_architecture_count, nvrtcGetNumSupportedArchs);
CALL(get_architectures, nvrtcGetSupportedArchs);
#undef CALL

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(same(CudaResult::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same(CudaResult::stub_library, CUDA_ERROR_STUB_LIBRARY));
static_assert(same(CudaResult::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE));
static_assert(same(CudaResult::no_device, CUDA_ERROR_NO_DEVICE));
static_assert(same(CudaResult::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(same(CudaResult::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(same(CudaResult::not_found, CUDA_ERROR_NOT_FOUND));
static_assert(same(CudaResult::not_ready, CUDA_ERROR_NOT_READY));
static_assert(same(CudaResult::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(same(CudaResult::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
static_assert(same(CudaResult::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT));
static_assert(same(CudaResult::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR));
static_assert(same(CudaResult::launch_failed, CUDA_ERROR_LAUNCH_FAILED));
static_assert(same(CudaResult::unknown, CUDA_ERROR_UNKNOWN));
static_assert(same(CudaDeviceAttribute::max_grid_dim_z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
static_assert(same(CudaDeviceAttribute::multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(same(CudaDeviceAttribute::compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(same(CudaDeviceAttribute::max_shared_memory_per_block_optin,
                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(same(CudaFunctionAttribute::num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(same(CudaFunctionAttribute::max_dynamic_shared_size_bytes,
                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
static_assert(same(cuda_stream_non_blocking, CU_STREAM_NON_BLOCKING));
static_assert(same(cuda_event_default, CU_EVENT_DEFAULT));
static_assert(same(cuda_capture_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
static_assert(same(NvrtcResult::compilation, NVRTC_ERROR_COMPILATION));
static_assert(sizeof(CudaUuid) == sizeof(CUuuid));

TEST(Declarations, agree_with_the_headers_of_the_toolkit) {
  SUCCEED() << "or this file would not have compiled";
}

}  // namespace
}  // namespace wattune
#else
TEST(Declarations, agree_with_the_headers_of_the_toolkit) {
  GTEST_SKIP() << "no CUDA toolkit on this machine";
}
#endif
