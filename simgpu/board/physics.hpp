#pragma once
// The laws: voltage, time and power at an operating point. Without state.

#include "board/description.hpp"

namespace wattune::simgpu {

/// V, of the core at a clock.
[[nodiscard]] double core_voltage(const Description& description, double sm_clock);

/// s, of one launch at these clocks.
[[nodiscard]] double launch_seconds(const Description& description, const Work& work, double sm_clock,
                                    double memory_clock);

/// What switches on a board, in means over time.
struct Load {
  double core = 0;    ///< activity of the SMs
  double memory = 0;  ///< activity of memory, of what it can do at its highest clock
  Load& operator+=(const Load& other) {
    core += other.core;
    memory += other.memory;
    return *this;
  }
};

/// Of a work that runs without a break.
[[nodiscard]] Load load_of(const Description& description, const Work& work, double sm_clock, double memory_clock);

struct OperatingPoint {
  double sm_clock;
  double memory_clock;
  double temperature;  ///< degC
  bool contexts;       ///< whether there are any
};

/// W, of the whole board.
[[nodiscard]] double board_power(const Description& description, const OperatingPoint& at, const Load& load);

/// W and degC that a board comes to when it runs a work for ever at these clocks, whatever its power limit.
struct SteadyState {
  double watts;
  double temperature;
};
[[nodiscard]] SteadyState steady_state(const Description& description, const Work& work, double sm_clock,
                                       double memory_clock);

}  // namespace wattune::simgpu
