#pragma once
// What the child processes of a run do: the other ends of WorkerClient and CompilePool.

#include "base/channel.hpp"

namespace wattune {

/// The hidden sub-commands under which the program starts itself again.
inline constexpr const char* worker_command = "worker-process";
inline constexpr const char* compile_command = "compile-process";

/// Serves one coordinator until the channel closes; ends the process at once when the coordinator dies.
int run_worker(Channel channel);
int run_compiler(Channel channel);

}  // namespace wattune
