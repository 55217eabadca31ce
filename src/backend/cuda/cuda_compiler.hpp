#pragma once
// The two compilers behind one interface, and the choice between them.

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/compile_options.hpp"
#include "backend/cuda/cubin.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "driver/nvrtc.hpp"

namespace wattune {

/// Compiles with one NVRTC.
class NvrtcCompiler {
 public:
  NvrtcCompiler(std::shared_ptr<const Nvrtc> nvrtc, CudaArchitecture device);
  tl::expected<CompileResult, Failure> compile(const CompileRequest& request) const;
  /// "nvrtc 13.0"
  [[nodiscard]] std::string version() const { return nvrtc_->version(); }

 private:
  std::shared_ptr<const Nvrtc> nvrtc_;
  CudaArchitecture device_;
  std::vector<std::filesystem::path> include_folders_;
};

/// Compiles with nvcc, a program.
class NvccCompiler {
 public:
  NvccCompiler(std::filesystem::path nvcc, CudaArchitecture device);
  tl::expected<CompileResult, Failure> compile(const CompileRequest& request);
  /// "nvcc 13.0"
  const std::string& version();

 private:
  std::filesystem::path nvcc_;
  CudaArchitecture device_;
  std::string version_;
};

class CudaCompiler final : public Compiler {
 public:
  /// @param cuda_version of the driver, 13000 for 13.0; 0: not known.
  CudaCompiler(CudaArchitecture device, int cuda_version, CudaCompilerChoice choice, std::string nvrtc_library);
  std::string identity() override;
  tl::expected<CompileResult, Failure> compile(const CompileRequest& request) override;

 private:
  /// What has been learnt of a source (without its defines), so that its variants take the shortest way.
  struct Experience {
    bool nvrtc_worked = false;
    bool only_nvcc_worked = false;
    bool nvcc_no_better = false;  ///< both failed for some variant
  };

  NvrtcCompiler* nvrtc();
  NvccCompiler* nvcc();
  tl::expected<CompileResult, Failure> compile_automatically(const CompileRequest& request);
  [[noreturn]] void fail_without(const char* what) const;

  CudaArchitecture device_;
  int cuda_version_;
  CudaCompilerChoice choice_;
  std::string nvrtc_library_;
  bool looked_for_nvrtc_ = false;
  bool looked_for_nvcc_ = false;
  std::string why_no_nvrtc_;
  std::unique_ptr<NvrtcCompiler> nvrtc_;
  std::unique_ptr<NvccCompiler> nvcc_;
  std::map<std::string, Experience> experience_;  ///< by hash of the source
};

/// The numbers that ptxas prints about a kernel where -Xptxas -v is among the options: registers, spill_bytes,
/// stack_bytes, static_shared_bytes.
std::map<std::string, std::int64_t> ptxas_numbers(const std::string& log, const std::string& entry);

/// The failure of a compilation: resources where the kernel needs more than a block may have, else compile.
Failure compile_failure(const std::string& log);

/// The first line of a log that tells an error; empty where there is none.
std::string first_error(const std::string& log);

/// The request's defines as source lines.
std::string define_lines(const CompileRequest& request);

/// Quoted for use in a #line directive.
std::string quoted_for_line(const std::string& file);

}  // namespace wattune
