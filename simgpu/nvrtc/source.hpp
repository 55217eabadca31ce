#pragma once
// What a kernel's source tells about the kernel without being compiled.

#include <span>
#include <string>
#include <vector>

#include "cuda/image.hpp"
#include "nvrtc/preprocessor.hpp"

namespace wattune::simgpu {

/// What the source says, as far as it can be seen.
struct SourceFacts {
  bool has_kernel = false;  ///< a __global__ function of that name
  bool has_name = false;    ///< the name occurs at all
  bool is_extern_c = false;
  std::uint64_t shared_bytes = 0;
  std::uint64_t array_words = 0;  ///< 32-bit words of arrays that each thread has for itself
  unsigned max_threads = 1024;    ///< of __launch_bounds__
  std::vector<VariableImage> variables;
  std::string imbalance;  ///< what is wrong with its brackets; empty: nothing
};

/// @param kernel name without namespaces and template arguments.
SourceFacts look_at(std::span<const Token> tokens, const std::string& kernel);

}  // namespace wattune::simgpu
