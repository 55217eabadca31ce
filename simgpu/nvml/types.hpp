#pragma once
// NVML's structures, beyond what src/driver declares. Layouts and values are those of its documented C interface.

#include <cstdint>

#include "driver/nvml.hpp"

namespace wattune::simgpu {

struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(NvmlPciInfo) == 68);

struct NvmlUtilization {
  unsigned gpu, memory;  ///< %
};

struct NvmlMemory {
  unsigned long long total, free, used;  ///< bytes
};

/// nvmlProcessInfo_t from the second form on.
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_memory;
  unsigned instance, compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);

/// nvmlProcessInfo_v1_t.
struct NvmlProcessOld {
  unsigned pid;
  unsigned long long used_memory;
};

static_assert(sizeof(NvmlFieldValue) == 40);

namespace field {
constexpr unsigned total_energy = 83;
constexpr unsigned power_cap_time = 74;
constexpr unsigned sync_boost_time = 76;
constexpr unsigned power_average = 185;
constexpr unsigned power_instant = 186;
constexpr unsigned software_thermal_time = 269;
constexpr unsigned hardware_thermal_time = 270;
constexpr unsigned power_brake_time = 271;
}  // namespace field

}  // namespace wattune::simgpu
