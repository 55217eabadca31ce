// What NVML sets: clocks and power limit. Only root may, as on real boards.

#include <algorithm>
#include <cmath>

#include "export.hpp"
#include "nvml/boards.hpp"
#include "nvml/types.hpp"

namespace wattune::simgpu {

namespace {

/// One call that sets something. @param for_all whether ordinary users may too.
NvmlResult set(NvmlDevice device, std::string_view point, bool (*for_all)(const BoardSlot&),
               const std::function<NvmlResult(const Description&, Board&)>& apply) {
  return call(device, point, &CallCosts::setting, [&](std::uint32_t board) {
    Machine& machine = Machine::instance();
    return machine.with_board(board, [&](Board& physics, const BoardSlot& slot) {
      if (machine.user() != User::root && !for_all(slot)) return NvmlResult::no_permission;
      return apply(machine.description(board), physics);
    });
  });
}

bool never(const BoardSlot&) {
  return false;
}

bool where_unrestricted(const BoardSlot& slot) {
  return slot.application_clocks_for_all;
}

/// The highest supported clock that is not above a frequency; the lowest where all are above.
double supported_below(const std::vector<double>& clocks, unsigned limit) {
  const auto above = std::upper_bound(clocks.begin(), clocks.end(), limit,
                                      [](unsigned value, double clock) { return value < megahertz(clock); });
  return above == clocks.begin() ? clocks.front() : *std::prev(above);
}

/// The supported clock that a frequency names; nothing where none does.
std::optional<double> supported(const std::vector<double>& clocks, unsigned wanted) {
  const auto found =
      std::find_if(clocks.begin(), clocks.end(), [&](double clock) { return megahertz(clock) == wanted; });
  return found == clocks.end() ? std::nullopt : std::optional(*found);
}

constexpr unsigned highest_clock = 100000;  // MHz; drivers refuse what is no clock at all

/// An application clock, or the default where none is set: as on most boards the base clock, above which the board
/// boosts.
NvmlResult application_clock(NvmlDevice device, int type, unsigned* clock, bool of_default) {
  return call(device, "clock_info", &CallCosts::state, [&](std::uint32_t board) {
    Machine& machine = Machine::instance();
    const Description& description = machine.description(board);
    if (type < 0 || type > static_cast<int>(NvmlClock::memory)) return NvmlResult::not_supported;
    const bool memory = type == static_cast<int>(NvmlClock::memory);
    const double standard = memory ? description.memory_clocks.back() : description.base_clock;
    *clock = machine.with_board(board, [&](Board&, const BoardSlot& slot) {
      const double set = memory ? slot.state.application_memory_clock : slot.state.application_sm_clock;
      return megahertz(of_default || set <= 0 ? standard : set);
    });
    return NvmlResult::success;
  });
}

}  // namespace

}  // namespace wattune::simgpu

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceSetGpuLockedClocks(NvmlDevice device, unsigned low, unsigned high) {
  return set(device, "set_sm_clock", never, [&](const Description& description, Board& physics) {
    if (low > high || low > highest_clock || high > highest_clock) return NvmlResult::invalid_argument;
    physics.lock_sm_clock(supported_below(description.sm_clocks, low), supported_below(description.sm_clocks, high));
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceResetGpuLockedClocks(NvmlDevice device) {
  return set(device, "reset_sm_clock", never, [](const Description&, Board& physics) {
    physics.reset_sm_clock();
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceSetMemoryLockedClocks(NvmlDevice device, unsigned low, unsigned high) {
  return set(device, "set_memory_clock", never, [&](const Description& description, Board& physics) {
    if (!description.may_lock_memory_clock) return NvmlResult::not_supported;
    if (low > high || high > highest_clock) return NvmlResult::invalid_argument;
    physics.lock_memory_clock(supported_below(description.memory_clocks, low),
                              supported_below(description.memory_clocks, high));
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceResetMemoryLockedClocks(NvmlDevice device) {
  return set(device, "reset_memory_clock", never, [](const Description& description, Board& physics) {
    if (!description.may_lock_memory_clock) return NvmlResult::not_supported;
    physics.reset_memory_clock();
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceSetApplicationsClocks(NvmlDevice device, unsigned memory, unsigned sm) {
  return set(device, "set_application_clocks", where_unrestricted, [&](const Description& description, Board& physics) {
    const auto memory_clock = supported(description.memory_clocks, memory);
    const auto sm_clock = supported(description.sm_clocks, sm);
    if (!memory_clock || !sm_clock) return NvmlResult::invalid_argument;
    physics.set_application_clocks(*memory_clock, *sm_clock);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceResetApplicationsClocks(NvmlDevice device) {
  return set(device, "reset_application_clocks", where_unrestricted, [](const Description&, Board& physics) {
    physics.reset_application_clocks();
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetApplicationsClock(NvmlDevice device, int type, unsigned* clock) {
  return application_clock(device, type, clock, false);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetDefaultApplicationsClock(NvmlDevice device, int type, unsigned* clock) {
  return application_clock(device, type, clock, true);
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceSetPowerManagementLimit(NvmlDevice device, unsigned milliwatts) {
  return set(device, "set_power_limit", never, [&](const Description& description, Board& physics) {
    if (milliwatts < milli(description.power_limit_min) || milliwatts > milli(description.power_limit_max)) {
      return NvmlResult::invalid_argument;
    }
    physics.set_power_limit(milliwatts * 1e-3);
    return NvmlResult::success;
  });
}

WATTUNE_SIM_EXPORT NvmlResult nvmlDeviceGetAPIRestriction(NvmlDevice device, int api, unsigned* restricted) {
  return call(device, "api_restriction", &CallCosts::state, [&](std::uint32_t board) {
    constexpr int set_application_clocks = 0;
    if (api != set_application_clocks) return NvmlResult::not_supported;
    const bool for_all = Machine::instance().with_board(
        board, [](Board&, const BoardSlot& slot) { return slot.application_clocks_for_all; });
    *restricted = for_all ? 0 : 1;
    return NvmlResult::success;
  });
}
