#include "method/reach.hpp"

#include <algorithm>

namespace wattune {

Reach reach_shown_by(const Evaluation& evaluation) {
  if (!evaluation.ok()) return Reach::failed;
  const bool is_capped = std::ranges::any_of(evaluation.quantities, [](const auto& entry) {
    return std::ranges::find(entry.second.flags, "power_capped") != entry.second.flags.end();
  });
  return is_capped ? Reach::unknown : Reach::reached;
}

}  // namespace wattune
