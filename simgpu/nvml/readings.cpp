// What NVML reads: power, energy, clocks, limits.

#include <algorithm>

#include "export.hpp"
#include "nvml/boards.hpp"
#include "nvml/types.hpp"

namespace wattune::simgpu {

namespace {

/// Which clock NvmlClock means; nothing for the video clock.
std::optional<double> clock_of(const Board& physics, int type) {
  switch (static_cast<NvmlClock>(type)) {
    case NvmlClock::graphics:
    case NvmlClock::sm:
      return physics.sm_clock();
    case NvmlClock::memory:
      return physics.memory_clock();
  }
  return std::nullopt;
}

/// Clocks, highest first, as NVML lists them.
NvmlResult give_clocks(const std::vector<double>& clocks, unsigned* count, unsigned* list) {
  const unsigned room = *count;
  *count = static_cast<unsigned>(clocks.size());
  if (list == nullptr || room < clocks.size()) return NvmlResult::insufficient_size;
  std::transform(clocks.rbegin(), clocks.rend(), list, megahertz);
  return NvmlResult::success;
}

bool has_clock(const std::vector<double>& clocks, unsigned wanted) {
  return std::any_of(clocks.begin(), clocks.end(), [&](double clock) { return megahertz(clock) == wanted; });
}

/// The throttle reason whose time a field counts; 0: none.
std::uint64_t reason_of(unsigned id) {
  switch (id) {
    case field::power_cap_time:
      return throttle::power_cap;
    case field::sync_boost_time:
      return throttle::sync_boost;
    case field::software_thermal_time:
      return throttle::software_thermal;
    case field::hardware_thermal_time:
      return throttle::hardware_thermal;
    case field::power_brake_time:
      return throttle::power_brake;
    default:
      return 0;
  }
}

void read_field(std::uint32_t board, NvmlFieldValue& value) {
  Machine& machine = Machine::instance();
  const SensorSet& sensors = machine.description(board).sensors;
  value.result = NvmlResult::success;
  value.latency = 0;
  value.type = NvmlValueType::unsigned_int;
  value.value = {};
  if (value.field == field::total_energy) {
    if (!sensors.counter.present()) {
      value.result = NvmlResult::not_supported;
      return;
    }
    value.type = NvmlValueType::unsigned_long_long;
    value.value.unsigned_long_long = static_cast<unsigned long long>(counter_joules(board) * 1e3);
  }
  const bool is_power = value.field == field::power_average || value.field == field::power_instant;
  if (is_power) pass_power_sensor(board);
  machine.with_board(board, [&](Board& physics, const BoardSlot& slot) {
    value.timestamp = static_cast<long long>(physics.now() * 1e6);
    const bool whole_board = value.scope == 0;
    if (value.field == field::power_average && whole_board && sensors.average.present()) {
      value.value.unsigned_int = milli(average_power(physics, slot));
    } else if (value.field == field::power_instant && whole_board && sensors.instant.present()) {
      value.value.unsigned_int = milli(instant_power(physics, slot));
    } else if (const std::uint64_t reason = reason_of(value.field); reason != 0) {
      value.type = NvmlValueType::unsigned_long_long;
      value.value.unsigned_long_long = physics.throttle_nanoseconds(reason);
    } else if (value.field != field::total_energy) {
      value.result = NvmlResult::not_supported;
    }
  });
}

}  // namespace

}  // namespace wattune::simgpu

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device, unsigned long long* millijoules) {
  return call(device, "total_energy", &CallCosts::counter, [&](std::uint32_t board) {
    if (!Machine::instance().description(board).sensors.counter.present()) return NvmlResult::not_supported;
    *millijoules = static_cast<unsigned long long>(counter_joules(board) * 1e3);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* milliwatts) {
  return call(device, "power_usage", &CallCosts::power, [&](std::uint32_t board) {
    if (!Machine::instance().description(board).sensors.average.present()) return NvmlResult::not_supported;
    pass_power_sensor(board);
    *milliwatts = Machine::instance().with_board(
        board, [](Board& physics, const BoardSlot& slot) { return milli(average_power(physics, slot)); });
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetFieldValues(NvmlDevice device, int count, NvmlFieldValue* values) {
  return call(device, "field_values", nullptr, [&](std::uint32_t board) {
    if (count < 0 || values == nullptr) return NvmlResult::invalid_argument;
    Machine& machine = Machine::instance();
    for (int i = 0; i < count; ++i) {
      machine.spend(board, machine.description(board).calls.field);
      read_field(board, values[i]);
    }
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetSamples(NvmlDevice device, int type, unsigned long long last_seen,
                                                   NvmlValueType* value_type, unsigned* count, NvmlSample* samples) {
  return call(device, "samples", &CallCosts::samples, [&](std::uint32_t board) {
    Machine& machine = Machine::instance();
    const Description& description = machine.description(board);
    if (type != nvml_total_power_samples || !description.sensors.samples.present()) return NvmlResult::not_supported;
    *value_type = NvmlValueType::unsigned_int;
    if (samples == nullptr) {
      *count = description.sensors.sample_count;
      return NvmlResult::success;
    }
    const auto found = machine.with_board(board, [&](Board& physics, const BoardSlot&) {
      return physics.sample_buffer(static_cast<double>(last_seen) * 1e-6);
    });
    if (found.empty()) return NvmlResult::not_found;
    const std::size_t given = std::min<std::size_t>(found.size(), *count);
    for (std::size_t i = 0; i < given; ++i) {
      samples[i].timestamp = static_cast<unsigned long long>(found[i].time * 1e6 + 0.5);
      samples[i].value = {};
      samples[i].value.unsigned_int = milli(found[i].watts);
    }
    *count = static_cast<unsigned>(given);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetClockInfo(NvmlDevice device, int type, unsigned* clock) {
  return call(device, "clock_info", &CallCosts::state, [&](std::uint32_t board) {
    return Machine::instance().with_board(board, [&](Board& physics, const BoardSlot&) {
      const auto found = clock_of(physics, type);
      if (!found) return NvmlResult::not_supported;
      *clock = megahertz(*found);
      return NvmlResult::success;
    });
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetMaxClockInfo(NvmlDevice device, int type, unsigned* clock) {
  return call(device, "clock_info", &CallCosts::state, [&](std::uint32_t board) {
    const Description& description = Machine::instance().description(board);
    if (type < 0 || type > static_cast<int>(NvmlClock::memory)) return NvmlResult::not_supported;
    const bool memory = type == static_cast<int>(NvmlClock::memory);
    *clock = megahertz(memory ? description.memory_clocks.back() : description.sm_clocks.back());
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetSupportedMemoryClocks(NvmlDevice device, unsigned* count, unsigned* clocks) {
  return call(device, "supported_clocks", &CallCosts::state, [&](std::uint32_t board) {
    return give_clocks(Machine::instance().description(board).memory_clocks, count, clocks);
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetSupportedGraphicsClocks(NvmlDevice device, unsigned memory_clock,
                                                                   unsigned* count, unsigned* clocks) {
  return call(device, "supported_clocks", &CallCosts::state, [&](std::uint32_t board) {
    const Description& description = Machine::instance().description(board);
    if (!has_clock(description.memory_clocks, memory_clock)) return NvmlResult::not_found;
    return give_clocks(description.sm_clocks, count, clocks);
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetTemperature(NvmlDevice device, int sensor, unsigned* celsius) {
  return call(device, "temperature", &CallCosts::state, [&](std::uint32_t board) {
    if (sensor != 0) return NvmlResult::invalid_argument;
    *celsius = Machine::instance().with_board(board, [](Board& physics, const BoardSlot&) {
      return static_cast<unsigned>(std::max(0.0, physics.temperature()) + 0.5);
    });
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetTemperatureThreshold(NvmlDevice device, int type, unsigned* celsius) {
  return call(device, "temperature", &CallCosts::state, [&](std::uint32_t board) {
    const ThermalModel& thermal = Machine::instance().description(board).thermal;
    if (type != 0 && type != 1) return NvmlResult::not_supported;  // shutdown, slowdown
    *celsius = static_cast<unsigned>(type == 0 ? thermal.hardware_slowdown + 5 : thermal.hardware_slowdown);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice device, unsigned long long* reasons) {
  return call(device, "reasons", &CallCosts::state, [&](std::uint32_t board) {
    *reasons = Machine::instance().with_board(
        board, [](Board& physics, const BoardSlot&) { return physics.throttle_reasons(); });
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice device,
                                                                        unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetUtilizationRates(NvmlDevice device, NvmlUtilization* utilization) {
  return call(device, "utilization", &CallCosts::state, [&](std::uint32_t board) {
    const bool busy =
        Machine::instance().with_board(board, [](Board& physics, const BoardSlot&) { return physics.busy(); });
    *utilization = {busy ? 100U : 0U, busy ? 50U : 0U};
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPerformanceState(NvmlDevice device, unsigned* state) {
  return call(device, "performance_state", &CallCosts::state, [&](std::uint32_t board) {
    const bool idle = Machine::instance().with_board(
        board, [](Board& physics, const BoardSlot&) { return (physics.throttle_reasons() & throttle::idle) != 0; });
    *state = idle ? 8 : 0;
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPowerManagementLimit(NvmlDevice device, unsigned* milliwatts) {
  return call(device, "power_limit", &CallCosts::state, [&](std::uint32_t board) {
    *milliwatts = Machine::instance().with_board(
        board, [](Board&, const BoardSlot& slot) { return milli(slot.state.power_limit); });
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetEnforcedPowerLimit(NvmlDevice device, unsigned* milliwatts) {
  return nvmlDeviceGetPowerManagementLimit(device, milliwatts);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPowerManagementDefaultLimit(NvmlDevice device, unsigned* milliwatts) {
  return call(device, "power_limit", &CallCosts::state, [&](std::uint32_t board) {
    *milliwatts = milli(Machine::instance().description(board).power_limit_default);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPowerManagementLimitConstraints(NvmlDevice device, unsigned* least,
                                                                           unsigned* most) {
  return call(device, "power_limit", &CallCosts::state, [&](std::uint32_t board) {
    const Description& description = Machine::instance().description(board);
    *least = milli(description.power_limit_min);
    *most = milli(description.power_limit_max);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetPowerManagementMode(NvmlDevice device, unsigned* enabled) {
  return call(device, "power_limit", &CallCosts::state, [&](std::uint32_t) {
    *enabled = 1;
    return NvmlResult::success;
  });
}
