// CSV results from anywhere.

#include <cstdint>

#include "results_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return wattune::fuzz_results({reinterpret_cast<const char*>(data), size}, wattune::ResultFormat::csv);
}
