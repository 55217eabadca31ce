#include <fmt/format.h>

#include "backend/cuda/cuda_compiler.hpp"
#include "backend/cuda/nvrtc_headers.hpp"
#include "base/clock.hpp"
#include "driver/toolkit.hpp"

namespace wattune {

namespace {

/// An NVRTC program, destroyed with its owner.
class NvrtcProgramOwner {
 public:
  NvrtcProgramOwner(const Nvrtc& nvrtc, const std::string& source, const std::string& name) : nvrtc_(nvrtc) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const auto& header : nvrtc_headers()) {
      texts.push_back(header.text);
      names.push_back(header.name);
    }
    status_ = nvrtc.create_program(&program_, source.c_str(), name.c_str(), static_cast<int>(names.size()),
                                   texts.data(), names.data());
  }
  ~NvrtcProgramOwner() {
    if (program_ != nullptr) nvrtc_.destroy_program(&program_);
  }
  NvrtcProgramOwner(const NvrtcProgramOwner&) = delete;
  NvrtcProgramOwner& operator=(const NvrtcProgramOwner&) = delete;

  [[nodiscard]] NvrtcResult status() const noexcept { return status_; }
  [[nodiscard]] NvrtcProgram get() const noexcept { return program_; }

  [[nodiscard]] std::string log() const {
    std::size_t bytes = 0;
    if (nvrtc_.get_program_log_size(program_, &bytes) != NvrtcResult::success || bytes == 0) return {};
    std::string text(bytes, '\0');
    if (nvrtc_.get_program_log(program_, text.data()) != NvrtcResult::success) return {};
    text.resize(text.find('\0') == std::string::npos ? bytes : text.find('\0'));
    return text;
  }

 private:
  const Nvrtc& nvrtc_;
  NvrtcProgram program_ = nullptr;
  NvrtcResult status_;
};

Failure nvrtc_failure(const Nvrtc& nvrtc, NvrtcResult result, const std::string& log) {
  if (!log.empty()) return compile_failure(log);
  return {Outcome::compile, fmt::format("{}: {}", nvrtc.version(), nvrtc.get_error_string(result))};
}

}  // namespace

NvrtcCompiler::NvrtcCompiler(std::shared_ptr<const Nvrtc> nvrtc, CudaArchitecture device)
    : nvrtc_(std::move(nvrtc)),
      device_(std::move(device)),
      include_folders_(cuda_include_folders(nvrtc_->library.path())) {}

tl::expected<CompileResult, Failure> NvrtcCompiler::compile(const CompileRequest& request) const {
  const double started = monotonic_seconds();
  const auto arguments = nvrtc_arguments(request.options, device_);
  std::vector<std::string> options{"--gpu-architecture=" + arguments.architecture.sm()};
  options.insert(options.end(), arguments.arguments.begin(), arguments.arguments.end());
  // NVRTC does not look beside the source for what it includes.
  const auto own_folder = std::filesystem::path(request.file).parent_path();
  if (!own_folder.empty()) options.push_back("-I" + own_folder.string());
  for (const auto& folder : request.include_paths) options.push_back("-I" + folder);
  for (const auto& folder : include_folders_) options.push_back("-I" + folder.string());

  const std::string source =
      fmt::format("{}#line 1 {}\n{}\n", define_lines(request), quoted_for_line(request.file), request.source);
  const NvrtcProgramOwner program(*nvrtc_, source, request.file.empty() ? "kernel.cu" : request.file);
  if (program.status() != NvrtcResult::success) return tl::unexpected(nvrtc_failure(*nvrtc_, program.status(), {}));
  // The expression also keeps templates, which nothing else instantiates, in the binary.
  nvrtc_->add_name_expression(program.get(), request.kernel_name.c_str());

  std::vector<const char*> pointers;
  for (const auto& option : options) pointers.push_back(option.c_str());
  const NvrtcResult compiled =
      nvrtc_->compile_program(program.get(), static_cast<int>(pointers.size()), pointers.data());
  CompileResult result;
  result.log = program.log();
  for (const auto& note : arguments.notes) result.log += fmt::format("wattune: {}\n", note);
  if (compiled != NvrtcResult::success) return tl::unexpected(nvrtc_failure(*nvrtc_, compiled, result.log));

  std::size_t bytes = 0;
  NvrtcResult status = nvrtc_->get_cubin_size(program.get(), &bytes);
  result.binary.resize(bytes);
  if (status == NvrtcResult::success) {
    status = nvrtc_->get_cubin(program.get(), reinterpret_cast<char*>(result.binary.data()));
  }
  if (status != NvrtcResult::success) return tl::unexpected(nvrtc_failure(*nvrtc_, status, {}));

  const auto symbols = read_cubin(result.binary);
  if (!symbols) {
    return tl::unexpected(Failure{Outcome::compile, "NVRTC's binary cannot be read: " + symbols.error()});
  }
  const char* lowered = nullptr;
  if (nvrtc_->get_lowered_name(program.get(), request.kernel_name.c_str(), &lowered) == NvrtcResult::success &&
      lowered) {
    result.entry = lowered;
  } else if (auto found = find_kernel(*symbols, request.kernel_name)) {
    result.entry = std::move(*found);
  } else {
    return tl::unexpected(Failure{Outcome::compile, found.error()});
  }
  result.symbols = variable_names(*symbols);
  result.resources = ptxas_numbers(result.log, result.entry);
  result.compiler = nvrtc_->version();
  result.seconds = monotonic_seconds() - started;
  return result;
}

}  // namespace wattune
