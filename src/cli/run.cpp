// A program under device settings that are put back when it ends.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "tune/setting_axes.hpp"
#include "tune/simulated.hpp"

extern char** environ;

namespace wattune::cli {

namespace {

using nlohmann::json;

/// As env and timeout do: failures of this command are told apart from those of the program.
constexpr int own_failure = 125;
constexpr int not_executable = 126;
constexpr int not_found = 127;

/// Settings from a file: {"nvml_gr_clock": 1200, "nvml_pwr_limit": 200}, in MHz and W; or a result of `tune --json`,
/// whose best configuration is taken.
DeviceSettings settings_from_file(const std::string& file) {
  json root;
  try {
    root = json::parse(read_file(file, "the settings"));
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("--settings {}: no JSON: {}", file, error.what()));
  }
  if (root.is_object() && root.contains("best") && root["best"].is_object() && !root["best"].empty()) {
    root = root["best"].front();
  }
  if (root.is_object() && root.contains("configuration")) root = json(root["configuration"]);
  DeviceSettings settings;
  if (root.is_object()) {
    for (const Setting setting : all_settings) {
      const auto found = root.find(std::string(parameter_of(setting)));
      if (found == root.end()) continue;
      if (!found->is_number() || !(found->get<double>() > 0)) {
        throw UsageError(fmt::format("--settings {}: {}: give a positive number in {}", file, parameter_of(setting),
                                     edge_unit(setting)));
      }
      settings.at(setting) = found->get<double>() * edge_scale(setting);
    }
  }
  if (settings.empty()) {
    throw UsageError(
        fmt::format("--settings {}: it holds no device setting; give nvml_gr_clock and nvml_mem_clock (MHz) "
                    "or nvml_pwr_limit (W)",
                    file));
  }
  return settings;
}

/// One value of an option that takes one.
void add_option(DeviceSettings& settings, Setting setting, const std::string& text, const Capabilities& capabilities,
                const std::string& option) {
  if (text.empty()) return;
  const auto values = select_settings(setting, text, capabilities, option);
  if (values.size() != 1) throw UsageError(fmt::format("{} {}: give one value", option, text));
  settings.at(setting) = values.front();
}

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  say("wattune run: cannot run '{}': {}\n", command.front(), system_error_text(error));
  return error == ENOENT ? -not_found : -not_executable;
}

/// Keeps the lease; sets again what was put back because the settings server was lost.
void keep(SettingsClient& client, const DeviceSettings& settings) {
  const std::string loss = client.keep_alive();
  if (loss.empty()) return;
  if (const std::string refusal = client.set(settings); !refusal.empty()) throw DeviceError(refusal);
  say("wattune run: {}; the program ran without its settings for a moment\n", loss);
}

/// Waits for the program, passes signals on to it, keeps the lease. @return its status as a shell has it.
int wait_for(pid_t pid, SettingsClient& client, const DeviceSettings& settings, const Interrupt& interrupt) {
  const FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  int passed_on = 0;
  bool lost = false;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    const int signal = interrupt.signal();
    if (signal != 0 && signal != passed_on) {
      // Ctrl-C reaches the program by itself, for it is in the terminal's foreground group.
      if (signal != SIGINT) ::kill(pid, signal);
      passed_on = signal;
    }
    if (!lost) {
      try {
        keep(client, settings);
      } catch (const Error& error) {
        lost = true;
        say("wattune run: {}; the program goes on without its settings\n", error.what());
      }
    }
    pollfd entries[3] = {{pidfd.get(), POLLIN, 0},
                         {passed_on == 0 ? interrupt.fd() : -1, POLLIN, 0},
                         {lost ? -1 : client.fd(), POLLIN, 0}};
    const double seconds = pidfd ? std::min(1.0, client.keep_alive_seconds()) : 0.01;
    ::poll(entries, 3, static_cast<int>(std::ceil(seconds * 1e3)));
  }
  constexpr int by_signal = 128;
  const int code = WIFSIGNALED(status) ? by_signal + WTERMSIG(status) : WEXITSTATUS(status);
  return lost && code == 0 ? own_failure : code;
}

int run_program(const RunArguments& arguments) {
  DeviceSettings settings;
  if (!arguments.settings_file.empty()) settings = settings_from_file(arguments.settings_file);
  const SettingChoice& choice = arguments.choice;
  std::vector<Setting> wanted;
  for (const Setting setting : all_settings) {
    if (settings.at(setting) || !choice.text(setting).empty()) wanted.push_back(setting);
  }
  if (wanted.empty())
    throw UsageError("nothing is to be set: give --settings FILE, --clocks, --memory-clocks or --power-limits");
  const Interrupt interrupt;
  const auto clock = prepare_simulation(arguments.device, std::filesystem::temp_directory_path());
  const auto client = open_settings(arguments.device, wanted, choice);
  const Capabilities& capabilities = client->capabilities();
  for (const Setting setting : all_settings) {
    add_option(settings, setting, choice.text(setting), capabilities, std::string(option_of(setting)));
  }
  if (!client->acquire(choice.wait_seconds, interrupt.fd())) return own_failure;
  if (const std::string refusal = client->set(settings); !refusal.empty()) throw DeviceError(refusal);
  say("wattune run: {} of {}\n", to_string(settings), capabilities.name);
  const pid_t pid = start(arguments.command);
  const int code = pid < 0 ? -pid : wait_for(pid, *client, settings, interrupt);
  if (const std::string problems = client->release(); !problems.empty()) {
    say("wattune run: {}\n", problems);
    if (code == 0) return own_failure;
  }
  return code;
}

}  // namespace

int run_run(const RunArguments& arguments) {
  try {
    return run_program(arguments);
  } catch (const Error& error) {
    say("wattune run: {}\n", error.what());
    return own_failure;
  }
}

}  // namespace wattune::cli
