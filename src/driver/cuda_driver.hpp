#pragma once
// The CUDA driver's functions, loaded from libcuda.so.1 at run time. Names and values are those of the driver's
// documented C interface; each member names the symbol that it is loaded from.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "driver/library.hpp"

namespace wattune {

/// CUresult, as far as it is told apart here.
enum class CudaResult : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  stub_library = 34,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  unsupported_ptx_version = 222,
  contained = 226,
  invalid_source = 300,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  launch_incompatible_texturing = 703,
  context_is_destroyed = 709,
  assert_failed = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  tensor_memory_leak = 721,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
  mps_client_terminated = 810,
  external_device = 911,
  unknown = 999,
};

/// CUdevice_attribute.
enum class CudaDeviceAttribute : int {
  max_threads_per_block = 1,
  max_block_dim_x = 2,
  max_block_dim_y = 3,
  max_block_dim_z = 4,
  max_grid_dim_x = 5,
  max_grid_dim_y = 6,
  max_grid_dim_z = 7,
  max_shared_memory_per_block = 8,
  max_registers_per_block = 12,
  multiprocessor_count = 16,
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_block_optin = 97,
};

/// CUfunction_attribute.
enum class CudaFunctionAttribute : int {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  const_size_bytes = 2,
  local_size_bytes = 3,
  num_regs = 4,
  max_dynamic_shared_size_bytes = 8,
};

struct CudaUuid {
  std::uint8_t bytes[16];
};

// Opaque handles: pointers to structures of the driver.
using CudaDeviceHandle = int;
using CudaDevicePointer = unsigned long long;
using CudaContext = struct CudaContextOpaque*;
using CudaModule = struct CudaModuleOpaque*;
using CudaFunction = struct CudaFunctionOpaque*;
using CudaStream = struct CudaStreamOpaque*;
using CudaEvent = struct CudaEventOpaque*;
using CudaGraph = struct CudaGraphOpaque*;
using CudaGraphExec = struct CudaGraphExecOpaque*;
using CudaGraphNode = struct CudaGraphNodeOpaque*;

/// CU_STREAM_NON_BLOCKING: no implicit order with the legacy default stream.
inline constexpr unsigned cuda_stream_non_blocking = 1;
/// CU_EVENT_DEFAULT: with time stamps, waited for by spinning.
inline constexpr unsigned cuda_event_default = 0;
/// CU_STREAM_CAPTURE_MODE_RELAXED: calls that are not captured are allowed meanwhile (a kernel may still be loading).
inline constexpr int cuda_capture_relaxed = 2;

/// The function table. The functions that are marked optional are null where the driver is too old for them.
struct CudaDriver {
  SharedLibrary library;

  CudaResult (*init)(unsigned flags) = nullptr;                        // cuInit
  CudaResult (*driver_get_version)(int* version) = nullptr;            // cuDriverGetVersion
  CudaResult (*get_error_name)(CudaResult, const char**) = nullptr;    // cuGetErrorName
  CudaResult (*get_error_string)(CudaResult, const char**) = nullptr;  // cuGetErrorString

  CudaResult (*device_get_count)(int*) = nullptr;                                             // cuDeviceGetCount
  CudaResult (*device_get)(CudaDeviceHandle*, int ordinal) = nullptr;                         // cuDeviceGet
  CudaResult (*device_get_name)(char*, int length, CudaDeviceHandle) = nullptr;               // cuDeviceGetName
  CudaResult (*device_total_memory)(std::size_t*, CudaDeviceHandle) = nullptr;                // cuDeviceTotalMem_v2
  CudaResult (*device_get_attribute)(int*, CudaDeviceAttribute, CudaDeviceHandle) = nullptr;  // cuDeviceGetAttribute
  CudaResult (*device_get_uuid)(CudaUuid*, CudaDeviceHandle) = nullptr;  // cuDeviceGetUuid_v2, else cuDeviceGetUuid
  CudaResult (*device_get_pci_bus_id)(char*, int length, CudaDeviceHandle) = nullptr;  // cuDeviceGetPCIBusId

  CudaResult (*primary_context_retain)(CudaContext*, CudaDeviceHandle) = nullptr;  // cuDevicePrimaryCtxRetain
  CudaResult (*primary_context_release)(CudaDeviceHandle) = nullptr;               // cuDevicePrimaryCtxRelease_v2
  CudaResult (*context_set_current)(CudaContext) = nullptr;                        // cuCtxSetCurrent

  CudaResult (*module_load_data)(CudaModule*, const void* image) = nullptr;                  // cuModuleLoadData
  CudaResult (*module_unload)(CudaModule) = nullptr;                                         // cuModuleUnload
  CudaResult (*module_get_function)(CudaFunction*, CudaModule, const char* name) = nullptr;  // cuModuleGetFunction
  CudaResult (*module_get_global)(CudaDevicePointer*, std::size_t* bytes, CudaModule,
                                  const char* name) = nullptr;                                // cuModuleGetGlobal_v2
  CudaResult (*function_get_attribute)(int*, CudaFunctionAttribute, CudaFunction) = nullptr;  // cuFuncGetAttribute
  CudaResult (*function_set_attribute)(CudaFunction, CudaFunctionAttribute, int) = nullptr;   // cuFuncSetAttribute
  CudaResult (*function_load)(CudaFunction) = nullptr;                                        // cuFuncLoad (optional)
  CudaResult (*function_get_parameter)(CudaFunction, std::size_t index, std::size_t* offset,
                                       std::size_t* bytes) = nullptr;  // cuFuncGetParamInfo (optional)

  CudaResult (*max_active_blocks)(int* blocks, CudaFunction, int threads, std::size_t dynamic_shared_bytes) =
      nullptr;  // cuOccupancyMaxActiveBlocksPerMultiprocessor (optional)

  CudaResult (*memory_allocate)(CudaDevicePointer*, std::size_t) = nullptr;        // cuMemAlloc_v2
  CudaResult (*memory_free)(CudaDevicePointer) = nullptr;                          // cuMemFree_v2
  CudaResult (*host_allocate)(void**, std::size_t) = nullptr;                      // cuMemAllocHost_v2 (optional)
  CudaResult (*host_free)(void*) = nullptr;                                        // cuMemFreeHost (optional)
  CudaResult (*memory_get_info)(std::size_t* free, std::size_t* total) = nullptr;  // cuMemGetInfo_v2
  CudaResult (*copy_to_device)(CudaDevicePointer, const void*, std::size_t,
                               CudaStream) = nullptr;                                       // cuMemcpyHtoDAsync_v2
  CudaResult (*copy_to_host)(void*, CudaDevicePointer, std::size_t, CudaStream) = nullptr;  // cuMemcpyDtoHAsync_v2
  CudaResult (*copy_on_device)(CudaDevicePointer, CudaDevicePointer, std::size_t,
                               CudaStream) = nullptr;  // cuMemcpyDtoDAsync_v2
  CudaResult (*fill_bytes)(CudaDevicePointer, unsigned char, std::size_t, CudaStream) = nullptr;  // cuMemsetD8Async

  CudaResult (*stream_create)(CudaStream*, unsigned flags) = nullptr;  // cuStreamCreate
  CudaResult (*stream_destroy)(CudaStream) = nullptr;                  // cuStreamDestroy_v2
  CudaResult (*stream_synchronize)(CudaStream) = nullptr;              // cuStreamSynchronize
  CudaResult (*stream_begin_capture)(CudaStream, int mode) = nullptr;  // cuStreamBeginCapture_v2 (optional)
  CudaResult (*stream_end_capture)(CudaStream, CudaGraph*) = nullptr;  // cuStreamEndCapture (optional)

  CudaResult (*event_create)(CudaEvent*, unsigned flags) = nullptr;  // cuEventCreate
  CudaResult (*event_destroy)(CudaEvent) = nullptr;                  // cuEventDestroy_v2
  CudaResult (*event_record)(CudaEvent, CudaStream) = nullptr;       // cuEventRecord
  CudaResult (*event_query)(CudaEvent) = nullptr;                    // cuEventQuery
  CudaResult (*event_synchronize)(CudaEvent) = nullptr;              // cuEventSynchronize
  CudaResult (*event_elapsed_time)(float* milliseconds, CudaEvent start,
                                   CudaEvent stop) = nullptr;  // cuEventElapsedTime

  CudaResult (*launch_kernel)(CudaFunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, CudaStream, void** parameters,
                              void** extra) = nullptr;  // cuLaunchKernel

  CudaResult (*graph_instantiate)(CudaGraphExec*, CudaGraph,
                                  unsigned long long flags) = nullptr;  // cuGraphInstantiateWithFlags (optional)
  CudaResult (*graph_instantiate_old)(CudaGraphExec*, CudaGraph, CudaGraphNode* error_node, char* log,
                                      std::size_t log_bytes) = nullptr;  // cuGraphInstantiate_v2 (optional)
  CudaResult (*graph_launch)(CudaGraphExec, CudaStream) = nullptr;       // cuGraphLaunch (optional)
  CudaResult (*graph_upload)(CudaGraphExec, CudaStream) = nullptr;       // cuGraphUpload (optional)
  CudaResult (*graph_exec_destroy)(CudaGraphExec) = nullptr;             // cuGraphExecDestroy (optional)
  CudaResult (*graph_destroy)(CudaGraph) = nullptr;                      // cuGraphDestroy (optional)

  /// Stream capture and graphs are all there.
  [[nodiscard]] bool has_graphs() const noexcept;
  /// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
  [[nodiscard]] std::string describe(CudaResult result) const;
  /// As cuDriverGetVersion gives it: 13000 for CUDA 13.0; 0 where it gives none.
  [[nodiscard]] int version() const;
};

/// Loads the driver; does not initialise it.
/// @param path the library; where empty, WATTUNE_CUDA_DRIVER, else libcuda.so.1 where the loader finds it.
/// @throws DeviceError that names the library, where it was looked for, and what to install or set.
std::shared_ptr<const CudaDriver> load_cuda_driver(const std::string& path = {});

}  // namespace wattune
