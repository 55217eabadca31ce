#pragma once
// Which process is which: a pid alone may be used again.

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace wattune {

struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< in ticks since boot
  bool operator==(const ProcessIdentity&) const = default;
};

/// start_time is 0 where there is no such process (or a zombie).
ProcessIdentity identify(pid_t pid);
ProcessIdentity own_identity();
bool is_alive(const ProcessIdentity& process);
/// Whether a process that was started in the session of this one, its leader, still lives.
bool survives_in_session(const ProcessIdentity& leader);
/// 0 where there is no such process.
pid_t parent_of(pid_t pid);
/// Real user of a process; -1 where there is none.
std::int64_t user_of(pid_t pid);

/// Different after each boot. @throws DeviceError where the kernel does not tell.
std::string boot_id();

nlohmann::json to_json(const ProcessIdentity& process);
/// @throws nlohmann::json::exception.
ProcessIdentity process_identity_from_json(const nlohmann::json& json);

}  // namespace wattune
