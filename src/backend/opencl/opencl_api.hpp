#pragma once
// The OpenCL functions used, found in the ICD loader at run time, and owners of OpenCL objects.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace wattune::opencl {

#define WATTUNE_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)               \
  X(clGetPlatformInfo)              \
  X(clGetDeviceIDs)                 \
  X(clGetDeviceInfo)                \
  X(clCreateContext)                \
  X(clReleaseContext)               \
  X(clCreateCommandQueue)           \
  X(clReleaseCommandQueue)          \
  X(clCreateBuffer)                 \
  X(clCreateSubBuffer)              \
  X(clReleaseMemObject)             \
  X(clCreateProgramWithSource)      \
  X(clCreateProgramWithBinary)      \
  X(clBuildProgram)                 \
  X(clGetProgramInfo)               \
  X(clGetProgramBuildInfo)          \
  X(clReleaseProgram)               \
  X(clCreateKernel)                 \
  X(clSetKernelArg)                 \
  X(clGetKernelInfo)                \
  X(clGetKernelWorkGroupInfo)       \
  X(clReleaseKernel)                \
  X(clEnqueueNDRangeKernel)         \
  X(clEnqueueReadBuffer)            \
  X(clEnqueueWriteBuffer)           \
  X(clEnqueueCopyBuffer)            \
  X(clEnqueueFillBuffer)            \
  X(clWaitForEvents)                \
  X(clGetEventInfo)                 \
  X(clGetEventProfilingInfo)        \
  X(clReleaseEvent)                 \
  X(clFlush)                        \
  X(clFinish)

/// The functions of one loader. Never unloaded: drivers keep threads and exit handlers.
struct Api {
#define WATTUNE_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  WATTUNE_OPENCL_FUNCTIONS(WATTUNE_OPENCL_MEMBER)
#undef WATTUNE_OPENCL_MEMBER

  /// @throws DeviceError that says what to install where the library cannot be opened.
  static std::shared_ptr<const Api> load(const std::string& library);
};

/// "CL_OUT_OF_RESOURCES (-5)".
std::string error_text(cl_int code);

/// @throws DeviceError "cannot ACTION: CL_... (-n)".
void check(cl_int code, const std::string& action);

/// Owns one reference to an OpenCL object.
template <typename Handle>
class Owner {
 public:
  using Release = cl_int(CL_API_CALL*)(Handle);

  Owner() = default;
  Owner(Handle handle, Release release) noexcept : handle_(handle), release_(release) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), release_(other.release_) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Owner() {
    if (handle_ != nullptr) release_(handle_);
  }
  [[nodiscard]] Handle get() const noexcept { return handle_; }
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
  Release release_ = nullptr;
};

using ContextOwner = Owner<cl_context>;
using QueueOwner = Owner<cl_command_queue>;
using MemoryOwner = Owner<cl_mem>;
using ProgramOwner = Owner<cl_program>;
using KernelOwner = Owner<cl_kernel>;
using EventOwner = Owner<cl_event>;

/// A string from a clGet...Info function: `query(size, value, size_out)`. Empty where it cannot be had.
template <typename Query>
std::string info_string(const Query& query) {
  std::size_t bytes = 0;
  if (query(std::size_t{0}, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (query(bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(text.find_last_not_of(std::string_view("\0 \n\t", 4)) + 1);
  return text;
}

}  // namespace wattune::opencl
