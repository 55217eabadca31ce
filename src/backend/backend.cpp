#include "backend/backend.hpp"

namespace wattune {

std::string DeviceInfo::board() const {
  if (!uuid.empty()) return uuid;
  if (!pci.empty()) return "pci:" + pci;
  return name + " (" + platform + ")";
}

}  // namespace wattune
