#include "tune/runtime.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "base/subprocess.hpp"
#include "evaluate/extensions.hpp"
#include "settings/private_server.hpp"
#include "tune/child_processes.hpp"

namespace wattune {

namespace {

std::atomic<bool> exists = false;

}  // namespace

Runtime::Runtime(int argc, char** argv) {
  close_registration();
  exists = true;
  if (argc != 2) return;
  const std::string_view command = argv[1];
  if (command == settings_server_command) std::exit(run_private_server());
  if (command != worker_command && command != compile_command) return;
  Channel channel{FileDescriptor{Child::channel_fd}};
  const int code = command == worker_command ? run_worker(std::move(channel)) : run_compiler(std::move(channel));
  std::exit(code);
}

bool runtime_exists() noexcept {
  return exists;
}

}  // namespace wattune
