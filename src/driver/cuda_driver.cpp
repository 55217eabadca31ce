#include "driver/cuda_driver.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace wattune {

namespace {

void load_devices_and_contexts(CudaDriver& driver) {
  const SharedLibrary& library = driver.library;
  library.required(driver.init, "cuInit");
  library.required(driver.driver_get_version, "cuDriverGetVersion");
  library.required(driver.get_error_name, "cuGetErrorName");
  library.required(driver.get_error_string, "cuGetErrorString");
  library.required(driver.device_get_count, "cuDeviceGetCount");
  library.required(driver.device_get, "cuDeviceGet");
  library.required(driver.device_get_name, "cuDeviceGetName");
  library.required(driver.device_total_memory, "cuDeviceTotalMem_v2");
  library.required(driver.device_get_attribute, "cuDeviceGetAttribute");
  // The first form gives the whole board's UUID for an instance of a divided (MIG) board.
  library.optional(driver.device_get_uuid, "cuDeviceGetUuid_v2");
  if (driver.device_get_uuid == nullptr) library.required(driver.device_get_uuid, "cuDeviceGetUuid");
  library.required(driver.device_get_pci_bus_id, "cuDeviceGetPCIBusId");
  library.required(driver.primary_context_retain, "cuDevicePrimaryCtxRetain");
  library.optional(driver.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
  if (driver.primary_context_release == nullptr) {
    library.required(driver.primary_context_release, "cuDevicePrimaryCtxRelease");
  }
  library.required(driver.context_set_current, "cuCtxSetCurrent");
}

void load_modules_and_memory(CudaDriver& driver) {
  const SharedLibrary& library = driver.library;
  library.required(driver.module_load_data, "cuModuleLoadData");
  library.required(driver.module_unload, "cuModuleUnload");
  library.required(driver.module_get_function, "cuModuleGetFunction");
  library.required(driver.module_get_global, "cuModuleGetGlobal_v2");
  library.required(driver.function_get_attribute, "cuFuncGetAttribute");
  library.required(driver.function_set_attribute, "cuFuncSetAttribute");
  library.optional(driver.function_load, "cuFuncLoad");
  library.optional(driver.function_get_parameter, "cuFuncGetParamInfo");
  library.optional(driver.max_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  library.required(driver.memory_allocate, "cuMemAlloc_v2");
  library.required(driver.memory_free, "cuMemFree_v2");
  library.optional(driver.host_allocate, "cuMemAllocHost_v2");
  library.optional(driver.host_free, "cuMemFreeHost");
  library.required(driver.memory_get_info, "cuMemGetInfo_v2");
  library.required(driver.copy_to_device, "cuMemcpyHtoDAsync_v2");
  library.required(driver.copy_to_host, "cuMemcpyDtoHAsync_v2");
  library.required(driver.copy_on_device, "cuMemcpyDtoDAsync_v2");
  library.required(driver.fill_bytes, "cuMemsetD8Async");
}

void load_streams_and_graphs(CudaDriver& driver) {
  const SharedLibrary& library = driver.library;
  library.required(driver.stream_create, "cuStreamCreate");
  library.required(driver.stream_destroy, "cuStreamDestroy_v2");
  library.required(driver.stream_synchronize, "cuStreamSynchronize");
  library.optional(driver.stream_begin_capture, "cuStreamBeginCapture_v2");
  library.optional(driver.stream_end_capture, "cuStreamEndCapture");
  library.required(driver.event_create, "cuEventCreate");
  library.required(driver.event_destroy, "cuEventDestroy_v2");
  library.required(driver.event_record, "cuEventRecord");
  library.required(driver.event_query, "cuEventQuery");
  library.required(driver.event_synchronize, "cuEventSynchronize");
  library.required(driver.event_elapsed_time, "cuEventElapsedTime");
  library.required(driver.launch_kernel, "cuLaunchKernel");
  library.optional(driver.graph_instantiate, "cuGraphInstantiateWithFlags");
  library.optional(driver.graph_instantiate_old, "cuGraphInstantiate_v2");
  library.optional(driver.graph_launch, "cuGraphLaunch");
  library.optional(driver.graph_upload, "cuGraphUpload");
  library.optional(driver.graph_exec_destroy, "cuGraphExecDestroy");
  library.optional(driver.graph_destroy, "cuGraphDestroy");
}

}  // namespace

bool CudaDriver::has_graphs() const noexcept {
  return stream_begin_capture != nullptr && stream_end_capture != nullptr &&
         (graph_instantiate != nullptr || graph_instantiate_old != nullptr) && graph_launch != nullptr &&
         graph_exec_destroy != nullptr && graph_destroy != nullptr;
}

std::string CudaDriver::describe(CudaResult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (get_error_name(result, &name) != CudaResult::success || name == nullptr) {
    return fmt::format("CUDA error {}", static_cast<int>(result));
  }
  if (get_error_string(result, &text) != CudaResult::success || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

int CudaDriver::version() const {
  int version = 0;
  return driver_get_version(&version) == CudaResult::success ? version : 0;
}

std::shared_ptr<const CudaDriver> load_cuda_driver(const std::string& path) {
  const std::string from_environment = environment("WATTUNE_CUDA_DRIVER");
  const std::string named = !path.empty() ? path : from_environment;
  const std::string name = named.empty() ? "libcuda.so.1" : named;
  std::string why_not;
  auto library = SharedLibrary::open(name, why_not);
  if (!library && named.empty()) {
    throw DeviceError(
        fmt::format("cannot use CUDA devices: the driver's library {} was not found in {}: {}; install NVIDIA's "
                    "driver, or name its "
                    "library in WATTUNE_CUDA_DRIVER",
                    name, loader_places(), why_not));
  }
  if (!library) {
    throw DeviceError(
        fmt::format("cannot use CUDA devices: the driver's library '{}'{} cannot be loaded: {}; correct the "
                    "path, or leave it out to take libcuda.so.1 of the installed driver",
                    name, path.empty() ? " (from WATTUNE_CUDA_DRIVER)" : "", why_not));
  }
  auto driver = std::make_shared<CudaDriver>();
  driver->library = *library;
  load_devices_and_contexts(*driver);
  load_modules_and_memory(*driver);
  load_streams_and_graphs(*driver);
  return driver;
}

}  // namespace wattune
