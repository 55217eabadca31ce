#include "tune/simulated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "backend/cuda/simulation.hpp"
#include "base/error.hpp"

namespace wattune {

std::unique_ptr<Clock> prepare_simulation(const std::string& device, const std::filesystem::path& folder) {
  const std::string_view prefix = simulated_prefix;
  if (!device.starts_with(prefix)) return nullptr;
  constexpr const char* variable = "WATTUNE_SIM_STATE";
  if (environment(variable).empty()) ::setenv(variable, (folder / "simulated-gpus").c_str(), 1);
  const auto simulation = Simulation::load();
  const auto names = simulation->board_names();
  const auto found = std::find(names.begin(), names.end(), device.substr(prefix.size()));
  if (found == names.end()) {
    throw DeviceError(fmt::format("--device {}: there is no such simulated GPU; there {}: sim:{}", device,
                                  names.size() == 1 ? "is" : "are", fmt::join(names, ", sim:")));
  }
  return simulation->clock(static_cast<unsigned>(found - names.begin()));
}

}  // namespace wattune
