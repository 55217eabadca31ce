#pragma once
// Compiles OpenCL C for one device with its driver's compiler.

#include <memory>

#include "backend/opencl/opencl_devices.hpp"

namespace wattune::opencl {

std::unique_ptr<Compiler> make_compiler(std::shared_ptr<const Api> api, FoundDevice device);

/// Builds a program for its device. The log is trimmed; the code is clBuildProgram's.
cl_int build(const Api& api, cl_program program, cl_device_id device, const std::string& options, std::string& log);

/// Registers and spills of a kernel as NVIDIA's compiler writes them into its verbose log.
void resources_from_log(const std::string& log, const std::string& kernel,
                        std::map<std::string, std::int64_t>& resources);

}  // namespace wattune::opencl
