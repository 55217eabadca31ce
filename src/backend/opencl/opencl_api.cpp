#include "backend/opencl/opencl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>

namespace wattune::opencl {

std::shared_ptr<const Api> Api::load(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    throw DeviceError(fmt::format(
        "cannot use OpenCL: its loader {} cannot be opened ({}); install ocl-icd-libopencl1 and an OpenCL driver: "
        "the GPU vendor's, or pocl-opencl-icd for the CPU",
        library, reason == nullptr ? "no reason given" : reason));
  }
  auto api = std::make_shared<Api>();
#define WATTUNE_OPENCL_FIND(name)                                                               \
  api->name = reinterpret_cast<decltype(&::name)>(::dlsym(handle, #name));                      \
  if (api->name == nullptr) {                                                                   \
    throw DeviceError(fmt::format("cannot use OpenCL: {} has no function " #name                \
                                  " (it is older than OpenCL 1.2); install ocl-icd-libopencl1", \
                                  library));                                                    \
  }
  WATTUNE_OPENCL_FUNCTIONS(WATTUNE_OPENCL_FIND)
#undef WATTUNE_OPENCL_FIND
  return api;
}

std::string error_text(cl_int code) {
  static const std::map<cl_int, const char*> names = {
      {-1, "CL_DEVICE_NOT_FOUND"},
      {-2, "CL_DEVICE_NOT_AVAILABLE"},
      {-3, "CL_COMPILER_NOT_AVAILABLE"},
      {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "CL_OUT_OF_RESOURCES"},
      {-6, "CL_OUT_OF_HOST_MEMORY"},
      {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      {-8, "CL_MEM_COPY_OVERLAP"},
      {-11, "CL_BUILD_PROGRAM_FAILURE"},
      {-12, "CL_MAP_FAILURE"},
      {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-15, "CL_COMPILE_PROGRAM_FAILURE"},
      {-16, "CL_LINKER_NOT_AVAILABLE"},
      {-17, "CL_LINK_PROGRAM_FAILURE"},
      {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
      {-30, "CL_INVALID_VALUE"},
      {-31, "CL_INVALID_DEVICE_TYPE"},
      {-32, "CL_INVALID_PLATFORM"},
      {-33, "CL_INVALID_DEVICE"},
      {-34, "CL_INVALID_CONTEXT"},
      {-35, "CL_INVALID_QUEUE_PROPERTIES"},
      {-36, "CL_INVALID_COMMAND_QUEUE"},
      {-38, "CL_INVALID_MEM_OBJECT"},
      {-42, "CL_INVALID_BINARY"},
      {-43, "CL_INVALID_BUILD_OPTIONS"},
      {-44, "CL_INVALID_PROGRAM"},
      {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {-46, "CL_INVALID_KERNEL_NAME"},
      {-47, "CL_INVALID_KERNEL_DEFINITION"},
      {-48, "CL_INVALID_KERNEL"},
      {-49, "CL_INVALID_ARG_INDEX"},
      {-50, "CL_INVALID_ARG_VALUE"},
      {-51, "CL_INVALID_ARG_SIZE"},
      {-52, "CL_INVALID_KERNEL_ARGS"},
      {-53, "CL_INVALID_WORK_DIMENSION"},
      {-54, "CL_INVALID_WORK_GROUP_SIZE"},
      {-55, "CL_INVALID_WORK_ITEM_SIZE"},
      {-56, "CL_INVALID_GLOBAL_OFFSET"},
      {-57, "CL_INVALID_EVENT_WAIT_LIST"},
      {-58, "CL_INVALID_EVENT"},
      {-59, "CL_INVALID_OPERATION"},
      {-61, "CL_INVALID_BUFFER_SIZE"},
      {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {-64, "CL_INVALID_PROPERTY"},
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
      {-9999, "illegal read or write in a kernel"},
  };
  const auto found = names.find(code);
  return found == names.end() ? fmt::format("OpenCL error {}", code) : fmt::format("{} ({})", found->second, code);
}

void check(cl_int code, const std::string& action) {
  if (code != CL_SUCCESS) throw DeviceError("cannot " + action + ": " + error_text(code));
}

}  // namespace wattune::opencl
