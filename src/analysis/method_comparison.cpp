#include "analysis/method_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "analysis/search_quality.hpp"
#include "analysis/setting_grid.hpp"
#include "base/error.hpp"
#include "method/answer.hpp"
#include "method/model_steered.hpp"
#include "model/power_fit.hpp"
#include "result/order.hpp"
#include "result/trials.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

namespace {

/// Of a method by enumeration: at so many clocks the power of one variant is measured for the model, and so many of the
/// best at either clock are carried to others.
constexpr std::size_t modelled_clocks = 10;
constexpr std::size_t carried = 3;

using Cells = std::vector<const GridCell*>;

void add_quantity(Results& results, const std::string& name,
                  const std::function<std::optional<double>(const Evaluation&)>& derived, const std::string& unit) {
  std::string recorded;
  try {
    recorded = quantity_named(results, name);
  } catch (const UsageError&) {
    recorded.clear();
  }
  for (Evaluation& evaluation : results.evaluations) {
    if (!evaluation.ok() || evaluation.quantities.contains(name)) continue;
    const auto same = evaluation.quantities.find(recorded);
    if (same != evaluation.quantities.end()) {
      evaluation.quantities[name] = same->second;
    } else if (const auto value = derived(evaluation)) {
      evaluation.quantities[name] = {*value, unit, std::numeric_limits<double>::quiet_NaN(), 1, {}};
    }
  }
}

std::optional<double> value_of(const Evaluation& evaluation, const std::string& name) {
  return objective_value(evaluation, {name, Direction::minimize});
}

/// @pre SM clocks are recorded
double nearest_clock(const SettingAxes& axes, double mhz) {
  const auto axis = axes.axis_named(parameter_of(Setting::sm_clock)).value();
  return axes.values(axis)[axes.at_clock(mhz)[axis]];
}

/// What lies between recorded clocks has one nearby. What lies beyond is a slip.
void require_in_range(const SettingAxes& axes, double base_clock) {
  const auto axis = axes.axis_named(parameter_of(Setting::sm_clock));
  if (!axis) return;
  const auto [least, greatest] = std::ranges::minmax(axes.values(*axis));
  if (base_clock >= least && base_clock <= greatest) return;
  throw UsageError(fmt::format("--base-clock {:.10g}: {:g} to {:g} MHz are recorded, the nearest clock is {:g} MHz",
                               base_clock, least, greatest, nearest_clock(axes, base_clock)));
}

class Enumeration {
 public:
  Enumeration(const Results& results, const ComparisonOptions& options)
      : results_(results), options_(options), grid_(results, kinds_of(results)) {
    for (const GridCell& cell : grid_.cells) all_.push_back(&cell);
    if (options_.base_clock) require_in_range(grid_.axes, *options_.base_clock);
    top_ = greatest_that_works();
    maximum_ = at(top_);
  }

  ComparedMethod compare(const MethodDescription& method) {
    ComparedMethod compared;
    compared.name = method.name;
    compared.parameter_names = results_.header.parameter_names;
    if (grid_.axes.combinations() < 2) {
      if (method.need == NeedOfSettings::settings)
        compared.missing = "one clock is recorded";
      else
        compared.remark = "at default clocks";
    }
    if (compared.missing.empty()) find(method, compared);
    return compared;
  }

 private:
  struct Found {
    const GridCell* answer = nullptr;
    std::set<const GridCell*> used;
    std::optional<std::size_t> settings;  ///< in which configurations were searched, where it measured at more
  };

  void find(const MethodDescription& method, ComparedMethod& compared) {
    Found found;
    if (method.is_two_step) {
      const auto start = start_of(method, compared);
      if (!start) return;
      found = two_step(at(*start), method.first_for_time);
    } else if (method.name == "energy-at-max") {
      found = among(maximum_, efficiency());
    } else if (method.name == "model-steered") {
      found = model_steered(compared);
    } else if (method.name == "two-clock") {
      found = two_clock();
    } else {
      found = among(all_, method.for_time ? speed() : efficiency());
    }
    if (found.answer == nullptr) {
      if (compared.missing.empty()) compared.missing = "nothing succeeded where it begins";
      return;
    }
    compared.answer = *found.answer->evaluation;
    count(found, compared);
  }

  std::optional<SettingPoint> start_of(const MethodDescription& method, ComparedMethod& compared) const {
    if (!method.at_base_clock) return top_;
    const bool has_clocks = grid_.axes.axis_named(parameter_of(Setting::sm_clock)).has_value();
    if (has_clocks && options_.base_clock) {
      const double nearest = nearest_clock(grid_.axes, *options_.base_clock);
      if (nearest != *options_.base_clock)
        compared.remark = fmt::format("begins at {:g} MHz, the nearest clock that is recorded", nearest);
      return grid_.axes.at_clock(nearest);
    }
    compared.missing = has_clocks ? "no base clock: give --base-clock" : "no SM clock is recorded";
    return std::nullopt;
  }

  /// Boards do not reach every clock that they accept: all fails there.
  [[nodiscard]] SettingPoint greatest_that_works() const {
    SettingPoint settings = grid_.axes.maximum();
    const auto main = grid_.axes.main();
    if (!main) return settings;
    const auto& ascending = grid_.axes.ascending(*main);
    for (std::size_t rank = ascending.size(); rank-- > 0;) {
      settings[*main] = ascending[rank];
      if (best(at(settings), efficiency()) != nullptr) return settings;
    }
    return grid_.axes.maximum();
  }

  [[nodiscard]] Objective efficiency() const { return options_.efficiency; }
  [[nodiscard]] static Objective speed() { return {"time", Direction::minimize}; }

  [[nodiscard]] Cells at(const SettingPoint& settings) const {
    return where([&](const GridCell& cell) { return cell.settings == settings; });
  }
  [[nodiscard]] Cells of(std::size_t variant) const {
    return where([&](const GridCell& cell) { return cell.variant == variant; });
  }
  template <typename Counts>
  [[nodiscard]] Cells where(Counts counts) const {
    Cells cells;
    std::ranges::copy_if(all_, std::back_inserter(cells), [&](const GridCell* cell) { return counts(*cell); });
    return cells;
  }

  static const GridCell* best(const Cells& cells, const Objective& objective) {
    const GridCell* best = nullptr;
    for (const GridCell* cell : cells) {
      if (!objective_value(*cell->evaluation, objective)) continue;
      if (best == nullptr || better(*cell->evaluation, *best->evaluation, objective)) best = cell;
    }
    return best;
  }

  static Found among(const Cells& cells, const Objective& objective) {
    return {best(cells, objective), {cells.begin(), cells.end()}, std::nullopt};
  }

  Found two_step(const Cells& first, bool for_time) const {
    const GridCell* start = best(first, for_time ? speed() : efficiency());
    if (start == nullptr) return {};
    Found found = among(of(start->variant), efficiency());
    found.used.insert(first.begin(), first.end());
    return found;
  }

  /// The variant of highest power at maximum clock gives the model.
  Found model_steered(ComparedMethod& compared) const {
    const auto axis = grid_.axes.axis_named(parameter_of(Setting::sm_clock));
    if (!axis || grid_.axes.values(*axis).size() < 2) {
      compared.missing = "one SM clock is recorded";
      return {};
    }
    const auto power = [&](const GridCell* cell) {
      const auto sample = power_sample_of(*cell->evaluation, clock_of(*cell, *axis));
      return sample ? sample->power_w : 0;
    };
    const auto most = std::ranges::max_element(maximum_, {}, power);
    if (most == maximum_.end() || power(*most) <= 0) {
      compared.missing = "no power is recorded";
      return {};
    }
    const auto& ascending = grid_.axes.ascending(*axis);
    std::set<std::uint32_t> positions;
    for (std::size_t i = 0; i < modelled_clocks; ++i)
      positions.insert(ascending[i * (ascending.size() - 1) / (modelled_clocks - 1)]);
    std::vector<PowerSample> samples;
    Cells sampled;
    for (const GridCell* cell : of((*most)->variant)) {
      auto same_but_clock = cell->settings;
      same_but_clock[*axis] = (*most)->settings[*axis];
      if (same_but_clock != (*most)->settings || !positions.contains(cell->settings[*axis])) continue;
      sampled.push_back(cell);
      if (const auto sample = power_sample_of(*cell->evaluation, clock_of(*cell, *axis))) samples.push_back(*sample);
    }
    std::set<double> modelled;
    for (const auto& sample : samples) modelled.insert(sample.clock_hz);
    if (const std::size_t needed = least_clocks(PowerForm::free, false); modelled.size() < needed) {
      compared.remark =
          fmt::format("the model needs power at {} clocks, {} are recorded: all are searched", needed, modelled.size());
    }
    const auto clocks = recommended_clocks(samples, grid_.axes.values(*axis));
    const Cells searched =
        where([&](const GridCell& cell) { return std::ranges::find(clocks, clock_of(cell, *axis)) != clocks.end(); });
    Found found = among(searched, efficiency());
    std::set<SettingPoint> settings;
    for (const GridCell* cell : searched) settings.insert(cell->settings);
    found.settings = settings.size();
    found.used.insert(sampled.begin(), sampled.end());
    return found;
  }

  /// The second clock is that of the best variant at maximum clock.
  Found two_clock() const {
    const GridCell* first = best(maximum_, efficiency());
    if (first == nullptr) return {};
    const Cells probed = of(first->variant);
    const Cells second = at(best(probed, efficiency())->settings);
    Cells candidates = probed;
    for (const Cells* side : {&maximum_, &second}) {
      Cells ranked = *side;
      std::ranges::stable_sort(ranked, [&](const GridCell* a, const GridCell* b) {
        return better(*a->evaluation, *b->evaluation, efficiency());
      });
      ranked.resize(std::min(ranked.size(), carried));
      for (const GridCell* cell : ranked) std::ranges::copy(of(cell->variant), std::back_inserter(candidates));
    }
    Found found = among(candidates, efficiency());
    found.used.insert(maximum_.begin(), maximum_.end());
    found.used.insert(second.begin(), second.end());
    return found;
  }

  [[nodiscard]] double clock_of(const GridCell& cell, std::size_t axis) const {
    return grid_.axes.values(axis)[cell.settings[axis]];
  }

  static void count(const Found& found, ComparedMethod& compared) {
    std::set<SettingPoint> settings;
    double seconds = 0;
    for (const GridCell* cell : found.used) {
      settings.insert(cell->settings);
      seconds += tuning_seconds(*cell->evaluation).value_or(0);
    }
    compared.evaluations = found.used.size();
    compared.settings = found.settings.value_or(settings.size());
    if (seconds > 0) compared.seconds = seconds;
  }

  const Results& results_;
  const ComparisonOptions& options_;
  SettingGrid grid_;
  Cells all_;
  SettingPoint
      top_;        ///< every setting at its greatest value, the main one at the greatest at which something succeeded
  Cells maximum_;  ///< at that
};

std::optional<std::string> method_of_run(const std::string& run) {
  const std::size_t colon = run.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string name = run.substr(0, colon);
  const auto& all = method_descriptions();
  const bool known = std::ranges::any_of(all, [&](const MethodDescription& method) { return method.name == name; });
  return known ? std::optional(name) : std::nullopt;
}

}  // namespace

std::vector<ParameterKind> kinds_of(const Results& results) {
  std::vector<ParameterKind> kinds;
  for (std::size_t i = 0; i < results.header.parameter_names.size(); ++i) {
    const bool is_setting = i < results.header.parameter_kinds.size()
                                ? results.header.parameter_kinds[i] == to_string(ParameterKind::device_setting)
                                : setting_of(results.header.parameter_names[i]).has_value();
    kinds.push_back(is_setting ? ParameterKind::device_setting : ParameterKind::code);
  }
  return kinds;
}

void complete_energy(Results& results) {
  add_quantity(
      results, "power", [](const Evaluation&) { return std::nullopt; }, "W");
  add_quantity(
      results, "energy",
      [](const Evaluation& evaluation) -> std::optional<double> {
        const auto power = value_of(evaluation, "power");
        const auto time = value_of(evaluation, "time");
        return power && time ? std::optional(*power * *time) : std::nullopt;
      },
      "J");
  add_quantity(
      results, "power",
      [](const Evaluation& evaluation) -> std::optional<double> {
        const auto energy = value_of(evaluation, "energy");
        const auto time = value_of(evaluation, "time");
        return energy && time ? std::optional(*energy / *time) : std::nullopt;
      },
      "W");
}

void require_recorded_base_clock(const Results& results, double mhz) {
  require_in_range(SettingGrid(results, kinds_of(results)).axes, mhz);
}

Coverage coverage_of(const Results& results) {
  const SettingGrid grid(results, kinds_of(results));
  std::set<SettingPoint> settings;
  std::set<std::size_t> variants;
  for (const GridCell& cell : grid.cells) {
    settings.insert(cell.settings);
    variants.insert(cell.variant);
  }
  Coverage coverage{grid.cells.size(), settings.size() * variants.size(), std::nullopt};
  // Only a journal lists all values and restrictions.
  if (results.format != ResultFormat::journal || results.header.problem_hash.empty()) return coverage;
  std::vector<Restriction> restrictions;
  for (const auto& expression : results.header.restrictions)
    restrictions.push_back({expression, "restrictions of the results"});
  try {
    coverage.valid = SearchSpace::build(parameters_of(results), std::move(restrictions)).size();
  } catch (const UsageError&) {
    coverage.valid.reset();  // too tangled to be counted
  }
  return coverage;
}

std::vector<ComparedMethod> enumerate_methods(const Results& results, const ComparisonOptions& options) {
  const bool has_objective = std::ranges::any_of(results.evaluations, [&](const Evaluation& evaluation) {
    return objective_value(evaluation, options.efficiency).has_value();
  });
  if (!has_objective) throw UsageError(why_none_has(results, options.efficiency.name));
  Enumeration enumeration(results, options);
  std::vector<ComparedMethod> compared;
  for (const auto& method : method_descriptions()) compared.push_back(enumeration.compare(method));
  return compared;
}

ComparedMethod compare_run(const std::string& method, const std::vector<std::string>& parameter_names,
                           const std::vector<ParameterKind>& kinds, std::span<const Evaluation> evaluations,
                           const ComparisonOptions& options) {
  ComparedMethod compared;
  compared.name = method;
  compared.parameter_names = parameter_names;
  MethodSetup setup;
  setup.efficiency = options.efficiency;
  setup.kinds = kinds;
  MethodAnswer answer(method, parameter_names, setup);
  std::set<std::string> settings;
  double seconds = 0;
  for (const auto& evaluation : evaluations) {
    answer.add(evaluation);
    seconds += tuning_seconds(evaluation).value_or(0);
    if (evaluation.tier == "screen") ++compared.evaluations;
    std::vector<Value> values;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == ParameterKind::device_setting) values.push_back(evaluation.configuration[i]);
    }
    std::string key;
    append_key(key, values);
    settings.insert(std::move(key));
  }
  if (answer.best() != nullptr)
    compared.answer = *answer.best();
  else
    compared.missing = "nothing succeeded";
  if (std::ranges::find(kinds, ParameterKind::device_setting) == kinds.end()) compared.remark = "at default clocks";
  compared.settings = settings.size();
  if (seconds > 0) compared.seconds = seconds;
  return compared;
}

std::vector<ComparedMethod> recorded_runs(const Results& results, const ComparisonOptions& options) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Evaluation>> runs;
  std::map<std::string, std::vector<Evaluation>> finals;  // by configuration
  const auto key_of = [](const Evaluation& evaluation) {
    std::string key;
    append_key(key, evaluation.configuration);
    return key;
  };
  for (const auto& evaluation : results.evaluations) {
    if (evaluation.tier == "final" && evaluation.ok()) finals[key_of(evaluation)].push_back(evaluation);
    const auto method = method_of_run(evaluation.run);
    if (!method || evaluation.tier != "screen") continue;
    auto& run = runs[*method];
    if (run.empty()) order.push_back(*method);
    run.push_back(evaluation);
  }
  std::vector<ComparedMethod> compared;
  for (const auto& method : order) {
    std::vector<Evaluation> run = runs.at(method);
    for (std::size_t i = 0, count = run.size(); i < count; ++i) {
      const auto trials = finals.find(key_of(run[i]));
      if (trials != finals.end()) run.push_back(mean_of_trials(trials->second));
    }
    compared.push_back(compare_run(method, results.header.parameter_names, kinds_of(results), run, options));
  }
  return compared;
}

void set_gaps(std::vector<ComparedMethod>& methods, const Objective& efficiency, std::span<const double> known) {
  std::optional<double> optimum;
  const auto offer = [&](double value) {
    const bool is_better =
        !optimum || (efficiency.direction == Direction::minimize ? value < *optimum : value > *optimum);
    if (is_better) optimum = value;
  };
  for (const double value : known) offer(value);
  const auto value_in = [&](const ComparedMethod& method) {
    return method.answer ? objective_value(*method.answer, efficiency) : std::nullopt;
  };
  for (const auto& method : methods) {
    if (const auto value = value_in(method)) offer(*value);
  }
  for (auto& method : methods) {
    const auto value = value_in(method);
    if (value && optimum) method.gap = gap_of(*value, *optimum, efficiency.direction);
  }
}

double CommonClock::energy() const {
  double sum = 0;
  for (const auto& kernel : kernels) sum += kernel.energy;
  return sum;
}

double CommonClock::own_energy() const {
  double sum = 0;
  for (const auto& kernel : kernels) sum += kernel.own_energy;
  return sum;
}

namespace {

/// Files that do not say their device are taken for its.
void check_one_device_model(std::span<const Results> kernels, std::span<const std::string> files) {
  std::size_t first = 0;
  while (first < kernels.size() && kernels[first].header.device_name.empty()) ++first;
  for (std::size_t i = first + 1; i < kernels.size(); ++i) {
    const auto& name = kernels[i].header.device_name;
    if (name.empty() || name == kernels[first].header.device_name) continue;
    throw UsageError(fmt::format("--common-clock: '{}' is of a '{}', '{}' of a '{}'; name results of one device model",
                                 files[first], kernels[first].header.device_name, files[i], name));
  }
}

}  // namespace

CommonClock common_clock(std::span<const Results> kernels, std::span<const std::string> files) {
  check_one_device_model(kernels, files);
  std::vector<std::map<double, double>> least(kernels.size());  // energy by clock
  std::map<double, std::size_t> present;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const SettingGrid grid(kernels[k], kinds_of(kernels[k]));
    const auto axis = grid.axes.axis_named(parameter_of(Setting::sm_clock));
    if (!axis) throw UsageError(fmt::format("--common-clock: '{}' has no parameter nvml_gr_clock", files[k]));
    for (const GridCell& cell : grid.cells) {
      const auto energy = value_of(*cell.evaluation, "energy");
      if (!energy) continue;
      const auto [entry, is_new] = least[k].try_emplace(grid.axes.values(*axis)[cell.settings[*axis]], *energy);
      if (!is_new) entry->second = std::min(entry->second, *energy);
    }
    for (const auto& [clock, energy] : least[k]) ++present[clock];
  }
  std::optional<double> best;
  double best_sum = 0;
  for (const auto& [clock, count] : present) {
    if (count != kernels.size()) continue;
    double sum = 0;
    for (const auto& each : least) sum += each.at(clock);
    if (!best || sum < best_sum) best = clock, best_sum = sum;
  }
  if (!best)
    throw UsageError("--common-clock: there is no clock at which every file has the energy of a configuration");
  CommonClock result{*best, {}};
  for (const auto& each : least) {
    const auto own = std::ranges::min_element(each, {}, [](const auto& entry) { return entry.second; });
    result.kernels.push_back({own->first, own->second, each.at(*best)});
  }
  return result;
}

namespace {

/// The deviation of single times as a share of their mean: as it was measured, else from the mean's standard error.
double time_spread(const Evaluation& evaluation) {
  const auto time = evaluation.quantities.find("time");
  if (time == evaluation.quantities.end()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto spread = value_of(evaluation, "time_spread")) return *spread / time->second.value;
  if (time->second.n < 2) return std::numeric_limits<double>::quiet_NaN();
  return time->second.stderr_value * std::sqrt(static_cast<double>(time->second.n)) / time->second.value;
}

CappingSide capping_side(const Cells& cells, const Objective& efficiency) {
  CappingSide side;
  std::set<SettingPoint> settings;
  std::vector<double> spreads;
  for (const GridCell* cell : cells) {
    settings.insert(cell->settings);
    if (!objective_value(*cell->evaluation, efficiency)) continue;
    if (!side.best || better(*cell->evaluation, *side.best, efficiency)) side.best = *cell->evaluation;
    const double spread = time_spread(*cell->evaluation);
    if (std::isfinite(spread)) spreads.push_back(spread);
  }
  side.settings = settings.size();
  if (!spreads.empty()) {
    const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
    std::ranges::nth_element(spreads, middle);
    side.time_spread = *middle;
  }
  return side;
}

}  // namespace

std::optional<Capping> compare_capping(const Results& results, const Objective& efficiency) {
  const SettingGrid grid(results, kinds_of(results));
  const auto limit = grid.axes.axis_named(parameter_of(Setting::power_limit));
  if (!limit || grid.axes.values(*limit).size() < 2) return std::nullopt;
  const auto clock = grid.axes.axis_named(parameter_of(Setting::sm_clock));
  const SettingPoint maximum = grid.axes.maximum();
  Cells by_clock;
  Cells by_limit;
  for (const GridCell& cell : grid.cells) {
    if (clock && cell.settings[*limit] == maximum[*limit]) by_clock.push_back(&cell);
    if (!clock || cell.settings[*clock] == maximum[*clock]) by_limit.push_back(&cell);
  }
  return Capping{capping_side(by_clock, efficiency), capping_side(by_limit, efficiency)};
}

}  // namespace wattune
