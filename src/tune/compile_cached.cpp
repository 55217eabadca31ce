#include "tune/compile_cached.hpp"

#include <filesystem>

#include "base/error.hpp"

namespace wattune {

namespace {

/// A compiler that cannot write its temporary files fails without a good reason: that is no fault of the kernel.
void check_temporary_folder() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  const auto space = std::filesystem::space(folder, error);
  constexpr std::uintmax_t enough = 1 << 20;
  if (!error && space.available >= enough) return;
  throw RunError("cannot compile: the temporary folder '" + folder.string() + "' " +
                 (error ? "cannot be used (" + error.message() + ")" : std::string("is full")) +
                 "; free some space, or set TMPDIR to another folder");
}

}  // namespace

Compiled compile_cached(Compiler& compiler, BinaryCache* cache, const CompileRequest& request) {
  std::string key;
  if (cache != nullptr) {
    key = BinaryCache::key(request, compiler.identity());
    if (auto found = cache->find(key)) {
      if (*found) {
        (*found)->cached = true;
        (*found)->seconds = 0;
      }
      return {std::move(*found), true};
    }
  }
  auto outcome = compiler.compile(request);
  if (!outcome) check_temporary_folder();
  if (cache != nullptr) cache->keep(key, outcome);
  return {std::move(outcome), false};
}

CompileRequest variant_request(const Problem& problem, const std::string& device_id, const std::string& includes_hash,
                               const std::vector<Value>& configuration) {
  CompileRequest request;
  request.device = device_id;
  request.source = problem.kernel.text;
  request.file = problem.kernel.file.string();
  request.defines = defines(problem, configuration);
  request.options = problem.kernel.options;
  for (const auto& path : problem.kernel.include_paths) request.include_paths.push_back(path.string());
  request.includes_hash = includes_hash;
  request.kernel_name = kernel_name(problem, configuration);
  return request;
}

CompileRequest reference_request(const Problem& problem, const std::string& device_id) {
  const auto& kernel = *problem.verification.kernel;
  CompileRequest request;
  request.device = device_id;
  request.source = kernel.source;
  request.file = kernel.file.string();
  request.options = kernel.options;
  request.include_paths = {kernel.file.parent_path().string()};
  request.includes_hash = problem.hash;  // its file may include others than the tuned kernel does
  request.kernel_name = kernel.name;
  return request;
}

}  // namespace wattune
