#pragma once
// What all functions of the simulated NVML share.

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "driver/nvml.hpp"
#include "machine/machine.hpp"

namespace wattune {

struct NvmlDeviceOpaque {
  std::uint32_t board;
};

namespace simgpu {

/// Null where NVML is not initialised. Boards come in the order of their PCI ids.
NvmlDevice nvml_device(std::uint32_t board);
/// Initialisations that have not been shut down yet.
std::atomic<int>& nvml_users();

/// Runs a function; whatever it throws becomes a result.
NvmlResult guarded_nvml(const std::function<NvmlResult()>& function) noexcept;

/// One call on a board: checks the handle, takes its time, and lets faults happen at nvml.POINT.
NvmlResult call(NvmlDevice device, std::string_view point, double CallCosts::*cost,
                const std::function<NvmlResult(std::uint32_t board)>& function) noexcept;

/// The seconds of the next read of the energy counter: now and then one takes much longer.
double counter_seconds(const CallCosts& costs);

/// W, with what faults make of the readings.
double average_power(Board& physics, const BoardSlot& slot);
double instant_power(Board& physics, const BoardSlot& slot);
/// J, with what faults make of the counter; counts as a read of it.
double counter_joules(std::uint32_t board);
/// Counts a read of power, from which on it may be stale.
void pass_power_sensor(std::uint32_t board);

inline unsigned megahertz(double hz) {
  return static_cast<unsigned>(hz * 1e-6 + 0.5);
}
inline unsigned milli(double value) {
  return static_cast<unsigned>(value * 1e3 + 0.5);
}

NvmlResult copy_text(const std::string& text, char* target, unsigned length);

}  // namespace simgpu
}  // namespace wattune
