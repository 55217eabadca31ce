#pragma once
// The devices of this machine.

#include <string>
#include <vector>

namespace wattune {

struct DeviceDescription {
  std::string id;    ///< by which it is named: "cuda:0", "opencl:1"
  std::string name;  ///< "NVIDIA H200"
  std::string kind;  ///< "gpu", "cpu" or "accelerator"
  std::string uuid;  ///< "GPU-..."; empty where there is none
  std::string pci;   ///< "0000:65:00.0"; empty where there is none
  bool simulated = false;
};

/// All devices found: CUDA's, then OpenCL's. Where a driver or loader is missing its devices are left out.
std::vector<DeviceDescription> devices();

}  // namespace wattune
