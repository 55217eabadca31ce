#include "problem/quantities.hpp"

#include <algorithm>
#include <array>

namespace wattune {

namespace {

constexpr std::array quantities{
    MeasuredQuantity{"time", "s", false, Direction::minimize},
    MeasuredQuantity{"energy", "J", true, Direction::minimize},
    MeasuredQuantity{"power", "W", true, Direction::minimize},
    MeasuredQuantity{"energy_bound", "J", true, Direction::minimize},
    MeasuredQuantity{"time_min", "s", false, Direction::minimize},
    MeasuredQuantity{"time_spread", "s", false, Direction::minimize},
    MeasuredQuantity{"reset_time", "s"},
    MeasuredQuantity{"max_error", "", false, Direction::minimize},
    MeasuredQuantity{"sm_clock", "Hz", true},
    MeasuredQuantity{"memory_clock", "Hz", true},
    MeasuredQuantity{"temperature", "degC", true},
    MeasuredQuantity{"registers", ""},
    MeasuredQuantity{"shared_memory", "B"},
    MeasuredQuantity{"occupancy", ""},
};

}  // namespace

std::span<const MeasuredQuantity> measured_quantities() {
  return quantities;
}

const MeasuredQuantity* find_measured_quantity(std::string_view name) {
  const auto found = std::find_if(quantities.begin(), quantities.end(),
                                  [&](const MeasuredQuantity& quantity) { return quantity.name == name; });
  return found == quantities.end() ? nullptr : &*found;
}

std::vector<std::string> measured_quantity_names() {
  std::vector<std::string> names;
  for (const auto& quantity : quantities) names.emplace_back(quantity.name);
  return names;
}

}  // namespace wattune
