// CUDA binaries and the names in them.

#include <cstddef>
#include <cstdint>

#include "backend/cuda/cubin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wattune;
  const auto symbols = read_cubin({data, size});
  if (!symbols) return 0;
  (void)find_kernel(*symbols, "gemm");
  (void)find_instantiated_kernel(*symbols, "gemm<16>");
  (void)variable_names(*symbols);
  return 0;
}
