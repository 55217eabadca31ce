#pragma once
// Faults that a user asks for: which call on which board goes wrong, and how.
//
//   POINT[:N | :N+ | :N-M][@BOARD]=ACTION; ...
//
// The N-th time (counted over all processes; default 1) that POINT is passed on BOARD (default: any), ACTION happens.
// docs/simulated-gpus.md lists points and actions.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wattune::simgpu {

enum class Action : std::int32_t {
  result,         ///< the call returns Fault::result
  compile_error,  ///< the compiler refuses
  crash,          ///< the process dies
  hang,           ///< it never ends
  slow,           ///< it takes 0.2 s of real time, and does what it does in their middle
  lost,           ///< the board falls off the bus
  still,          ///< a counter stands still from then on
  back,           ///< a counter jumps back once
  wrap,           ///< a counter begins again at 0
  stale,          ///< readings do not change from then on
  ignored,        ///< settings seem to be made, and are not
  wrong,          ///< another identity than the other library's
  unrestricted,   ///< settings for which others need root
  value,          ///< Fault::value says how much
};

/// Plain data, for it lies in shared memory.
struct Fault {
  std::array<char, 48> point;  ///< "launch", "nvml.total_energy"
  std::array<char, 64> board;  ///< as in sim:NAME; empty: any
  std::uint64_t first, last;   ///< from the how-many-th time until which, from 1
  std::uint64_t seen;          ///< times passed
  Action action;
  std::int32_t result;  ///< CUresult or nvmlReturn_t
  double value;
};

/// Reads WATTUNE_SIM_FAULTS. @throws std::invalid_argument with one line that says what is understood.
std::vector<Fault> parse_faults(std::string_view text);

}  // namespace wattune::simgpu
