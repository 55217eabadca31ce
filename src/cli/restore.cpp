#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "driver/nvml_settings.hpp"
#include "settings/keeper.hpp"

namespace wattune::cli {

int run_restore(const RestoreArguments& arguments) {
  using State = RestoreReport::State;
  const auto folder = SettingsFolder::open();
  std::vector<std::string> problems;
  if (!folder.records(&problems).empty()) refuse_if_read_only("put device settings back");
  problems.clear();
  const BoardOpener open = [](const BoardName& name) { return open_nvml_board(name.uuid, name.pci, name.library); };
  const auto reports = restore_all(folder, open, &problems);
  bool failed = !problems.empty();
  for (const auto& report : reports) {
    const bool is_error = report.state == State::failed || (report.state == State::in_use && !arguments.stale);
    failed = failed || is_error;
    if (is_error) {
      say("wattune: {}\n", report.message);
    } else if (report.state != State::in_use) {
      fmt::print("{}\n", report.message);
    }
  }
  for (const auto& problem : problems) say("wattune: {}; remove it once the board's settings are right\n", problem);
  if (reports.empty() && problems.empty() && !arguments.stale) {
    fmt::print("Nothing to put back: '{}' holds no record of changed settings\n", folder.path().string());
  }
  return static_cast<int>(failed ? ExitCode::run_failed : ExitCode::done);
}

}  // namespace wattune::cli
