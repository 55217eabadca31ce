#pragma once
// From a launch to the work it is: occupancy, waves of blocks, roofline, and a roughness that is each code variant's
// own.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "board/description.hpp"

namespace wattune::simgpu {

struct LaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned registers_per_thread = 32;
  std::uint64_t shared_bytes = 0;  ///< of a block, static and dynamic
};

/// What tells code variants of one kernel apart.
struct Variant {
  std::uint64_t kernel_hash = 0;   ///< the same for all variants of a kernel
  std::uint64_t variant_hash = 0;  ///< differs with every change of the code
  struct Define {
    std::string name;
    double value;
  };
  std::vector<Define> defines;  ///< numeric ones; variants with like values have like speed, in part
};

/// What a launch computes and moves. 0: unknown, and guessed from the number of threads.
struct Demand {
  double flop = 0;
  double bytes = 0;
};

struct Occupancy {
  unsigned blocks_per_multiprocessor = 0;  ///< 0: the launch does not fit
  double share = 0;                        ///< of the threads that a multiprocessor can hold
};

[[nodiscard]] Occupancy occupancy(const Description& description, const LaunchShape& shape);

/// Registers per thread that a compiler might have given a variant: reproducible, 16 to 255.
[[nodiscard]] unsigned plausible_registers(const Variant& variant);

/// @return the work of one launch. The shape must fit (occupancy() above 0).
[[nodiscard]] Work launch_work(const Description& description, const LaunchShape& shape, const Variant& variant,
                               const Demand& demand);

/// One recorded measurement of a kernel.
struct Record {
  double seconds;
  double watts;     ///< 0: not recorded
  double sm_clock;  ///< Hz
};

/// Work that reproduces what was recorded on such a board, to be run at other clocks. Records at several clocks tell
/// how much of the time is memory's; with one, `memory_share` is taken: memory's time over the SMs' at that clock.
/// @throws UsageError without records, or where one has no time or clock.
[[nodiscard]] Work recorded_work(const Description& description, const std::vector<Record>& records,
                                 double memory_share = 0.5);

}  // namespace wattune::simgpu
