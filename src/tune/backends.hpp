#pragma once
// The backends of this build. Called in worker and compile processes only: the coordinator never opens a device.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace wattune {

/// "cuda", "opencl": in the order in which a device is preferred. Simulated GPUs ("sim") are used only where they are
/// asked for.
std::vector<std::string> backend_names();
std::unique_ptr<Backend> make_backend(const std::string& name);

/// The language of a backend's kernels: "CUDA", "OpenCL".
std::string language_of_backend(const std::string& backend);

/// The backend of a device as the user names it: "opencl:0", "cuda:1", "GPU-<uuid>", "pci:<id>", "sim:h200".
/// @throws UsageError that says how devices are named.
std::string backend_of_device(const std::string& device);

}  // namespace wattune
