#include "kernels/references.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "evaluate/session.hpp"
#include "kernels/fma_chain/reference.hpp"
#include "kernels/gemm/reference.hpp"
#include "kernels/stream_copy/reference.hpp"
#include "problem/problem.hpp"

namespace wattune {
namespace {

/// The arguments of a problem by name, as numbers.
class Arguments {
 public:
  Arguments(const Problem& problem, std::vector<std::vector<std::byte>>& bytes) : problem_(problem), bytes_(bytes) {}

  /// The elements of a vector. @throws UsageError where it is missing, of another type or has not `size` elements.
  template <typename T>
  std::span<T> vector(std::string_view name, std::size_t size, std::string_view type) {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (argument.name != name) {
        continue;
      }
      if (to_string(argument.type) != type || bytes_[i].size() != size * sizeof(T)) {
        throw UsageError(fmt::format("{}: the host reference '{}' needs argument '{}' to hold {} x {}, not {} x {}",
                                     problem_.file.string(), problem_.verification.host_function, name, size, type,
                                     argument.size, to_string(argument.type)));
      }
      // Allocated for bytes, so aligned for every element type.
      return {reinterpret_cast<T*>(bytes_[i].data()), size};
    }
    throw UsageError(fmt::format("{}: the host reference '{}' needs an argument '{}'", problem_.file.string(),
                                 problem_.verification.host_function, name));
  }

  int integer(std::string_view name) { return vector<int>(name, 1, "int32")[0]; }
  float real(std::string_view name) { return vector<float>(name, 1, "float")[0]; }
  std::span<float> reals(std::string_view name, std::size_t size) { return vector<float>(name, size, "float"); }

 private:
  const Problem& problem_;
  std::vector<std::vector<std::byte>>& bytes_;
};

void gemm(const Problem& problem, std::vector<std::vector<std::byte>>& bytes) {
  Arguments arguments(problem, bytes);
  const int m = arguments.integer("M");
  const int n = arguments.integer("N");
  const int k = arguments.integer("K");
  if (m <= 0 || n <= 0 || k <= 0 || m % 128 != 0 || n % 128 != 0 || k % 32 != 0) {
    throw UsageError(
        fmt::format("{}: ProblemSize [{}, {}, {}]: gemm takes M and N in multiples of 128 and K in multiples of 32",
                    problem.file.string(), m, n, k));
  }
  const auto size = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  gemm_reference(m, n, k, arguments.real("alpha"), arguments.reals("A", size(k, m)).data(),
                 arguments.reals("B", size(k, n)).data(), arguments.real("beta"),
                 arguments.reals("C", size(n, m)).data());
}

void fma_chain(const Problem& problem, std::vector<std::vector<std::byte>>& bytes) {
  Arguments arguments(problem, bytes);
  const int chains = arguments.integer("chains");
  const int length = arguments.integer("length");
  if (chains <= 0 || length <= 0 || length % 64 != 0) {
    throw UsageError(
        fmt::format("{}: ProblemSize [{}, {}]: fma_chain takes any number of chains and a length in multiples of 64",
                    problem.file.string(), chains, length));
  }
  fma_chain_reference(chains, length, arguments.real("c"),
                      arguments.reals("result", static_cast<std::size_t>(chains)).data());
}

void stream_copy(const Problem& problem, std::vector<std::vector<std::byte>>& bytes) {
  Arguments arguments(problem, bytes);
  const int count = arguments.integer("count");
  if (count <= 0 || count % 4 != 0) {
    throw UsageError(fmt::format("{}: ProblemSize [{}]: stream_copy takes a number of floats that is a multiple of 4",
                                 problem.file.string(), count));
  }
  const auto size = static_cast<std::size_t>(count);
  stream_copy_reference(count, arguments.reals("from", size).data(), arguments.reals("to", size).data());
}

}  // namespace

void register_kernel_references() {
  register_host_reference("fma_chain", fma_chain);
  register_host_reference("gemm", gemm);
  register_host_reference("stream_copy", stream_copy);
}

}  // namespace wattune
