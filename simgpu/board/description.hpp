#pragma once
// What a simulated board is: the numbers of one GPU model, read from the JSON files in simgpu/descriptions.

#include <string>
#include <vector>

namespace wattune::simgpu {

/// One point of a curve: volts at a clock.
struct VoltagePoint {
  double clock_hz;
  double volts;
};

/// A board's description. Clocks in Hz, power in W, time in s.
struct Description {
  std::string name;         ///< "A100-PCIE-40GB": what the driver calls it
  std::string id;           ///< "a100-pcie-40gb": what a user calls it, as sim:a100-pcie-40gb
  std::string architecture; ///< "sm_80"
  unsigned multiprocessors = 0;

  std::vector<double> sm_clocks;      ///< supported, ascending
  std::vector<double> memory_clocks;  ///< supported, ascending
  double base_clock = 0;
  double default_clock = 0;  ///< boosts to this where nothing is locked
  double power_limit_min = 0, power_limit_max = 0, power_limit_default = 0;
};

/// All descriptions, in a fixed order. They are compiled into the library.
const std::vector<Description>& descriptions();
/// Null where there is no such board.
const Description* find_description(const std::string& id);

}  // namespace wattune::simgpu
