#pragma once
// What running a kernel asks of a board.

namespace wattune::simgpu {

/// What one launch of a kernel demands, whatever the clocks are. While it runs, the SMs switch for `sm_cycles` and
/// memory for `memory_seconds`, in part at the same time; a launch therefore costs the cores the same charge at any
/// clock, but at that clock's voltage.
struct Work {
  double sm_cycles = 0;        ///< SM clock cycles it takes where memory never holds it up
  double memory_seconds = 0;   ///< time that memory takes at its highest clock where the SMs never hold it up
  double core_activity = 0;    ///< switching activity while computing; 1: the synthetic chain of fused multiply-adds
  double memory_activity = 0;  ///< of memory while it is the limit; 1: a copy kernel on all SMs
  double fixed_seconds = 0;    ///< of launching, and of hanging kernels: passes at any clock, at little activity
  double overlap = 0.85;       ///< how much of the shorter of both times hides behind the longer one, 0 to 1
};

}  // namespace wattune::simgpu
