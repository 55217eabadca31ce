#pragma once
// What a run on a simulated GPU needs beside what any run needs.

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.hpp"

namespace wattune {

/// Readies a run on a simulated device: its machine's state lies in `folder` (unless WATTUNE_SIM_STATE names a file),
/// and this process and those it starts find it by that variable.
/// @param device as the user names it @return the device's clock, by which budgets count; null for real devices.
/// @throws DeviceError that lists the simulated GPUs there are; UsageError for faulty variables (WATTUNE_SIM_...).
std::unique_ptr<Clock> prepare_simulation(const std::string& device, const std::filesystem::path& folder);

}  // namespace wattune
