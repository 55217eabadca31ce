#include "kernels/sources.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/kept_file.hpp"

namespace wattune {

std::filesystem::path write_kernel(const std::string& name, const std::filesystem::path& folder) {
  for (const auto& file : embedded_kernel_files()) {
    if (!file.path.starts_with(name + "/")) continue;
    const std::filesystem::path path = folder / file.path;
    if (const auto error = replace_file(path, std::string(file.text))) {
      throw RunError(fmt::format("cannot write the kernel {} to '{}': {}", name, path.string(), error.message()));
    }
  }
  return folder / name / "problem.json";
}

}  // namespace wattune
