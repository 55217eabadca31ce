#pragma once
// What a simulated board is: the numbers of one GPU model, read from the JSON files in simgpu/descriptions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/sensor.hpp"
#include "board/work.hpp"

namespace wattune::simgpu {

/// One point of a curve: volts at a clock.
struct VoltagePoint {
  double clock_hz;
  double volts;
};

/// What the CUDA driver tells about the model.
struct DeviceLimits {
  unsigned compute_major = 0, compute_minor = 0;
  unsigned max_threads_per_block = 1024;
  unsigned max_threads_per_multiprocessor = 0;
  unsigned max_blocks_per_multiprocessor = 0;
  unsigned registers_per_multiprocessor = 65536;
  unsigned registers_per_block = 65536;
  std::uint64_t shared_bytes_per_multiprocessor = 0;
  std::uint64_t shared_bytes_per_block = 49152;
  std::uint64_t shared_bytes_per_block_optin = 0;
  std::uint64_t reserved_shared_bytes_per_block = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  unsigned memory_bus_bits = 0;
  double flop_per_cycle = 0;    ///< FP32, of one multiprocessor, a fused multiply-add counting two
  double memory_bandwidth = 0;  ///< B/s, at the highest memory clock
};

/// Where power goes. Capacitances in F: a board's core draws capacitance * V^2 * f.
struct PowerModel {
  double board = 0;                ///< W, whatever happens: regulators, fans at rest, interfaces
  double leakage = 0;              ///< A at leakage_temperature; times the core voltage it is W
  double leakage_temperature = 0;  ///< degC
  double leakage_growth = 0;       ///< 1/K, relative: exp(growth * (T - leakage_temperature))
  double gated = 0;                ///< share of the leakage that an idle board without contexts switches off
  double clock_capacitance = 0;    ///< F, of clock trees and schedulers of a board with contexts, idle or not
  double core_capacitance = 0;     ///< F, of all SMs at activity 1
  double memory_idle = 0;          ///< W at the highest memory clock, no access
  double memory_active = 0;        ///< W above that, at activity 1
  double supply_resistance = 0;    ///< Ohm: losses between the board's input and its core grow with the current squared
  double fan = 0;                  ///< W, of the board's own fans at full speed
};

/// Heat flows from the die to the cooler and on to the air: two stages, each with a resistance and a time constant.
struct ThermalModel {
  double ambient = 0;                                ///< degC
  double die_resistance = 0, die_seconds = 0;        ///< K/W, s
  double cooler_resistance = 0, cooler_seconds = 0;  ///< K/W, s
  double slowdown = 0;                               ///< degC above which software lowers the clock
  double hardware_slowdown = 0;                      ///< degC above which hardware halves it
};

/// How the board steers its clock.
struct ClockControl {
  double settle_seconds = 0;      ///< from a change of setting until the clock begins to move
  double control_period = 0;      ///< s between two steps of the clock
  unsigned ramp_steps = 1;        ///< supported clocks that one control step may cross where nothing holds it back
  double power_filter = 0;        ///< s, time constant of the power that is compared with the limit
  double hysteresis = 0;          ///< relative; below limit * (1 - hysteresis) the clock may rise again
  unsigned raise_after = 1;       ///< control steps below it before the clock rises
  double idle_clock = 0;          ///< Hz, SM clock of an idle board without contexts
  double idle_memory_clock = 0;   ///< Hz
  bool idle_keeps_clock = false;  ///< with a context, an idle board stays at the clock that it would compute at
  double idle_seconds = 0;        ///< until an idle board lowers its clock
};

/// The board's meters, and what asking costs.
struct SensorSet {
  double gain_spread = 0;  ///< boards of this model say up to this much too much or too little, relative
  CounterDescription counter;
  SensorDescription average;  ///< nvmlDeviceGetPowerUsage
  SensorDescription instant;  ///< NVML_FI_DEV_POWER_INSTANT
  SensorDescription samples;  ///< nvmlDeviceGetSamples
  unsigned sample_count = 0;  ///< that the buffer holds
};

/// Seconds that a call of NVML takes.
struct CallCosts {
  double counter = 0;       ///< the energy counter, typically
  double counter_tail = 0;  ///< of one call in a hundred
  double power = 0;
  double field = 0;  ///< one value of nvmlDeviceGetFieldValues
  double samples = 0;
  double state = 0;    ///< clock, temperature, reasons
  double setting = 0;  ///< a change of clock or limit
};

/// What a named kernel is on this board: the workload of one of the curves that the description is fitted to.
struct ReferenceWorkload {
  std::string name;  ///< "fma_chain", "gemm", ...
  Work work;         ///< of one launch
};

/// A board's description. Clocks in Hz, power in W, time in s.
struct Description {
  std::string name;          ///< "A100-PCIE-40GB": what the driver calls it
  std::string id;            ///< "a100-pcie-40gb": what a user calls it, as sim:a100-pcie-40gb
  std::string architecture;  ///< "sm_80"
  unsigned multiprocessors = 0;
  DeviceLimits limits;

  std::vector<double> sm_clocks;      ///< supported, ascending
  std::vector<double> memory_clocks;  ///< supported, ascending
  double base_clock = 0;
  double default_clock = 0;  ///< boosts to this where nothing is locked
  double top_clock = 0;      ///< what its highest voltage allows: supported clocks above it are never reached
  double fabric_clock = 0;   ///< SM clock below which the way to memory is too slow for memory's bandwidth
  bool may_lock_memory_clock = false;
  bool has_voltage_readout = false;  ///< nvidia-smi -q -d VOLTAGE has a number
  double power_limit_min = 0, power_limit_max = 0, power_limit_default = 0;

  std::vector<VoltagePoint> voltage;  ///< ascending; straight lines between, flat outside
  PowerModel power;
  ThermalModel thermal;
  ClockControl control;
  SensorSet sensors;
  CallCosts calls;
  std::vector<ReferenceWorkload> workloads;
};

/// All descriptions, in a fixed order. They are compiled into the library.
const std::vector<Description>& descriptions();
/// Null where there is no such board.
const Description* find_description(const std::string& id);
/// Null where the board has no workload of that name.
const Work* find_workload(const Description& description, std::string_view name);

/// Reads a description. @param file how errors call it. @throws UsageError naming file and key.
Description parse_description(std::string_view text, const std::string& file);

}  // namespace wattune::simgpu
