#include "extensions.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <string_view>

#include "cuda/objects.hpp"
#include "cuda/recorded.hpp"
#include "export.hpp"

namespace wattune::simgpu {

namespace {

/// Runs a function; what it throws is the message.
template <typename Function>
int told(char* message, unsigned length, Function function) noexcept {
  try {
    function();
    return 0;
  } catch (const std::exception& error) {
    if (message != nullptr && length > 0) std::snprintf(message, length, "%s", error.what());
    return 1;
  }
}

double truth(Board& physics, const BoardSlot& slot, const Description& description, std::string_view what) {
  const BoardState& state = slot.state;
  if (what == "power") return physics.true_power();
  if (what == "energy") return physics.true_energy();
  if (what == "voltage") return physics.voltage();
  if (what == "temperature") return physics.temperature();
  if (what == "sm_clock") return physics.sm_clock();
  if (what == "memory_clock") return physics.memory_clock();
  if (what == "power_limit") return state.power_limit;
  if (what == "sm_lock_low") return state.sm_lock.low;
  if (what == "sm_lock_high") return state.sm_lock.high;
  if (what == "memory_lock_low") return state.memory_lock.low;
  if (what == "memory_lock_high") return state.memory_lock.high;
  if (what == "application_sm_clock") return state.application_sm_clock;
  if (what == "application_memory_clock") return state.application_memory_clock;
  if (what == "contexts") return state.contexts;
  if (what == "voltage_readout") return description.has_voltage_readout ? 1 : 0;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

}  // namespace wattune::simgpu

using wattune::simgpu::Machine;

WATTUNE_SIM_EXPORT int wattune_sim_check(char* message, unsigned length) {
  return wattune::simgpu::told(message, length, [] {
    Machine::instance();
    wattune::simgpu::RecordedKernel::instance();
  });
}

WATTUNE_SIM_EXPORT int wattune_sim_board_name(unsigned board, char* name, unsigned length) {
  return wattune::simgpu::told(nullptr, 0, [&] {
    Machine& machine = Machine::instance();
    if (board >= machine.board_count()) throw std::out_of_range("there is no such board");
    std::snprintf(name, length, "%s", machine.board_name(board).c_str());
  });
}

WATTUNE_SIM_EXPORT int wattune_sim_board_of(int cuda_device) {
  int board = -1;
  wattune::simgpu::told(nullptr, 0, [&] {
    const auto found = wattune::simgpu::board_of(cuda_device);
    if (found) board = static_cast<int>(*found);
  });
  return board;
}

WATTUNE_SIM_EXPORT void wattune_sim_workload(double flop, double bytes) {
  wattune::simgpu::next_demand() = {std::max(0.0, flop), std::max(0.0, bytes)};
}

WATTUNE_SIM_EXPORT double wattune_sim_now(unsigned board) {
  double now = 0;
  wattune::simgpu::told(nullptr, 0, [&] {
    if (board < Machine::instance().board_count()) now = Machine::instance().now(board);
  });
  return now;
}

WATTUNE_SIM_EXPORT void wattune_sim_sleep_until(unsigned board, double seconds) {
  wattune::simgpu::told(nullptr, 0, [&] {
    if (board < Machine::instance().board_count()) Machine::instance().sleep_until(board, seconds);
  });
}

WATTUNE_SIM_EXPORT int wattune_sim_fault(const char* faults, char* message, unsigned length) {
  return wattune::simgpu::told(message, length, [&] { Machine::instance().add_faults(faults); });
}

WATTUNE_SIM_EXPORT double wattune_sim_truth(unsigned board, const char* what) {
  double value = std::numeric_limits<double>::quiet_NaN();
  wattune::simgpu::told(nullptr, 0, [&] {
    Machine& machine = Machine::instance();
    if (board >= machine.board_count()) return;
    value = machine.with_board(board, [&](wattune::simgpu::Board& physics, const wattune::simgpu::BoardSlot& slot) {
      return wattune::simgpu::truth(physics, slot, machine.description(board), what);
    });
  });
  return value;
}
