#pragma once
// Who else computes on a board: others take their share of its time and power.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/nvml.hpp"

namespace wattune {

class BoardUsers {
 public:
  /// Finds the board as open_nvml_meter() does. Without NVML, or where that does not know the board, nothing is known.
  explicit BoardUsers(const std::string& uuid, const std::string& pci, const std::string& library = {});

  /// Processes that compute on the board and are not of this run, as "NAME (pid NUMBER)". Nothing where that is not
  /// known: this process, which must hold a context on the board, is not listed itself, as in containers that see only
  /// their own processes.
  [[nodiscard]] std::optional<std::vector<std::string>> others() const;

 private:
  std::shared_ptr<const Nvml> nvml_;
  NvmlDevice device_ = nullptr;
};

}  // namespace wattune
