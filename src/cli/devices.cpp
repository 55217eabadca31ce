#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "report/table.hpp"
#include "tune/backends.hpp"
#include "tune/wire.hpp"
#include "tune/worker_client.hpp"

namespace wattune::cli {

int run_devices(const DevicesArguments& arguments) {
  const auto found = find_devices(backend_names());
  std::size_t count = 0;
  std::string problems;
  nlohmann::json devices = nlohmann::json::array();
  Table table({{"device"}, {"name"}, {"kind"}, {"units", Table::Align::right}, {"memory", Table::Align::right}, {"platform"}, {"driver"}, {"UUID or PCI id"}});
  for (const auto& backend : found) {
    if (!backend.problem.empty()) problems += fmt::format("{}: {}\n", backend.backend, backend.problem);
    for (const auto& d : backend.devices) {
      ++count;
      devices.push_back(to_json(d));
      table.add_row({d.id, d.name, d.kind, std::to_string(d.compute_units),
                     fmt::format("{:.1f} GiB", static_cast<double>(d.global_memory) / (1U << 30)), d.platform, d.driver,
                     d.uuid.empty() ? d.pci : d.uuid});
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", nlohmann::json{{"devices", devices}}.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (count > 0) {
    fmt::print("{}", table.text());
  }
  say("{}", problems);
  if (count == 0) throw DeviceError("no device was found; see above what each backend lacks");
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
