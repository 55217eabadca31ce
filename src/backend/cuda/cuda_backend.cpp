#include "backend/cuda/cuda_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>

#include "backend/cuda/cuda_compiler.hpp"
#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"
#include "driver/cuda_driver.hpp"

namespace wattune {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "GPU-8f3a...-...": the form that nvidia-smi and NVML use; "MIG-" for an instance of a divided board.
std::string uuid_text(const CudaUuid& uuid, bool mig) {
  std::string text = mig ? "MIG" : "GPU";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

/// The driver's version and the CUDA version it supports: "580.159.04, CUDA 13.0".
std::string driver_text(const CudaDriver& driver, bool simulated) {
  const int version = driver.version();
  const std::string cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  if (simulated) return "simulated, " + cuda;
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  return file >> release ? fmt::format("{}, {}", release, cuda) : cuda;
}

/// The CUDA version in a DeviceInfo::driver, as 13000; 0 where there is none.
int cuda_version_in(const std::string& text) {
  const std::size_t at = text.rfind("CUDA ");
  int major = 0;
  int minor = 0;
  if (at == std::string::npos || std::sscanf(text.c_str() + at, "CUDA %d.%d", &major, &minor) != 2) return 0;
  return major * 1000 + minor * 10;
}

CudaCompilerChoice choice_of(const CudaBackendOptions& options) {
  if (options.compiler) return *options.compiler;
  const std::string text = environment("WATTUNE_CUDA_COMPILER");
  if (text.empty()) return CudaCompilerChoice::automatic;
  if (const auto choice = cuda_compiler_choice(text)) return *choice;
  throw UsageError(fmt::format("WATTUNE_CUDA_COMPILER is '{}'; set it to auto, nvrtc or nvcc", text));
}

std::uint64_t attribute(const CudaDriver& driver, CudaDeviceHandle device, CudaDeviceAttribute which) {
  int value = 0;
  require(driver, driver.device_get_attribute(&value, which, device), "read the properties of a CUDA device");
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

DeviceInfo describe(const CudaDriver& driver, CudaDeviceHandle device, int ordinal, const Simulation* simulation) {
  using enum CudaDeviceAttribute;
  auto read = [&](CudaDeviceAttribute which) { return attribute(driver, device, which); };
  DeviceInfo info;
  info.id = fmt::format("cuda:{}", ordinal);
  if (simulation != nullptr) info.id = simulated_prefix + simulation->board_name(simulation->board_of(ordinal));
  info.simulated = simulation != nullptr;
  char text[256] = {};
  require(driver, driver.device_get_name(text, sizeof text - 1, device), "read the name of a CUDA device");
  info.name = text;
  info.backend = "cuda";
  info.kind = "gpu";
  info.platform = "CUDA";
  info.driver = driver_text(driver, info.simulated);
  CudaUuid uuid{};
  if (driver.device_get_uuid(&uuid, device) == CudaResult::success) {
    info.uuid = uuid_text(uuid, info.name.find(" MIG ") != std::string::npos);
  }
  char bus[32] = {};
  if (driver.device_get_pci_bus_id(bus, sizeof bus, device) == CudaResult::success) info.pci = lower(bus);
  info.architecture = fmt::format("sm_{}{}", read(compute_capability_major), read(compute_capability_minor));
  std::size_t memory = 0;
  require(driver, driver.device_total_memory(&memory, device), "read the memory size of a CUDA device");
  info.global_memory = memory;
  info.max_allocation = memory;
  info.local_memory = std::max(read(max_shared_memory_per_block_optin), read(max_shared_memory_per_block));
  info.max_work_group = read(max_threads_per_block);
  info.max_block = {read(max_block_dim_x), read(max_block_dim_y), read(max_block_dim_z)};
  info.max_grid = {read(max_grid_dim_x), read(max_grid_dim_y), read(max_grid_dim_z)};
  info.compute_units = static_cast<unsigned>(read(multiprocessor_count));
  return info;
}

/// Whether an id that a user gave means a device. PCI ids may lack the domain, UUIDs may be shortened.
bool means(const std::string& id, const DeviceInfo& device) {
  const std::string wanted = lower(id);
  if (wanted == device.id) return true;
  if (wanted.starts_with("pci:")) {
    const std::string bus = wanted.substr(4);
    return !device.pci.empty() &&
           (bus == device.pci || (std::count(bus.begin(), bus.end(), ':') == 1 && device.pci.ends_with(":" + bus)));
  }
  const bool is_uuid = wanted.starts_with("gpu-") || wanted.starts_with("mig-");
  return is_uuid && wanted.size() > 4 && lower(device.uuid).starts_with(wanted);
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(CudaBackendOptions options) : options_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "cuda"; }
  [[nodiscard]] std::string language() const override { return "CUDA"; }
  std::vector<DeviceInfo> devices() override;
  std::unique_ptr<Device> open(const std::string& id) override;
  std::unique_ptr<Compiler> compiler(const std::string& id) override {
    return make_cuda_compiler(find(id).info, options_);
  }

 private:
  struct Found {
    DeviceInfo info;
    int ordinal;
  };
  /// Loads and initialises the driver once.
  const CudaDriver& driver();
  Found find(const std::string& id);

  CudaBackendOptions options_;
  std::shared_ptr<const CudaDriver> driver_;
  std::shared_ptr<const Simulation> simulation_;  ///< null where the driver is a real one
};

const CudaDriver& CudaBackend::driver() {
  if (driver_) return *driver_;
  auto driver = load_cuda_driver(options_.driver_library);
  simulation_ = Simulation::of(driver->library);
  const CudaResult result = driver->init(0);
  const std::string file = driver->library.path();
  if (result == CudaResult::no_device) {
    throw DeviceError(
        fmt::format("no CUDA device: the driver ('{}') is there but finds no GPU: {}; check nvidia-smi, the "
                    "permissions of /dev/nvidia*, and CUDA_VISIBLE_DEVICES ({})",
                    file, driver->describe(result),
                    environment("CUDA_VISIBLE_DEVICES").empty() ? "not set" : environment("CUDA_VISIBLE_DEVICES")));
  }
  if (result == CudaResult::stub_library) {
    throw DeviceError(
        fmt::format("no CUDA device: '{}' is the toolkit's stub, not a driver; take its folder out of "
                    "LD_LIBRARY_PATH and install NVIDIA's driver",
                    file));
  }
  if (result != CudaResult::success) {
    throw DeviceError(fmt::format("cannot initialise the CUDA driver ('{}'): {}; see what nvidia-smi says", file,
                                  driver->describe(result)));
  }
  driver_ = std::move(driver);
  return *driver_;
}

std::vector<DeviceInfo> CudaBackend::devices() {
  const CudaDriver& table = driver();
  int count = 0;
  require(table, table.device_get_count(&count), "count the CUDA devices");
  std::vector<DeviceInfo> result;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CudaDeviceHandle device = 0;
    require(table, table.device_get(&device, ordinal), fmt::format("get CUDA device {}", ordinal));
    result.push_back(describe(table, device, ordinal, simulation_.get()));
  }
  if (result.empty()) {
    throw DeviceError(
        fmt::format("no CUDA device: the driver ('{}') lists none; check nvidia-smi and CUDA_VISIBLE_DEVICES",
                    table.library.path()));
  }
  return result;
}

CudaBackend::Found CudaBackend::find(const std::string& id) {
  const auto all = devices();
  std::vector<Found> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (means(id, all[i])) found.push_back({all[i], static_cast<int>(i)});
  }
  if (found.size() == 1) return found.front();
  std::string list;
  for (const auto& device : all) {
    list +=
        fmt::format("{}{} ({}, {}, pci:{})", list.empty() ? "" : "; ", device.id, device.name, device.uuid, device.pci);
  }
  throw DeviceError(fmt::format("{} {} device '{}'; there {}: {}", found.empty() ? "no" : "more than one",
                                simulation_ ? "simulated" : "CUDA", id, all.size() == 1 ? "is" : "are", list));
}

std::unique_ptr<Device> CudaBackend::open(const std::string& id) {
  Found found = find(id);
  CudaDeviceHandle device = 0;
  require(*driver_, driver_->device_get(&device, found.ordinal), fmt::format("get {}", found.info.id));
  return std::make_unique<CudaDevice>(driver_, device, std::move(found.info), simulation_);
}

}  // namespace

std::optional<CudaCompilerChoice> cuda_compiler_choice(std::string_view text) {
  if (text == "auto") return CudaCompilerChoice::automatic;
  if (text == "nvrtc") return CudaCompilerChoice::nvrtc;
  if (text == "nvcc") return CudaCompilerChoice::nvcc;
  return std::nullopt;
}

std::unique_ptr<Backend> make_cuda_backend(CudaBackendOptions options) {
  return std::make_unique<CudaBackend>(std::move(options));
}

std::unique_ptr<Backend> make_simulated_backend() {
  CudaBackendOptions options;
  options.driver_library = simulation_library();
  const std::string compiler = environment("WATTUNE_SIM_NVRTC");
  if (compiler.empty()) {
    options.nvrtc_library = options.driver_library;
    options.compiler = CudaCompilerChoice::nvrtc;
  } else if (compiler != "real") {
    throw UsageError(fmt::format("WATTUNE_SIM_NVRTC is '{}'; set it to real, or not at all", compiler));
  }
  return make_cuda_backend(std::move(options));
}

std::unique_ptr<Compiler> make_cuda_compiler(const DeviceInfo& device, const CudaBackendOptions& options) {
  return std::make_unique<CudaCompiler>(cuda_architecture(device.architecture), cuda_version_in(device.driver),
                                        choice_of(options), options.nvrtc_library);
}

}  // namespace wattune
