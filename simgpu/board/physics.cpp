#include "board/physics.hpp"

#include <algorithm>
#include <cmath>

namespace wattune::simgpu {

double core_voltage(const Description& description, double sm_clock) {
  const auto& curve = description.voltage;
  const auto above = std::upper_bound(curve.begin(), curve.end(), sm_clock,
                                      [](double clock, const VoltagePoint& point) { return clock < point.clock_hz; });
  if (above == curve.begin()) return curve.front().volts;
  if (above == curve.end()) return curve.back().volts;
  const VoltagePoint& low = *(above - 1);
  return std::lerp(low.volts, above->volts, (sm_clock - low.clock_hz) / (above->clock_hz - low.clock_hz));
}

double launch_seconds(const Description& description, const Work& work, double sm_clock, double memory_clock) {
  const double computing = work.sm_cycles / sm_clock;
  // Requests reach memory through caches and crossbars that run at the SMs' clock.
  const double slowdown =
      std::max(description.memory_clocks.back() / memory_clock, description.fabric_clock / sm_clock);
  const double moving = work.memory_seconds * std::max(1.0, slowdown);
  return std::max(computing, moving) + (1 - work.overlap) * std::min(computing, moving) + work.fixed_seconds;
}

Load load_of(const Description& description, const Work& work, double sm_clock, double memory_clock) {
  const double seconds = launch_seconds(description, work, sm_clock, memory_clock);
  if (seconds <= 0) return {};
  return {work.core_activity * work.sm_cycles / sm_clock / seconds,
          work.memory_activity * work.memory_seconds / seconds};
}

double board_power(const Description& description, const OperatingPoint& at, const Load& load) {
  const PowerModel& model = description.power;
  const double volts = core_voltage(description, at.sm_clock);
  const double powered = at.contexts ? 1 : 1 - model.gated;
  const double heat = std::exp(model.leakage_growth * (at.temperature - model.leakage_temperature));
  const double leakage = powered * model.leakage * heat * volts;
  const double capacitance = powered * model.clock_capacitance + load.core * model.core_capacitance;
  const double core = leakage + capacitance * volts * volts * at.sm_clock;
  const double current = core / volts;
  const double memory =
      model.memory_idle * at.memory_clock / description.memory_clocks.back() + model.memory_active * load.memory;
  const ThermalModel& thermal = description.thermal;
  const double fan_speed =
      std::clamp((at.temperature - thermal.ambient) / (thermal.slowdown - thermal.ambient), 0.0, 1.0);
  return model.board + core + model.supply_resistance * current * current + memory + model.fan * fan_speed;
}

SteadyState steady_state(const Description& description, const Work& work, double sm_clock, double memory_clock) {
  const ThermalModel& thermal = description.thermal;
  const Load load = load_of(description, work, sm_clock, memory_clock);
  SteadyState state{0, thermal.ambient};
  // Leakage feeds back by a few per cent, so this converges fast; a board that would run away stops at a heat that
  // would have shut it down.
  constexpr int enough = 60;
  constexpr double hottest = 130;
  for (int i = 0; i < enough; ++i) {
    state.watts = board_power(description, {sm_clock, memory_clock, state.temperature, true}, load);
    state.temperature =
        std::min(hottest, thermal.ambient + state.watts * (thermal.die_resistance + thermal.cooler_resistance));
  }
  return state;
}

}  // namespace wattune::simgpu
