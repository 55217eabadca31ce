#include "backend/opencl/opencl_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace wattune::opencl {

namespace {

// From extension headers that not every installation has (cl_khr_device_uuid, cl_khr_pci_bus_info,
// cl_nv_device_attribute_query).
constexpr cl_device_info device_uuid_khr = 0x106A;
constexpr cl_device_info device_pci_bus_info_khr = 0x410F;
constexpr cl_device_info device_pci_bus_id_nv = 0x4008;
constexpr cl_device_info device_pci_slot_id_nv = 0x4009;
constexpr cl_device_info device_pci_domain_id_nv = 0x400A;
constexpr cl_uint nvidia_vendor = 0x10DE;

constexpr const char* how_to_install =
    "install the GPU vendor's OpenCL driver, or pocl-opencl-icd for the CPU, and check with clinfo";

template <typename T>
std::optional<T> number(const Api& api, cl_device_id device, cl_device_info what) {
  T value{};
  if (api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) return std::nullopt;
  return value;
}

std::string text(const Api& api, cl_device_id device, cl_device_info what) {
  return info_string([&](auto... a) { return api.clGetDeviceInfo(device, what, a...); });
}

std::string kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return "cpu";
  return "accelerator";
}

std::string pci_of(const Api& api, const FoundDevice& device) {
  if (device.has_extension("cl_khr_pci_bus_info")) {
    const auto bus = number<std::array<cl_uint, 4>>(api, device.id, device_pci_bus_info_khr);
    if (bus) return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", (*bus)[0], (*bus)[1], (*bus)[2], (*bus)[3]);
  }
  const auto bus = number<cl_uint>(api, device.id, device_pci_bus_id_nv);
  const auto slot = number<cl_uint>(api, device.id, device_pci_slot_id_nv);
  if (!bus || !slot) return {};
  const cl_uint domain = number<cl_uint>(api, device.id, device_pci_domain_id_nv).value_or(0);
  // The slot holds device and function as PCI's own devfn byte does.
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, *bus & 0xFF, *slot >> 3, *slot & 7);
}

void describe_identity(const Api& api, FoundDevice& device) {
  if (number<cl_uint>(api, device.id, CL_DEVICE_VENDOR_ID) != nvidia_vendor) {
    if (device.has_extension("cl_khr_pci_bus_info")) device.info.pci = pci_of(api, device);
    return;
  }
  if (device.has_extension("cl_khr_device_uuid")) {
    const auto uuid = number<std::array<unsigned char, 16>>(api, device.id, device_uuid_khr);
    if (uuid) device.info.uuid = nvidia_uuid(uuid->data());
  }
  device.info.pci = pci_of(api, device);
}

FoundDevice describe(const Api& api, cl_platform_id platform, cl_device_id id) {
  FoundDevice found{};
  found.platform = platform;
  found.id = id;
  found.extensions = text(api, id, CL_DEVICE_EXTENSIONS);
  found.available = number<cl_bool>(api, id, CL_DEVICE_AVAILABLE).value_or(CL_TRUE) == CL_TRUE;
  found.alignment =
      std::max<std::size_t>(number<cl_uint>(api, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN).value_or(1024) / 8, 1);
  DeviceInfo& info = found.info;
  info.name = text(api, id, CL_DEVICE_NAME);
  info.backend = "opencl";
  info.kind = kind_of(number<cl_device_type>(api, id, CL_DEVICE_TYPE).value_or(CL_DEVICE_TYPE_DEFAULT));
  info.platform = info_string([&](auto... a) { return api.clGetPlatformInfo(platform, CL_PLATFORM_NAME, a...); });
  info.driver = text(api, id, CL_DRIVER_VERSION);
  info.global_memory = number<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_SIZE).value_or(0);
  info.local_memory = number<cl_ulong>(api, id, CL_DEVICE_LOCAL_MEM_SIZE).value_or(0);
  info.max_work_group = number<std::size_t>(api, id, CL_DEVICE_MAX_WORK_GROUP_SIZE).value_or(0);
  const auto sizes = number<std::array<std::size_t, 3>>(api, id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  if (sizes) std::copy(sizes->begin(), sizes->end(), info.max_block.begin());
  info.max_allocation = number<cl_ulong>(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE).value_or(0);
  info.compute_units = number<cl_uint>(api, id, CL_DEVICE_MAX_COMPUTE_UNITS).value_or(0);
  describe_identity(api, found);
  return found;
}

}  // namespace

bool FoundDevice::has_extension(std::string_view name) const {
  return fmt::format(" {} ", extensions).find(fmt::format(" {} ", name)) != std::string::npos;
}

std::string nvidia_uuid(const unsigned char* bytes) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::vector<FoundDevice> find_devices(const Api& api) {
  cl_uint platform_count = 0;
  const cl_int code = api.clGetPlatformIDs(0, nullptr, &platform_count);
  if (code != CL_SUCCESS || platform_count == 0) {
    throw DeviceError(fmt::format("no OpenCL platform found{}; {}",
                                  code == CL_SUCCESS ? "" : " (" + error_text(code) + ")", how_to_install));
  }
  std::vector<cl_platform_id> platforms(platform_count);
  check(api.clGetPlatformIDs(platform_count, platforms.data(), nullptr), "list OpenCL platforms");
  std::vector<FoundDevice> found;
  for (cl_platform_id platform : platforms) {
    // A platform whose hardware is absent says CL_DEVICE_NOT_FOUND, and must not hide the others.
    cl_uint count = 0;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> ids(count);
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS) continue;
    for (cl_device_id id : ids) {
      found.push_back(describe(api, platform, id));
      found.back().info.id = fmt::format("opencl:{}", found.size() - 1);
    }
  }
  if (found.empty()) {
    throw DeviceError(fmt::format("no OpenCL device found on {} platform(s); {}", platform_count, how_to_install));
  }
  return found;
}

FoundDevice find_device(const Api& api, const std::string& id) {
  std::vector<FoundDevice> devices = find_devices(api);
  for (FoundDevice& device : devices) {
    if (device.info.id != id) continue;
    if (!device.available) {
      throw DeviceError(
          fmt::format("cannot open OpenCL device {} ({}): its driver reports it as not available; check "
                      "that no other program holds it exclusively",
                      id, device.info.name));
    }
    return device;
  }
  std::string list;
  for (const FoundDevice& device : devices) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", device.info.id, device.info.name);
  }
  throw DeviceError(fmt::format("no OpenCL device {}; there are: {}", id, list));
}

}  // namespace wattune::opencl
