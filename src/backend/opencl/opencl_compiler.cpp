#include "backend/opencl/opencl_compiler.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "backend/opencl/opencl_binary.hpp"
#include "backend/opencl/opencl_options.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"

namespace wattune::opencl {

namespace {

/// Gives folders whose paths hold white space names without, by links in a folder of its own: OpenCL has no way to
/// quote an option that all drivers understand.
class PlainPaths {
 public:
  PlainPaths() = default;
  PlainPaths(const PlainPaths&) = delete;
  PlainPaths& operator=(const PlainPaths&) = delete;
  ~PlainPaths() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  std::string plain(const std::filesystem::path& path) {
    if (path.string().find_first_of(" \t\"'") == std::string::npos) return path.string();
    if (folder_.empty()) make_folder();
    const std::filesystem::path link = folder_ / std::to_string(count_++);
    std::filesystem::create_directory_symlink(path, link);
    return link.string();
  }

 private:
  void make_folder() {
    for (const std::filesystem::path& base : {std::filesystem::temp_directory_path(), std::filesystem::path("/tmp")}) {
      std::string name = (base / "wattune-include-XXXXXX").string();
      if (name.find_first_of(" \t\"'") != std::string::npos) continue;
      if (::mkdtemp(name.data()) == nullptr) continue;
      folder_ = name;
      return;
    }
    throw RunError(
        "cannot compile with an include path that holds spaces: no folder could be made in TMPDIR or /tmp (" +
        system_error_text(errno) + ")");
  }

  std::filesystem::path folder_;
  int count_ = 0;
};

/// The number that stands before a text.
std::optional<std::int64_t> number_before(std::string_view text, std::string_view unit) {
  const std::size_t end = text.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.find_last_not_of("0123456789", end == 0 ? 0 : end - 1) + 1;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
  if (error != std::errc() || stop != text.data() + end) return std::nullopt;
  return value;
}

class OpenClCompiler final : public Compiler {
 public:
  OpenClCompiler(std::shared_ptr<const Api> api, FoundDevice device)
      : api_(std::move(api)), device_(std::move(device)) {
    cl_int code = CL_SUCCESS;
    context_ = {api_->clCreateContext(nullptr, 1, &device_.id, nullptr, nullptr, &code), api_->clReleaseContext};
    check(code, "make an OpenCL context on " + device_.info.id + " for compiling");
  }

  std::string identity() override {
    const DeviceInfo& info = device_.info;
    return "opencl, " + info.platform + ", " + info.name + ", driver " + info.driver;
  }

  tl::expected<CompileResult, Failure> compile(const CompileRequest& request) override {
    const double start = monotonic_seconds();
    const BuildOptions options = build_options(request);
    const std::string source = full_source(request, options);
    const char* text = source.c_str();
    const std::size_t length = source.size();
    cl_int code = CL_SUCCESS;
    const ProgramOwner program(api_->clCreateProgramWithSource(context_.get(), 1, &text, &length, &code),
                               api_->clReleaseProgram);
    check(code, "hand the source of " + request.file + " to the OpenCL compiler");

    PlainPaths paths;
    const std::string flags = flags_of(options, paths);
    std::string log;
    for (const std::string& note : options.notes) log += note + "\n";
    std::string build_log;
    code = build(*api_, program.get(), device_.id, flags, build_log);
    log += build_log;
    if (code != CL_SUCCESS) return failed(code, flags, log);

    CompileResult result;
    if (auto failure = look_up_kernel(program.get(), request, log)) return tl::unexpected(*failure);
    result.binary = pack({load_options(options), binary_of(program.get())});
    result.entry = request.kernel_name;
    result.log = log;
    result.compiler = fmt::format("{} {}", device_.info.platform, device_.info.driver);
    resources_from_log(log, request.kernel_name, result.resources);
    result.seconds = monotonic_seconds() - start;
    return result;
  }

 private:
  std::string flags_of(const BuildOptions& options, PlainPaths& paths) const {
    std::string flags;
    for (const std::string& option : options.options) flags += option + " ";
    for (const std::filesystem::path& path : options.include_paths) flags += "-I" + paths.plain(path) + " ";
    if (device_.has_extension("cl_nv_compiler_options")) flags += "-cl-nv-verbose ";
    if (!flags.empty()) flags.pop_back();
    return flags;
  }

  static std::string load_options(const BuildOptions& options) {
    std::string flags;
    for (const std::string& option : options.options) {
      if (option.starts_with("-cl-nv-")) flags += (flags.empty() ? "" : " ") + option;
    }
    return flags;
  }

  tl::expected<CompileResult, Failure> failed(cl_int code, const std::string& flags, const std::string& log) const {
    if (code == CL_COMPILER_NOT_AVAILABLE) {
      throw DeviceError(
          fmt::format("cannot compile for {} ({}): its driver has no compiler; install the full OpenCL "
                      "driver of platform {}",
                      device_.info.id, device_.info.name, device_.info.platform));
    }
    std::string message = log;
    if (code == CL_INVALID_BUILD_OPTIONS) {
      message = fmt::format("the OpenCL compiler refuses the options {}{}{}", flags, log.empty() ? "" : "\n", log);
    } else if (message.empty()) {
      message = "the OpenCL compiler failed without a log: " + error_text(code);
    }
    return tl::unexpected(Failure{Outcome::compile, message});
  }

  /// Checks that the kernel exists.
  std::optional<Failure> look_up_kernel(cl_program program, const CompileRequest& request,
                                        const std::string& log) const {
    cl_int code = CL_SUCCESS;
    const KernelOwner kernel(api_->clCreateKernel(program, request.kernel_name.c_str(), &code), api_->clReleaseKernel);
    if (code == CL_SUCCESS) return std::nullopt;
    const std::string names =
        info_string([&](auto... a) { return api_->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, a...); });
    if (code == CL_INVALID_KERNEL_NAME) {
      return Failure{Outcome::compile, fmt::format("{} has no kernel {}; it has: {}", request.file, request.kernel_name,
                                                   names.empty() ? "none" : names)};
    }
    return Failure{Outcome::compile,
                   fmt::format("kernel {} cannot be made: {}\n{}", request.kernel_name, error_text(code), log)};
  }

  std::vector<std::uint8_t> binary_of(cl_program program) const {
    std::size_t size = 0;
    check(api_->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
          "get the size of a compiled OpenCL program");
    std::vector<std::uint8_t> binary(size);
    unsigned char* data = binary.data();
    check(api_->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr),
          "get a compiled OpenCL program");
    return binary;
  }

  std::shared_ptr<const Api> api_;
  FoundDevice device_;
  ContextOwner context_;
};

}  // namespace

cl_int build(const Api& api, cl_program program, cl_device_id device, const std::string& options, std::string& log) {
  const cl_int code = api.clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
  log = info_string([&](auto... a) { return api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, a...); });
  return code;
}

void resources_from_log(const std::string& log, const std::string& kernel,
                        std::map<std::string, std::int64_t>& resources) {
  // A file may hold several kernels; each has a section of its own.
  std::size_t begin = log.find(fmt::format("entry function '{}'", kernel));
  if (begin == std::string::npos) return;
  begin += 1;
  const std::string_view section = std::string_view(log).substr(begin, log.find("entry function '", begin) - begin);
  if (const auto count = number_before(section, " registers")) resources["registers"] = *count;
  if (const auto count = number_before(section, " bytes spill stores")) resources["spill_bytes"] = *count;
}

std::unique_ptr<Compiler> make_compiler(std::shared_ptr<const Api> api, FoundDevice device) {
  return std::make_unique<OpenClCompiler>(std::move(api), std::move(device));
}

}  // namespace wattune::opencl
