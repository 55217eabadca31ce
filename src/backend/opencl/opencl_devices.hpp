#pragma once
// Which OpenCL devices there are.

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/opencl/opencl_api.hpp"

namespace wattune::opencl {

struct FoundDevice {
  DeviceInfo info;
  cl_platform_id platform;
  cl_device_id id;
  std::string extensions;       ///< separated by spaces
  std::size_t alignment = 128;  ///< of sub-buffers, in bytes
  bool available = true;

  [[nodiscard]] bool has_extension(std::string_view name) const;
};

/// Devices of all platforms, in the loader's order. @throws DeviceError where there are none.
std::vector<FoundDevice> find_devices(const Api& api);

/// @throws DeviceError that lists the devices there are.
FoundDevice find_device(const Api& api, const std::string& id);

/// "GPU-" and the 16 bytes in groups, as NVML writes a UUID.
std::string nvidia_uuid(const unsigned char* bytes);

}  // namespace wattune::opencl
