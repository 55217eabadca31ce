#pragma once
// The meters that NVML offers on a board, whether or not they are used.

#include <string>
#include <vector>

namespace wattune {

struct MeterDescription {
  std::string name;                     ///< "nvml-counter", "nvml-average", "nvml-instant", "nvml-samples"
  std::vector<std::string> quantities;  ///< "energy", "power", and what comes with them
};

/// Asks each meter once. Finds the board as open_nvml_meter() does. @param why_not set where the result is empty.
std::vector<MeterDescription> nvml_meters(const std::string& uuid, const std::string& pci, std::string* why_not,
                                          const std::string& library = {});

}  // namespace wattune
