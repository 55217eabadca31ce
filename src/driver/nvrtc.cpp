#include "driver/nvrtc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/error.hpp"
#include "driver/toolkit.hpp"

namespace wattune {

namespace fs = std::filesystem;

namespace {

constexpr const char* advice =
    "install the CUDA toolkit (or its NVRTC package), set CUDA_HOME to it, or name the library in WATTUNE_NVRTC";

/// The names under which NVRTC is installed, newest first.
constexpr const char* loader_names[] = {"libnvrtc.so", "libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "libnvrtc.so.11.2"};

void read_abilities(Nvrtc& nvrtc) {
  int count = 0;
  if (nvrtc.get_version(&nvrtc.major, &nvrtc.minor) != NvrtcResult::success ||
      nvrtc.get_architecture_count(&count) != NvrtcResult::success || count < 0) {
    throw DeviceError(
        fmt::format("cannot use NVRTC '{}': it does not tell its version; {}", nvrtc.library.path(), advice));
  }
  nvrtc.architectures.resize(static_cast<std::size_t>(count));
  if (nvrtc.get_architectures(nvrtc.architectures.data()) != NvrtcResult::success) nvrtc.architectures.clear();
}

/// Files that may be NVRTC, in the order in which they count among equal versions. Bare names are the loader's.
std::vector<std::string> candidates() {
  std::vector<std::string> result;
  for (const auto& root : cuda_toolkit_roots()) {
    for (const auto& folder : cuda_library_folders(root)) {
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().filename().string().rfind("libnvrtc.so", 0) == 0) result.push_back(entry.path().string());
      }
    }
  }
  result.insert(result.end(), std::begin(loader_names), std::end(loader_names));
  return result;
}

/// Why an NVRTC does not do for a device; empty where it does.
std::string unfit(const Nvrtc& nvrtc, int architecture, int cuda_version) {
  if (!nvrtc.supports(architecture)) return fmt::format("does not know sm_{}", architecture);
  if (cuda_version != 0 && nvrtc.major > cuda_version / 1000) {
    return fmt::format("is newer than the driver, which supports CUDA {}.{}", cuda_version / 1000,
                       cuda_version % 1000 / 10);
  }
  return {};
}

}  // namespace

std::string Nvrtc::version() const {
  return fmt::format("{}nvrtc {}.{}", simulated ? "simulated " : "", major, minor);
}

bool Nvrtc::supports(int architecture) const {
  return std::find(architectures.begin(), architectures.end(), architecture) != architectures.end();
}

std::shared_ptr<const Nvrtc> load_nvrtc(const std::string& path) {
  std::string why_not;
  auto library = SharedLibrary::open(path, why_not);
  if (!library) throw DeviceError(fmt::format("cannot load NVRTC '{}': {}; {}", path, why_not, advice));
  auto nvrtc = std::make_shared<Nvrtc>();
  nvrtc->library = *library;
  nvrtc->simulated = library->symbol("wattune_sim_check") != nullptr;
  library->required(nvrtc->get_error_string, "nvrtcGetErrorString");
  library->required(nvrtc->get_version, "nvrtcVersion");
  library->required(nvrtc->create_program, "nvrtcCreateProgram");
  library->required(nvrtc->destroy_program, "nvrtcDestroyProgram");
  library->required(nvrtc->compile_program, "nvrtcCompileProgram");
  library->required(nvrtc->get_program_log_size, "nvrtcGetProgramLogSize");
  library->required(nvrtc->get_program_log, "nvrtcGetProgramLog");
  library->required(nvrtc->get_cubin_size, "nvrtcGetCUBINSize");
  library->required(nvrtc->get_cubin, "nvrtcGetCUBIN");
  library->required(nvrtc->add_name_expression, "nvrtcAddNameExpression");
  library->required(nvrtc->get_lowered_name, "nvrtcGetLoweredName");
  library->required(nvrtc->get_architecture_count, "nvrtcGetNumSupportedArchs");
  library->required(nvrtc->get_architectures, "nvrtcGetSupportedArchs");
  read_abilities(*nvrtc);
  return nvrtc;
}

std::shared_ptr<const Nvrtc> find_nvrtc(const std::string& path, int architecture, int cuda_version) {
  const std::string named = !path.empty() ? path : environment("WATTUNE_NVRTC");
  if (!named.empty()) {
    auto nvrtc = load_nvrtc(named);
    const std::string fault = unfit(*nvrtc, architecture, cuda_version);
    if (fault.empty()) return nvrtc;
    throw DeviceError(fmt::format("cannot compile with '{}' ({}): it {}; {}", named, nvrtc->version(), fault, advice));
  }
  std::shared_ptr<const Nvrtc> best;
  std::set<fs::path> seen;
  std::string found;
  for (const auto& candidate : candidates()) {
    std::error_code failed;
    const fs::path real = fs::canonical(candidate, failed);
    if (!failed && !seen.insert(real).second) continue;
    std::shared_ptr<const Nvrtc> nvrtc;
    try {
      nvrtc = load_nvrtc(candidate);
    } catch (const DeviceError& error) {
      // A name that the loader does not find is no news; a file that is there and does not load is.
      if (!failed) found += fmt::format("; {}", error.what());
      continue;
    }
    if (failed && !seen.insert(fs::weakly_canonical(nvrtc->library.path(), failed)).second) continue;
    const std::string fault = unfit(*nvrtc, architecture, cuda_version);
    if (!fault.empty()) {
      found += fmt::format("; '{}' ({}) {}", nvrtc->library.path(), nvrtc->version(), fault);
    } else if (!best || std::pair(nvrtc->major, nvrtc->minor) > std::pair(best->major, best->minor)) {
      best = nvrtc;
    }
  }
  if (best) return best;
  throw DeviceError(fmt::format("cannot compile CUDA kernels: no usable NVRTC (libnvrtc.so) in {}, {}{}; {}",
                                cuda_toolkit_places(), loader_places(), found, advice));
}

}  // namespace wattune
