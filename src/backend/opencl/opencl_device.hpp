#pragma once
// An opened OpenCL device: memory, kernels, launches and their timing.

#include <memory>

#include "backend/opencl/opencl_devices.hpp"

namespace wattune::opencl {

std::unique_ptr<Device> make_device(std::shared_ptr<const Api> api, FoundDevice device);

/// What an error means for a configuration. While a command is queued a driver can still say that it does not fit;
/// once it has begun, an error means that the kernel did something illegal and that the context is lost.
enum class Stage { enqueue, execution };
Outcome outcome_of(cl_int code, Stage stage);

}  // namespace wattune::opencl
