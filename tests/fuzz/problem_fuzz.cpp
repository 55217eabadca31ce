// Problem files, kernel sources and .npy files of any content: read or refused in one line, never anything else.
// The first byte chooses the reader.

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "problem/npy.hpp"
#include "problem/problem.hpp"
#include "problem/source_scanner.hpp"

namespace {

using namespace wattune;
namespace fs = std::filesystem;

/// A folder with files that problem files may name. Inputs cannot leave it, see names_other_folders().
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "wattune-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr || ::chdir(name.c_str()) != 0) ::abort();
    path_ = name;
    std::ofstream(path_ / "k.cu")
        << "#include \"k.h\"\n__global__ void k(float* y) { y[TILE * block_size_x] = grid_size_x; }";
    std::ofstream(path_ / "k.cl") << "__kernel void k() { TILE; }";
    std::ofstream(path_ / "k.h") << "#include <k.h>\n#define A A";
    std::ofstream(path_ / "v.bin") << std::string(64, 'v');
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    std::ofstream(path_ / "v.npy", std::ios::binary)
        << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0' << header << "12345678";
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path problem() const { return path_ / "p.json"; }

 private:
  fs::path path_;
};

/// The reader opens nothing of a file that nests deeper than it allows, so that deeper strings need no look.
bool names_other_folders(const nlohmann::json& node, int depth = 0) {
  if (depth > 200) return false;
  if (node.is_string()) {
    const auto& text = node.get_ref<const std::string&>();
    return text.starts_with('/') || text.starts_with("-I") || text.find("..") != std::string::npos;
  }
  for (const auto& member : node) {
    if (names_other_folders(member, depth + 1)) return true;
  }
  return false;
}

void use(const Problem& problem) {
  static_cast<void>(kernel_name(problem, problem.defaults));
  static_cast<void>(shared_memory_bytes(problem, problem.defaults));
  for (const Argument& argument : problem.arguments) {
    if (argument.local_size) static_cast<void>(local_elements(problem, argument, problem.defaults));
  }
  static_cast<void>(launch_shape(problem, problem.defaults));
  static_cast<void>(defines(problem, problem.defaults));
}

void read(std::string_view text, bool space_only, const std::string& language) {
  static const Folder folder;
  if (names_other_folders(nlohmann::json::parse(text, nullptr, false))) return;
  const Problem problem = parse_problem(text, folder.problem(), {std::nullopt, language, space_only});
  for (const std::string& warning : problem.warnings) {
    if (warning.find('\n') != std::string::npos) ::abort();
  }
  if (problem.kinds.size() != problem.parameters.size() || problem.defaults.size() != problem.parameters.size())
    ::abort();
  if (!space_only) use(problem);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0]) {
      case 's':
        read(text, true, "");
        break;
      case 'p':
        read(text, false, "");
        break;
      case 'o':
        read(text, false, "OpenCL");
        break;
      case 'n':
        static_cast<void>(npy_data(text, *element_type("float"), 2));
        break;
      case 'k':
        static_cast<void>(scan_source(text));
        break;
      default:
        return -1;
    }
  } catch (const UsageError& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) ::abort();
  }
  return 0;
}
