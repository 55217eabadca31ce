#include "backend/cuda/cuda_compiler.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "driver/toolkit.hpp"

namespace wattune {

CudaCompiler::CudaCompiler(CudaArchitecture device, int cuda_version, CudaCompilerChoice choice,
                           std::string nvrtc_library)
    : device_(std::move(device)),
      cuda_version_(cuda_version),
      choice_(choice),
      nvrtc_library_(std::move(nvrtc_library)) {}

NvrtcCompiler* CudaCompiler::nvrtc() {
  if (!looked_for_nvrtc_) {
    looked_for_nvrtc_ = true;
    try {
      nvrtc_ = std::make_unique<NvrtcCompiler>(find_nvrtc(nvrtc_library_, device_.number, cuda_version_), device_);
    } catch (const DeviceError& error) {
      why_no_nvrtc_ = error.what();
    }
  }
  return nvrtc_.get();
}

NvccCompiler* CudaCompiler::nvcc() {
  if (!looked_for_nvcc_) {
    looked_for_nvcc_ = true;
    if (auto path = find_nvcc(); !path.empty()) nvcc_ = std::make_unique<NvccCompiler>(std::move(path), device_);
  }
  return nvcc_.get();
}

void CudaCompiler::fail_without(const char* what) const {
  throw DeviceError(
      fmt::format("cannot compile CUDA kernels: {} was not found in {}; install the CUDA toolkit, or set "
                  "CUDA_HOME to it",
                  what, cuda_toolkit_places()));
}

std::string CudaCompiler::identity() {
  std::string identity = fmt::format("cuda sm_{}", device_.number);
  if (choice_ != CudaCompilerChoice::nvcc && nvrtc() != nullptr) identity += ", " + nvrtc()->version();
  if (choice_ != CudaCompilerChoice::nvrtc && nvcc() != nullptr) identity += ", " + nvcc()->version();
  return identity;
}

tl::expected<CompileResult, Failure> CudaCompiler::compile(const CompileRequest& request) {
  if (choice_ == CudaCompilerChoice::nvcc) {
    if (nvcc() == nullptr) fail_without("nvcc");
    return nvcc()->compile(request);
  }
  if (nvrtc() == nullptr) {
    if (choice_ == CudaCompilerChoice::nvrtc || nvcc() == nullptr) throw DeviceError(why_no_nvrtc_);
    return nvcc()->compile(request);
  }
  return choice_ == CudaCompilerChoice::nvrtc ? nvrtc()->compile(request) : compile_automatically(request);
}

tl::expected<CompileResult, Failure> CudaCompiler::compile_automatically(const CompileRequest& request) {
  Experience& experience = experience_[Hasher().add(request.source).hex()];
  if (experience.only_nvcc_worked) return nvcc()->compile(request);
  auto by_nvrtc = nvrtc()->compile(request);
  if (by_nvrtc) {
    experience.nvrtc_worked = true;
    return by_nvrtc;
  }
  // ptxas is the same program in both, so what it refuses nvcc refuses too. And where NVRTC can compile a source and
  // nvcc was no better at a variant that it could not, the variants are at fault.
  const std::string& log = by_nvrtc.error().message;
  const bool same_in_nvcc = by_nvrtc.error().outcome == Outcome::resources ||
                            log.find("ptxas error") != std::string::npos ||
                            (experience.nvrtc_worked && experience.nvcc_no_better);
  if (same_in_nvcc) return by_nvrtc;
  if (nvcc() == nullptr) {
    by_nvrtc.error().message += fmt::format(
        "\n(compiled with NVRTC, which takes device code only; nvcc, which takes whole programs, was not found in {})",
        cuda_toolkit_places());
    return by_nvrtc;
  }
  auto by_nvcc = nvcc()->compile(request);
  if (by_nvcc) {
    experience.only_nvcc_worked = !experience.nvrtc_worked;
    by_nvcc->log =
        fmt::format("wattune: compiled with nvcc, for NVRTC could not: {}\n{}", first_error(log), by_nvcc->log);
    return by_nvcc;
  }
  experience.nvcc_no_better = true;
  // nvcc sees the source as its author meant it, so its log is the one to read, unless it could not even start.
  const bool nvcc_says_why = by_nvcc.error().message.find("error") != std::string::npos;
  if (!nvcc_says_why) {
    by_nvrtc.error().message += fmt::format("\n(NVRTC's log; nvcc failed too: {})", by_nvcc.error().message);
    return by_nvrtc;
  }
  by_nvcc.error().message += fmt::format("\n(nvcc's log; NVRTC failed too: {})", first_error(log));
  return by_nvcc;
}

}  // namespace wattune
