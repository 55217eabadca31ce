#pragma once
// Which process is which.

#include <cstdint>
#include <optional>

namespace wattune::simgpu {

/// When a process began, in ticks since boot; nothing where it has ended (or is a zombie).
std::optional<std::uint64_t> process_start_time(std::int32_t pid);

/// Seconds on the machine's monotonic clock, which all processes share.
double monotonic_seconds();
void real_sleep(double seconds);

}  // namespace wattune::simgpu
