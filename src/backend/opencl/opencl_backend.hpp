#pragma once
// OpenCL devices of every platform, through the ICD loader.

#include <memory>

#include "backend/backend.hpp"

namespace wattune {

/// Devices are numbered over all platforms in the loader's order: opencl:0, opencl:1, ...
std::unique_ptr<Backend> make_opencl_backend();

}  // namespace wattune
