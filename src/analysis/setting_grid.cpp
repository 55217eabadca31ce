#include "analysis/setting_grid.hpp"

#include <algorithm>
#include <unordered_map>

#include "result/order.hpp"

namespace wattune {

SettingGrid::SettingGrid(const Results& results, const std::vector<ParameterKind>& kinds)
    : axes(parameters_of(results), kinds) {
  std::unordered_map<std::string, std::size_t> variants;
  for (const std::size_t i : competing(results.evaluations)) {
    const Evaluation& evaluation = results.evaluations[i];
    std::vector<Value> variant = evaluation.configuration;
    SettingPoint settings;
    bool is_inside = true;
    for (std::size_t axis = 0; axis < axes.places().size(); ++axis) {
      const std::size_t place = axes.places()[axis];
      const auto& values = results.header.parameter_values[place];
      const auto found = std::find(values.begin(), values.end(), evaluation.configuration[place]);
      is_inside = is_inside && found != values.end();
      settings.push_back(static_cast<std::uint32_t>(found - values.begin()));
      variant[place] = 0;
    }
    if (!is_inside) continue;
    std::string key;
    append_key(key, variant);
    cells.push_back({&evaluation, std::move(settings), variants.try_emplace(key, variants.size()).first->second});
  }
}

}  // namespace wattune
