#include "method/method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "method/model_steered.hpp"
#include "method/two_clock.hpp"
#include "method/two_step.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

namespace {

using Make = std::unique_ptr<Strategy> (*)(MethodInputs inputs);

std::unique_ptr<Strategy> make_race_to_idle(MethodInputs inputs) {
  const Objective speed = inputs.setup.speed;
  return make_everywhere(std::move(inputs), speed);
}

std::unique_ptr<Strategy> make_energy_to_solution(MethodInputs inputs) {
  const Objective efficiency = inputs.setup.efficiency;
  return make_everywhere(std::move(inputs), efficiency);
}

std::unique_ptr<Strategy> make_energy_at_max(MethodInputs inputs) {
  const Objective efficiency = inputs.setup.efficiency;
  return make_at_top(std::move(inputs), efficiency);
}

std::unique_ptr<Strategy> make_race_then_clocks(MethodInputs inputs) {
  const Objective speed = inputs.setup.speed;
  return make_two_step(std::move(inputs), std::nullopt, speed);
}

std::unique_ptr<Strategy> make_energy_then_clocks(MethodInputs inputs) {
  if (!inputs.axes.axis_named(parameter_of(Setting::sm_clock))) {
    throw UsageError(
        "method energy-to-solution+clocks begins at the base clock, and the space has no SM clocks (nvml_gr_clock)");
  }
  if (!inputs.setup.base_clock) {
    throw UsageError(
        "method energy-to-solution+clocks begins at the base clock, which is not known here; name it with --base-clock "
        "MHZ");
  }
  const Objective efficiency = inputs.setup.efficiency;
  const SettingPoint base = inputs.axes.at_clock(*inputs.setup.base_clock);
  return make_two_step(std::move(inputs), base, efficiency);
}

std::unique_ptr<Strategy> make_steered(MethodInputs inputs) {
  return inputs.setup.clocks_are_chosen ? make_energy_to_solution(std::move(inputs))
                                        : make_model_steered(std::move(inputs));
}

/// With a single combination of settings there is nothing to carry.
std::unique_ptr<Strategy> make_two_clock_or_one(MethodInputs inputs) {
  return inputs.axes.main() ? make_two_clock(std::move(inputs)) : make_energy_to_solution(std::move(inputs));
}

struct MethodEntry {
  MethodDescription description;
  Make make;
};

MethodEntry entry(std::string name, std::string summary, NeedOfSettings need, Make make) {
  return {{.name = std::move(name), .summary = std::move(summary), .need = need}, make};
}

const std::vector<MethodEntry>& entries() {
  static const std::vector<MethodEntry> all = [] {
    using enum NeedOfSettings;
    MethodEntry race =
        entry("race-to-idle", "the fastest configuration over all clocks searched", none, &make_race_to_idle);
    race.description.for_time = true;
    MethodEntry race_then_clocks =
        entry("race-to-idle+clocks", "the fastest at maximum clock, then its clock of least energy", settings,
              &make_race_then_clocks);
    race_then_clocks.description.is_two_step = true;
    race_then_clocks.description.first_for_time = true;
    MethodEntry energy_then_clocks =
        entry("energy-to-solution+clocks", "least energy at base clock, then its clock of least energy", settings,
              &make_energy_then_clocks);
    energy_then_clocks.description.is_two_step = true;
    energy_then_clocks.description.at_base_clock = true;
    return std::vector<MethodEntry>{
        std::move(race),
        entry("energy-at-max", "least energy at maximum clock", none, &make_energy_at_max),
        std::move(race_then_clocks),
        std::move(energy_then_clocks),
        entry("energy-to-solution", "least energy over configurations and clocks together", settings,
              &make_energy_to_solution),
        entry("model-steered", "the same at the clocks that a power-frequency model recommends", settings,
              &make_steered),
        entry("two-clock", "least energy at maximum clock and at a predicted one, the best carried to other clocks",
              settings, &make_two_clock_or_one),
    };
  }();
  return all;
}

const MethodEntry& entry_named(const std::string& name) {
  const auto& all = entries();
  const auto found = std::ranges::find(all, name, [](const MethodEntry& entry) { return entry.description.name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const auto& entry : all) names.push_back(entry.description.name);
  throw UsageError(fmt::format("--method: there is no method '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace

const std::vector<MethodDescription>& method_descriptions() {
  static const std::vector<MethodDescription> descriptions = [] {
    std::vector<MethodDescription> result;
    for (const auto& entry : entries()) result.push_back(entry.description);
    return result;
  }();
  return descriptions;
}

const MethodDescription& method_named(const std::string& name) {
  return entry_named(name).description;
}

std::unique_ptr<Strategy> make_method(const std::string& name, const SearchSpace& space, std::uint64_t seed,
                                      const MethodSetup& setup) {
  const MethodEntry& entry = entry_named(name);
  check_strategy(setup.strategy, setup.options);  // stages make theirs when they begin
  SettingAxes axes(space.parameters(), setup.kinds);
  if (axes.empty() && entry.description.need == NeedOfSettings::settings) {
    throw UsageError(fmt::format(
        "method {} searches clocks, and there are none in this space (nvml_gr_clock, nvml_mem_clock, nvml_pwr_limit)",
        name));
  }
  return entry.make({space, seed, setup, std::move(axes)});
}

}  // namespace wattune
