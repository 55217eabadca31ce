#include "driver/toolkit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "driver/library.hpp"

namespace wattune {

namespace fs = std::filesystem;

namespace {

constexpr const char* default_root = "/usr/local/cuda";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

fs::path nvcc_on_path() {
  const std::string folders = environment("PATH");
  std::size_t begin = 0;
  while (begin <= folders.size()) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path candidate = fs::path(folders.substr(begin, end - begin)) / "nvcc";
    if (end > begin && is_program(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

fs::path resolved(const fs::path& path) {
  std::error_code failed;
  fs::path result = fs::canonical(path, failed);
  return failed ? path : result;
}

void add_folder(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return;
  const fs::path real = resolved(folder);
  if (std::find(folders.begin(), folders.end(), real) == folders.end()) folders.push_back(real);
}

/// Adds ROOT/include and what lies in it, where it holds CUDA's headers.
void add_includes(std::vector<fs::path>& folders, const fs::path& include) {
  std::error_code ignored;
  if (!fs::exists(include / "cuda_fp16.h", ignored) && !fs::exists(include / "cuda_runtime.h", ignored)) return;
  add_folder(folders, include);
  add_folder(folders, include / "cccl");  // where toolkits from 13 on keep <cuda/std/...>
}

}  // namespace

std::vector<fs::path> cuda_toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = environment(variable); !root.empty()) add_folder(roots, root);
  }
  // nvcc may be a link into the toolkit: the link's target counts.
  if (const fs::path nvcc = nvcc_on_path(); !nvcc.empty())
    add_folder(roots, resolved(nvcc).parent_path().parent_path());
  add_folder(roots, default_root);
  return roots;
}

std::vector<fs::path> cuda_library_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  add_folder(folders, root / "lib64");
  add_folder(folders, root / "lib");
  std::error_code ignored;
  for (const auto& target : fs::directory_iterator(root / "targets", ignored))
    add_folder(folders, target.path() / "lib");
  return folders;
}

std::vector<fs::path> cuda_include_folders(const fs::path& member) {
  std::vector<fs::path> folders;
  const fs::path own = resolved(member).parent_path();
  // From lib64, lib or bin the toolkit's root is one step up; from targets/*/lib the target's include folder is.
  add_includes(folders, own.parent_path() / "include");
  if (!folders.empty()) return folders;
  // Python packages put each part of a toolkit into a folder of its own: nvidia/cuda_nvrtc/lib, nvidia/cuda_runtime.
  add_includes(folders, own.parent_path().parent_path() / "cuda_runtime" / "include");
  for (const auto& root : cuda_toolkit_roots()) {
    if (folders.empty()) add_includes(folders, root / "include");
  }
  return folders;
}

fs::path find_nvcc() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string root = environment(variable);
    if (!root.empty() && is_program(fs::path(root) / "bin" / "nvcc")) return fs::path(root) / "bin" / "nvcc";
  }
  if (const fs::path nvcc = nvcc_on_path(); !nvcc.empty()) return nvcc;
  const fs::path nvcc = fs::path(default_root) / "bin" / "nvcc";
  return is_program(nvcc) ? nvcc : fs::path();
}

std::string cuda_toolkit_places() {
  auto variable = [](const char* name) {
    const std::string value = environment(name);
    return fmt::format("{} ({})", name, value.empty() ? "not set" : value);
  };
  return fmt::format("{}, {}, the folder of nvcc on PATH, {}", variable("CUDA_HOME"), variable("CUDA_PATH"),
                     default_root);
}

}  // namespace wattune
