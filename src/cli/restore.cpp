#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "driver/nvml_settings.hpp"
#include "settings/keeper.hpp"

namespace wattune::cli {

namespace {

/// What became of the records of one folder.
struct Restored {
  std::vector<RestoreReport> reports;
  std::vector<std::string> problems;
};

Restored restore(const SettingsFolder& folder) {
  Restored restored;
  if (folder.records(&restored.problems).empty()) return restored;
  restored.problems.clear();
  refuse_if_read_only("put device settings back");
  const BoardOpener open = [](const BoardName& name) { return open_nvml_board(name.uuid, name.pci, name.library); };
  restored.reports = restore_all(folder, open, &restored.problems);
  return restored;
}

}  // namespace

int run_restore(const RestoreArguments& arguments) {
  using State = RestoreReport::State;
  bool failed = false;
  bool found = false;
  std::vector<std::filesystem::path> looked_in;
  for (const bool simulated : {false, true}) {
    const auto folder = SettingsFolder::open(simulated);
    if (!looked_in.empty() && folder.path() == looked_in.front()) break;
    looked_in.push_back(folder.path());
    const Restored restored = restore(folder);
    for (const auto& report : restored.reports) {
      found = true;
      const bool is_error = report.state == State::failed || (report.state == State::in_use && !arguments.stale);
      failed = failed || is_error;
      if (is_error) {
        say("wattune: {}\n", report.message);
      } else if (report.state != State::in_use) {
        fmt::print("{}\n", report.message);
      }
    }
    for (const auto& problem : restored.problems) {
      found = failed = true;
      say("wattune: {}\n", problem);
    }
  }
  if (!found && !arguments.stale) {
    fmt::print("Nothing to put back: '{}' holds no record of changed settings\n", looked_in.back().string());
  }
  return static_cast<int>(failed ? ExitCode::run_failed : ExitCode::done);
}

}  // namespace wattune::cli
