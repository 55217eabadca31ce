#include "tune/backends.hpp"

#include <fmt/format.h>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/opencl/opencl_backend.hpp"
#include "base/error.hpp"

namespace wattune {

std::vector<std::string> backend_names() {
  return {"cuda", "opencl"};
}

std::unique_ptr<Backend> make_backend(const std::string& name) {
  if (name == "cuda") return make_cuda_backend();
  if (name == "sim") return make_simulated_backend();
  if (name == "opencl") return make_opencl_backend();
  throw UsageError(fmt::format("there is no backend '{}'", name));
}

std::string language_of_backend(const std::string& backend) {
  return backend == "opencl" ? "OpenCL" : "CUDA";
}

std::string backend_of_device(const std::string& device) {
  if (device.starts_with("opencl:")) return "opencl";
  if (device.starts_with("sim:")) return "sim";
  if (device.starts_with("cuda:") || device.starts_with("GPU-") || device.starts_with("pci:")) return "cuda";
  throw UsageError(fmt::format(
      "--device: '{}' is no device; name one as 'wattune devices' does: opencl:0, cuda:0, GPU-<uuid>, pci:<bus id>, "
      "or sim:<name> for a simulated GPU ('wattune devices --device sim:all' lists them)",
      device));
}

}  // namespace wattune
