#pragma once
// Stand-ins for headers of the standard library, which NVRTC does not have.

#include <span>

namespace wattune {

struct NvrtcHeader {
  const char* name;
  const char* text;
};

/// Headers for what device code commonly takes from <cstdint>, <cmath>, <cstdio> and their like, so that such kernels
/// need no nvcc, which takes twenty times as long. They hold only what means the same in both compilers: std::pow of
/// float and int, which is double with nvcc and float in NVRTC's own functions, is left out, and a source that uses it
/// goes to nvcc.
std::span<const NvrtcHeader> nvrtc_headers();

}  // namespace wattune
