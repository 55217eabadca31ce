// The system-wide settings server.

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "driver/nvml_settings.hpp"
#include "settings/client.hpp"
#include "settings/server.hpp"

namespace wattune::cli {

int run_wattuned(const WattunedArguments& arguments) {
  refuse_if_read_only("serve device settings");
  const std::filesystem::path usual = "/etc/wattune/wattuned.json";
  SettingsServerOptions options;
  const bool named = !arguments.config.empty();
  const std::filesystem::path config = named ? std::filesystem::path(arguments.config) : usual;
  std::error_code error;
  if (named || std::filesystem::exists(config, error)) {
    options.config = parse_server_config(read_file(config, "wattuned's configuration"), config.string());
  }
  const std::string socket = arguments.socket.empty() ? system_server_socket() : arguments.socket;
  // The folder is made before the socket, which usually lies in it.
  static_cast<void>(SettingsFolder::open());
  options.listener = listen_for_settings(socket);
  options.open = [](const BoardName& name) { return open_nvml_board(name.uuid, name.pci, name.library); };
  options.log = [](const std::string& text) { say("wattuned: {}\n", text); };
  say("wattuned: listening at {}; {}\n", socket,
      options.config.group.empty() ? std::string("root only, for no group is configured")
                                   : fmt::format("root and members of '{}'", options.config.group));
  const int code = serve_settings(std::move(options));
  std::filesystem::remove(socket, error);
  return code;
}

}  // namespace wattune::cli
