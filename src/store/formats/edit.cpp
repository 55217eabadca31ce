#include "store/formats/edit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "result/order.hpp"
#include "space/search_space.hpp"
#include "store/formats/record_text.hpp"

namespace wattune {

namespace {

std::string shown(const Evaluation& evaluation) {
  std::string text;
  for (const Value& value : evaluation.configuration) text += (text.empty() ? "(" : ", ") + value.str();
  return text + ")";
}

std::string key_of(const Evaluation& evaluation) {
  std::string key = evaluation.tier + ' ';
  append_key(key, evaluation.configuration);
  return key;
}

/// What two evaluations share when they are the same measurement. The number of a trial is not part of it: files number
/// their own.
std::string fingerprint(const Evaluation& evaluation) {
  std::string key = key_of(evaluation);
  key += fmt::format("{} {} {}", to_string(evaluation.outcome), evaluation.timestamp, evaluation.board);
  for (const auto& [name, quantity] : evaluation.quantities) key += fmt::format(" {}={}", name, quantity.value);
  return key;
}

/// Of each of `theirs`, its place in `ours`. @throws UsageError where they are not the same names.
std::vector<std::size_t> places_of(const std::vector<std::string>& theirs, const std::vector<std::string>& ours,
                                   const std::string& file) {
  std::vector<std::size_t> places;
  for (const auto& name : theirs) {
    const auto found = std::find(ours.begin(), ours.end(), name);
    if (found != ours.end()) places.push_back(static_cast<std::size_t>(found - ours.begin()));
  }
  if (places.size() != theirs.size() || theirs.size() != ours.size()) {
    throw UsageError(fmt::format("cannot merge '{}': its parameters are {}, those of the first file {}", file,
                                 fmt::join(theirs, ", "), fmt::join(ours, ", ")));
  }
  return places;
}

void require_same(const std::string& what, const std::string& first, const std::string& other,
                  const std::string& file) {
  if (first.empty() || other.empty() || first == other) return;
  throw UsageError(
      fmt::format("cannot merge '{}': its {} is '{}', that of the first file '{}'; results of different ones do not "
                  "belong together",
                  file, what, other, first));
}

class Merge {
 public:
  explicit Merge(const Results& first) {
    merged_.format = first.format;
    merged_.header = first.header;
    merged_.objectives = first.objectives;
  }

  void add(const Results& results, const std::string& file) {
    JournalHeader& header = merged_.header;
    require_same("device", header.device_name, results.header.device_name, file);
    require_same("kernel", header.problem_name, results.header.problem_name, file);
    require_same("problem size", fmt::format("{}", fmt::join(header.problem_size, ",")),
                 fmt::format("{}", fmt::join(results.header.problem_size, ",")), file);
    const auto places = places_of(results.header.parameter_names, header.parameter_names, file);
    for (std::size_t i = 0; i < places.size(); ++i)
      unite(header.parameter_values[places[i]], results.header.parameter_values[i]);
    if (header.restrictions != results.header.restrictions) header.restrictions.clear();
    if (header.problem_hash != results.header.problem_hash) header.problem_hash.clear();
    if (header.board != results.header.board) header.board.clear();
    if (header.device_name.empty()) header.device_name = results.header.device_name;
    if (header.problem_size.empty()) header.problem_size = results.header.problem_size;
    for (const auto& objective : results.objectives) {
      if (std::find(merged_.objectives.begin(), merged_.objectives.end(), objective) == merged_.objectives.end()) {
        merged_.objectives.push_back(objective);
      }
    }
    for (const auto& note : results.notes) merged_.notes.push_back(fmt::format("{}: {}", file, note));
    for (const Evaluation& evaluation : results.evaluations) add(evaluation, places);
  }

  Results finish() {
    if (repeated_ > 0)
      merged_.notes.push_back(fmt::format("{} evaluations stood in more than one file; each counts once", repeated_));
    if (again_ > 0) {
      merged_.notes.push_back(fmt::format(
          "{} evaluations are of configurations measured before; they were added as further trials", again_));
    }
    return std::move(merged_);
  }

 private:
  static void unite(std::vector<Value>& values, const std::vector<Value>& others) {
    bool changed = false;
    const bool ascending = std::is_sorted(values.begin(), values.end(), less);
    for (const Value& value : others) {
      if (std::find(values.begin(), values.end(), value) != values.end()) continue;
      values.push_back(value);
      changed = true;
    }
    if (changed && ascending) std::stable_sort(values.begin(), values.end(), less);
  }

  static bool less(const Value& a, const Value& b) {
    if (a.is_number() != b.is_number()) return a.is_number();
    return a.is_number() ? a.as_double() < b.as_double() : a.str() < b.str();
  }

  void add(Evaluation evaluation, const std::vector<std::size_t>& places) {
    std::vector<Value> configuration(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) configuration[places[i]] = evaluation.configuration[i];
    evaluation.configuration = std::move(configuration);
    if (!seen_.insert(fingerprint(evaluation)).second) {
      ++repeated_;
      return;
    }
    std::int64_t& next = next_trial_[key_of(evaluation)];
    if (evaluation.trial < next) {
      evaluation.trial = next;
      ++again_;
    }
    constexpr std::int64_t most_trials = 1'000'000'000;  // a damaged number shall not overflow
    next = std::min(evaluation.trial, most_trials) + 1;
    merged_.evaluations.push_back(std::move(evaluation));
  }

  Results merged_;
  std::unordered_set<std::string> seen_;
  std::unordered_map<std::string, std::int64_t> next_trial_;
  std::size_t repeated_ = 0;
  std::size_t again_ = 0;
};

/// Findings of a kind and text count together.
class Findings {
 public:
  void add(const std::string& kind, const std::string& text, const std::string& example) {
    const auto [found, is_new] = places_.try_emplace(kind + text, list_.size());
    if (is_new) list_.push_back({kind, 0, example.empty() ? text : fmt::format("{}, for example {}", text, example)});
    ++list_[found->second].count;
  }
  std::vector<Finding> take() { return std::move(list_); }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<Finding> list_;
};

void check_space(const Results& results, Findings& findings) {
  const JournalHeader& header = results.header;
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < header.parameter_names.size(); ++i) {
    if (header.parameter_values[i].empty()) return;
    parameters.push_back({header.parameter_names[i], header.parameter_values[i]});
  }
  std::vector<Restriction> restrictions;
  for (const auto& expression : header.restrictions)
    restrictions.push_back({expression, "restrictions: " + expression});
  const SearchSpace space = SearchSpace::build(std::move(parameters), std::move(restrictions));
  for (const Evaluation& evaluation : results.evaluations) {
    const auto point = space.find(evaluation.configuration);
    if (!point) {
      findings.add("outside", "configurations with a value that its parameter does not have", shown(evaluation));
    } else if (!space.contains(*point)) {
      findings.add("restricted", "configurations that violate a restriction", shown(evaluation));
    }
  }
}

/// Time passes and energy is used, whatever runs.
bool must_be_positive(const std::string& name) {
  const auto si = file_unit(name).si;
  return name == "time" || si == "J" || si == "W";
}

void check_quantities(const Results& results, Findings& findings) {
  std::map<std::string, std::string> units;
  for (const Evaluation& evaluation : results.evaluations) {
    for (const auto& [name, quantity] : evaluation.quantities) {
      if (!std::isfinite(quantity.value)) continue;
      const std::string unit = units.try_emplace(name, quantity.unit).first->second;
      if (unit != quantity.unit) {
        findings.add("unit", fmt::format("'{}' is recorded in '{}' and in '{}'", name, unit, quantity.unit),
                     shown(evaluation));
      }
      const auto si = file_unit(name).si;
      if (!si.empty() && quantity.unit != si) {
        findings.add("unit", fmt::format("'{}' is recorded in '{}' where '{}' is expected", name, quantity.unit, si),
                     shown(evaluation));
      }
      if (evaluation.ok() && quantity.value <= 0 && must_be_positive(name)) {
        findings.add("value", fmt::format("'{}' is not positive", name), shown(evaluation));
      }
    }
    for (const auto& objective : results.objectives) {
      if (evaluation.ok() && !objective_value(evaluation, {objective, Direction::minimize})) {
        findings.add("missing", fmt::format("'{}' is missing where the evaluation succeeded", objective),
                     shown(evaluation));
      }
    }
  }
}

}  // namespace

Results merge_results(std::span<const Results> results, std::span<const std::string> names) {
  Merge merge(results.front());
  for (std::size_t i = 0; i < results.size(); ++i) merge.add(results[i], names[i]);
  return merge.finish();
}

std::vector<Finding> check_results(const Results& results) {
  Findings findings;
  for (const auto& note : results.notes) findings.add("dropped", note, "");
  std::unordered_map<std::string, std::size_t> times;
  for (const Evaluation& evaluation : results.evaluations) {
    // Trials are several on purpose. T4 and CSV of others number none: what is there twice is given a number when it is
    // read.
    const bool numbered = results.format == ResultFormat::journal || evaluation.tier == "final";
    const std::string trial = numbered ? fmt::format("{} ", evaluation.trial) : "";
    if (++times[trial + key_of(evaluation)] > 1) {
      findings.add("duplicate", "configurations are recorded more than once in the same tier", shown(evaluation));
    }
  }
  check_space(results, findings);
  check_quantities(results, findings);
  return findings.take();
}

std::string drop_impossible(Results& results) {
  std::size_t count = 0;
  std::string first;
  for (Evaluation& evaluation : results.evaluations) {
    if (!evaluation.ok()) continue;
    std::erase_if(evaluation.quantities, [&](const auto& entry) {
      const auto& [name, quantity] = entry;
      // NaN is what was not measured.
      const bool possible = std::isnan(quantity.value) || (quantity.value > 0 && std::isfinite(quantity.value));
      if (possible || !must_be_positive(name)) return false;
      if (count++ == 0) {
        first = fmt::format("{} {:g}{}{} of {}", name, quantity.value, quantity.unit.empty() ? "" : " ", quantity.unit,
                            shown(evaluation));
      }
      return true;
    });
  }
  if (count == 0) return "";
  if (count == 1) return fmt::format("{} cannot be: it counts as not measured", first);
  return fmt::format(
      "{} times, energies or powers are zero, negative or infinite: they count as not measured ({} first)", count,
      first);
}

std::string drop_outside(Results& results) {
  auto parameters = parameters_of(results);
  if (std::ranges::any_of(parameters, [](const Parameter& parameter) { return parameter.values.empty(); })) return "";
  const SearchSpace space = SearchSpace::build(std::move(parameters), {});
  std::string first;
  const std::size_t count = std::erase_if(results.evaluations, [&](const Evaluation& evaluation) {
    // What compares boards may be at settings of its own.
    const bool is_aside =
        evaluation.tier == "reference" || evaluation.tier == "calibration" || evaluation.tier == "timing";
    if (is_aside || space.find(evaluation.configuration)) return false;
    if (first.empty()) first = shown(evaluation);
    return true;
  });
  if (count == 0) return "";
  return fmt::format("{} with a value that its parameter does not have {} left out: {}{}",
                     count == 1 ? "1 evaluation" : fmt::format("{} evaluations", count), count == 1 ? "is" : "are",
                     first, count == 1 ? "" : " is the first");
}

std::size_t drop_failed(Results& results, std::span<const Outcome> outcomes) {
  return std::erase_if(results.evaluations, [&](const Evaluation& evaluation) {
    if (evaluation.ok()) return false;
    return outcomes.empty() || std::find(outcomes.begin(), outcomes.end(), evaluation.outcome) != outcomes.end();
  });
}

}  // namespace wattune
