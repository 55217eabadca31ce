#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "backend/cuda/cuda_compiler.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

extern char** environ;

namespace wattune {

namespace fs = std::filesystem;

namespace {

/// A folder of its own for one compilation, removed with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    const fs::path parent = fs::temp_directory_path(failed);
    std::string path = ((failed ? fs::path("/tmp") : parent) / "wattune-nvcc-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      throw RunError(fmt::format("cannot make a temporary folder '{}': {}; set TMPDIR to a folder with room", path,
                                 system_error_text(errno)));
    }
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

struct ProgramOutput {
  int status = 0;    ///< as waitpid gives it
  std::string text;  ///< stdout and stderr
};

/// Runs a program and waits. It stays in this process's group, so that whoever stops this compilation stops it too.
ProgramOutput run_program(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& output) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // Above all the channel to whoever waits for this process: its end must show when this process ends, not when nvcc
  // does.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw DeviceError(fmt::format("cannot start nvcc '{}': {}; check that it can be run", program.string(),
                                  system_error_text(error)));
  }
  ProgramOutput result;
  while (::waitpid(pid, &result.status, 0) < 0 && errno == EINTR) {
  }
  result.text = read_file(output, "nvcc's output");
  return result;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw RunError(fmt::format("cannot write '{}': the disk is full or not writable; set TMPDIR", path.string()));
}

bool is_template(const std::string& kernel_name) {
  return kernel_name.find('<') != std::string::npos;
}

/// Our own folder's name means nothing to the reader of a log.
std::string readable(std::string log, const fs::path& folder) {
  const std::string prefix = folder.string() + "/";
  for (std::size_t at; (at = log.find(prefix)) != std::string::npos;) log.erase(at, prefix.size());
  return log;
}

}  // namespace

NvccCompiler::NvccCompiler(fs::path nvcc, CudaArchitecture device)
    : nvcc_(std::move(nvcc)), device_(std::move(device)) {}

const std::string& NvccCompiler::version() {
  if (!version_.empty()) return version_;
  const TemporaryFolder folder;
  const auto output = run_program(nvcc_, {"--version"}, folder.path() / "log");
  std::smatch match;
  static const std::regex release("release ([0-9]+\\.[0-9]+)");
  version_ = std::regex_search(output.text, match, release) ? fmt::format("nvcc {}", match[1].str()) : "nvcc";
  return version_;
}

tl::expected<CompileResult, Failure> NvccCompiler::compile(const CompileRequest& request) {
  const double started = monotonic_seconds();
  CompileResult result;
  result.compiler = version();
  const TemporaryFolder folder;
  const fs::path source = folder.path() / "kernel.cu";
  const fs::path binary = folder.path() / "kernel.cubin";
  write_file(source, fmt::format("{}#line 1 {}\n{}\n{}", define_lines(request),
                                 quoted_for_line(request.file.empty() ? "kernel.cu" : request.file), request.source,
                                 is_template(request.kernel_name) ? instantiation(request.kernel_name) : ""));

  const auto options = nvcc_arguments(request.options, device_);
  std::vector<std::string> arguments{
      "-cubin", fmt::format("-gencode=arch={},code={}", options.architecture.compute(), options.architecture.sm()),
      "-o", binary.string()};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  const fs::path own_folder = fs::path(request.file).parent_path();
  if (!own_folder.empty()) arguments.push_back("-I" + own_folder.string());
  for (const auto& path : request.include_paths) arguments.push_back("-I" + path);
  arguments.push_back(source.string());

  const auto output = run_program(nvcc_, arguments, folder.path() / "log");
  result.log = readable(output.text, folder.path());
  for (const auto& note : options.notes) result.log += fmt::format("wattune: {}\n", note);
  if (output.status != 0) {
    if (result.log.empty()) {
      result.log = WIFSIGNALED(output.status) ? fmt::format("nvcc was killed by signal {}", WTERMSIG(output.status))
                                              : "nvcc failed without a word";
    }
    return tl::unexpected(compile_failure(result.log));
  }
  const std::string bytes = read_file(binary, "nvcc's binary");
  result.binary.assign(bytes.begin(), bytes.end());

  const auto symbols = read_cubin(result.binary);
  if (!symbols) {
    return tl::unexpected(Failure{Outcome::compile, "nvcc's binary cannot be read: " + symbols.error()});
  }
  auto entry = is_template(request.kernel_name) ? find_instantiated_kernel(*symbols, request.kernel_name)
                                                : find_kernel(*symbols, request.kernel_name);
  if (!entry) return tl::unexpected(Failure{Outcome::compile, entry.error()});
  result.entry = std::move(*entry);
  result.symbols = variable_names(*symbols);
  result.resources = ptxas_numbers(result.log, result.entry);
  result.seconds = monotonic_seconds() - started;
  return result;
}

}  // namespace wattune
