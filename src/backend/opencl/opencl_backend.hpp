#pragma once
// OpenCL devices of every platform, through the ICD loader.

#include <memory>
#include <string>

#include "backend/backend.hpp"

namespace wattune {

/// Devices are numbered over all platforms in the loader's order: opencl:0, opencl:1, ...
/// @param loader the ICD loader's file; it is opened when a device is first asked for.
std::unique_ptr<Backend> make_opencl_backend(std::string loader = "libOpenCL.so.1");

}  // namespace wattune
