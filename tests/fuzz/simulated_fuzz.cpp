// What the simulated GPU reads of outside: kernel sources and lists of faults.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "machine/fault.hpp"
#include "nvrtc/source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  wattune::simgpu::Preprocessor preprocessor({}, {});
  preprocessor.run(text, "kernel.cu");
  wattune::simgpu::look_at(preprocessor.tokens(), "k");
  try {
    wattune::simgpu::parse_faults(text);
  } catch (const std::invalid_argument&) {
    // One line that says what is wrong.
  }
  return 0;
}
