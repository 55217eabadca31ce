#include "report/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/duration.hpp"
#include "problem/quantities.hpp"
#include "report/format.hpp"
#include "report/front.hpp"
#include "report/table.hpp"
#include "result/metrics.hpp"
#include "result/order.hpp"

namespace wattune {

namespace {

/// Rows of the table of the Pareto front; more are cut to those spread evenly along it.
constexpr std::size_t max_front_rows = 20;

std::string first_line(const std::string& message) {
  const std::size_t begin = message.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "no message";
  return printable(message.substr(begin, message.find('\n', begin) - begin));
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class Summary {
 public:
  Summary(const RunInfo& run, const std::vector<std::string>& names, std::span<const Evaluation> evaluations,
          std::span<const Objective> objectives, std::span<const Metric> metrics, const SummaryOptions& options)
      : run_(run),
        names_(names),
        evaluations_(evaluations),
        objectives_(objectives),
        metrics_(metrics),
        options_(options),
        competing_(wattune::competing(evaluations)),
        rivals_(run.constraints.feasible(evaluations, competing_)) {
    shown_ = shown_quantities();
  }

  std::string text() {
    add_run();
    add_conditions();
    add_best();
    add_idle();
    add_host();
    add_top();
    add_front();
    add_failures();
    add_missing_metrics();
    for (const auto& remark : run_.remarks) text_ += fmt::format("\n{}\n", remark);
    if (!run_.journal.empty()) text_ += fmt::format("\nResults: {}\n", run_.journal);
    if (run_.interrupted) {
      text_ += "Interrupted. What was measured is kept: the same command run again goes on from here.\n";
    }
    return std::move(text_);
  }

 private:
  /// The quantities to show: objectives first, then time, power and energy, then metrics and what observers saw; those
  /// that were measured.
  [[nodiscard]] std::vector<std::string> shown_quantities() const {
    std::vector<std::string> result;
    auto add = [&](const std::string& name) {
      const bool measured = std::any_of(competing_.begin(), competing_.end(), [&](std::size_t i) {
        return evaluations_[i].ok() && evaluations_[i].quantities.contains(name);
      });
      if (measured && std::find(result.begin(), result.end(), name) == result.end()) result.push_back(name);
    };
    for (const auto& objective : objectives_) add(objective.name);
    for (const char* name : {"time", "power", "energy", "energy_above_idle"}) add(name);
    for (const auto& metric : metrics_) add(metric.name);
    for (const std::size_t i : competing_) {
      for (const auto& [name, quantity] : evaluations_[i].quantities) {
        if (find_measured_quantity(name) == nullptr) add(name);
      }
    }
    return result;
  }

  void add_run() {
    text_ += fmt::format("{} on {} ({}){}\n", run_.problem, run_.device_name, run_.device_id,
                         run_.simulated ? ", simulated" : "");
    const auto failed = std::count_if(evaluations_.begin(), evaluations_.end(), [](const auto& e) { return !e.ok(); });
    text_ += fmt::format("{} in {}, {} failed", plural(evaluations_.size(), "evaluation"),
                         format_duration(run_.seconds), failed);
    if (run_.reused > 0) text_ += fmt::format(", {} taken from the journal", run_.reused);
    if (run_.space_size > 0) {
      text_ += fmt::format("; {} configurations of {} valid ({} before restrictions)", competing_.size(),
                           to_string(run_.space_size), to_string(run_.cartesian));
    }
    text_ += "\n";
    if (!run_.strategy.empty()) text_ += fmt::format("Strategy {}, seed {}\n", run_.strategy, run_.seed);
  }

  void add_conditions() {
    if (run_.constraints.empty()) return;
    text_ += fmt::format("Subject to {}: {} of {} configurations\n", fmt::join(run_.constraints.conditions(), " and "),
                         rivals_.size(), competing_.size());
    if (!rivals_.empty()) return;
    const auto bests = run_.constraints.bests_of(evaluations_, competing_);
    std::optional<std::size_t> nearest;
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t i : competing_) {
      const double missed = run_.constraints.violation(evaluations_[i], bests);
      if (missed < least) nearest = i;
      least = std::min(least, missed);
    }
    if (!nearest) return;
    text_ += fmt::format("The nearest misses by {:.2g} %: {}\n", 100 * least,
                         printable(format_configuration(evaluations_[*nearest].configuration, names_)));
  }

  /// Which idle power it is that energy_above_idle leaves out.
  void add_idle() {
    for (const std::size_t i : competing_) {
      const auto idle = evaluations_[i].quantities.find("idle_power");
      if (idle == evaluations_[i].quantities.end()) continue;
      text_ += fmt::format("\nenergy_above_idle is without the {} drawn by the idle device with a context open\n",
                           format_quantity(idle->second));
      return;
    }
  }

  /// Whether the waiting host would have one choose another configuration.
  void add_host() {
    if (!run_.host_watts) return;
    const auto alone = best(evaluations_, rivals_, {"energy", Direction::minimize});
    const auto both = best(evaluations_, rivals_, {"energy_with_host", Direction::minimize});
    if (!alone || !both) return;
    text_ += fmt::format("\nWith {:g} W of the waiting host ", *run_.host_watts);
    if (*alone == *both) {
      text_ += "the configuration of least energy stays the same\n";
      return;
    }
    const auto total = [&](std::size_t i) {
      return format_quantity(evaluations_[i].quantities.at("energy_with_host"));
    };
    text_ += fmt::format("another configuration needs least energy: {} in place of {} with the host\n", total(*both),
                         total(*alone));
    add_details(evaluations_[*both], "energy_with_host");
  }

  void add_best() {
    std::map<std::size_t, std::string> named;  // those shown already, by their objective
    for (const auto& objective : objectives_) {
      const auto winner = best(evaluations_, rivals_, objective);
      if (!winner) {
        text_ += fmt::format(
            "\nBest {}: none; no configuration was measured in it{}\n", objective.name,
            rivals_.empty() && !competing_.empty() && !run_.constraints.empty() ? " that meets the conditions" : "");
        continue;
      }
      const Evaluation& evaluation = evaluations_[*winner];
      text_ +=
          fmt::format("\nBest {}: {}\n", objective.name, format_quantity(evaluation.quantities.at(objective.name)));
      const auto [entry, added] = named.try_emplace(*winner, objective.name);
      if (!added) {
        text_ += fmt::format("  the configuration of best {}\n", entry->second);
        continue;
      }
      add_details(evaluation, objective.name);
    }
  }

  void add_details(const Evaluation& evaluation, const std::string& objective) {
    text_ += "  " + printable(format_configuration(evaluation.configuration, names_)) + "\n";
    std::vector<std::string> others;
    for (const auto& name : shown_) {
      const auto found = evaluation.quantities.find(name);
      if (name == objective || found == evaluation.quantities.end()) continue;
      others.push_back(format_named(name, found->second));
    }
    if (!others.empty()) text_ += fmt::format("  {}\n", fmt::join(others, ", "));
    std::vector<std::string> flags;
    for (const auto& name : shown_) {
      const auto found = evaluation.quantities.find(name);
      if (found == evaluation.quantities.end()) continue;
      for (const auto& flag : found->second.flags) {
        if (std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.push_back(flag);
      }
    }
    if (!flags.empty()) text_ += fmt::format("  measured under: {}\n", fmt::join(flags, ", "));
    if (evaluation.verification == "consistent") {
      text_ += "  its output agrees with the default configuration's; there is no reference to verify it by\n";
    } else if (evaluation.verification == "simulated") {
      text_ += "  not verified (simulated)\n";
    } else if (evaluation.verification == "unverified") {
      text_ += "  its output was not verified\n";
    }
  }

  /// Rows of evaluations, the unit of each column fitting the first row. @param marks one for each row, or none
  [[nodiscard]] std::string table_of(std::span<const std::size_t> rows, std::span<const std::string> marks = {}) const {
    std::vector<Table::Column> columns = {{"#", Table::Align::right}};
    if (!marks.empty()) columns.emplace_back("on the front");
    std::vector<Scale> scales;
    for (const auto& name : shown_) {
      Scale scale;
      for (const std::size_t row : rows) {
        const auto found = evaluations_[row].quantities.find(name);
        if (found == evaluations_[row].quantities.end()) continue;
        scale = scale_for(found->second.value, found->second.unit);
        break;
      }
      // A name like "GFLOP/s" is its own unit.
      const bool plain = scale.unit.empty() || scale.unit == name;
      columns.emplace_back(plain ? name : fmt::format("{} ({})", name, scale.unit), Table::Align::right);
      scales.push_back(std::move(scale));
    }
    for (const auto& name : names_) columns.emplace_back(name, Table::Align::right);
    Table table(std::move(columns));
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const Evaluation& evaluation = evaluations_[rows[place]];
      std::vector<std::string> cells = {std::to_string(place + 1)};
      if (!marks.empty()) cells.push_back(marks[place]);
      for (std::size_t i = 0; i < shown_.size(); ++i) {
        const auto found = evaluation.quantities.find(shown_[i]);
        cells.push_back(found == evaluation.quantities.end()
                            ? "-"
                            : format_number(found->second.value, scales[i], found->second.stderr_value));
      }
      for (const auto& value : evaluation.configuration) cells.push_back(value.str());
      table.add_row(std::move(cells));
    }
    return table.text(options_.max_width);
  }

  void add_top() {
    if (objectives_.empty() || options_.top == 0) return;
    auto order = ranked(evaluations_, rivals_, objectives_[0]);
    if (order.size() < 2) return;
    const std::size_t all = order.size();
    order.resize(std::min(order.size(), options_.top));
    text_ += fmt::format("\nThe best {} of {} by {}\n{}", order.size(), all, objectives_[0].name, table_of(order));
  }

  void add_front() {
    if (objectives_.size() < 2) return;
    const Front front = analyse_front(evaluations_, rivals_, objectives_);
    if (front.members.empty()) return;
    text_ += "\n" + front_title(front) + "\n";
    const auto places = front_places(front, max_front_rows);
    if (places.size() < front.members.size()) text_ += fmt::format("({} of them, spread evenly)\n", places.size());
    std::vector<std::size_t> rows;
    std::vector<std::string> marks;
    for (const std::size_t place : places) {
      rows.push_back(front.members[place].index);
      marks.push_back(front_mark(front, place));
    }
    text_ += table_of(rows, marks) + front_remarks(front, evaluations_);
  }

  void add_failures() {
    struct Kind {
      std::size_t count = 0;
      const Evaluation* example = nullptr;
    };
    std::map<Outcome, Kind> kinds;
    for (const auto& evaluation : evaluations_) {
      if (evaluation.ok()) continue;
      Kind& kind = kinds[evaluation.outcome];
      ++kind.count;
      if (kind.example == nullptr || kind.example->message.empty()) kind.example = &evaluation;
    }
    if (kinds.empty()) return;
    const auto compile = kinds.find(Outcome::compile);
    if (compile != kinds.end() && compile->second.count == evaluations_.size()) {
      add_compiler_message(*compile->second.example);
      return;
    }
    Table table({"Failed", {"count", Table::Align::right}, "for example"});
    for (const auto& [outcome, kind] : kinds) {
      table.add_row({std::string(to_string(outcome)), std::to_string(kind.count), first_line(kind.example->message)});
    }
    text_ += "\n" + table.text(options_.max_width);
  }

  void add_compiler_message(const Evaluation& example) {
    text_ += fmt::format("\nNo configuration compiled. The compiler's message for {}:\n",
                         printable(format_configuration(example.configuration, names_)));
    text_ += example.message;
    if (!text_.ends_with('\n')) text_ += '\n';
  }

  /// A metric that no evaluation has is most often a name that is misspelt.
  void add_missing_metrics() {
    const bool any_ok = std::any_of(evaluations_.begin(), evaluations_.end(), [](const auto& e) { return e.ok(); });
    if (!any_ok) return;
    for (const auto& metric : metrics_) {
      auto has = [&](const std::string& name) {
        return std::any_of(evaluations_.begin(), evaluations_.end(),
                           [&](const auto& e) { return e.ok() && e.quantities.contains(name); });
      };
      // Energy is measured only where it is asked for: no news.
      if (has(metric.name) || !has("time")) continue;
      const auto& used = metric.expression.names();
      const bool of_energy =
          std::any_of(used.begin(), used.end(), [](const auto& n) { return n == "energy" || n == "power"; });
      if (of_energy && !has("energy")) continue;
      std::vector<std::string> missing;
      for (const auto& name : metric.expression.names()) {
        const bool parameter = std::find(names_.begin(), names_.end(), name) != names_.end();
        if (!parameter && !has(name)) missing.push_back(name);
      }
      text_ += missing.empty() ? fmt::format("\nMetric {} = {} could be computed for no configuration\n", metric.name,
                                             metric.expression.text())
                               : fmt::format("\nMetric {} = {} was left out: {} was not measured\n", metric.name,
                                             metric.expression.text(), fmt::join(missing, ", "));
    }
  }

  const RunInfo& run_;
  const std::vector<std::string>& names_;
  std::span<const Evaluation> evaluations_;
  std::span<const Objective> objectives_;
  std::span<const Metric> metrics_;
  const SummaryOptions& options_;
  std::vector<std::size_t> competing_;
  std::vector<std::size_t> rivals_;  ///< of these, those that meet the conditions
  std::vector<std::string> shown_;
  std::string text_;
};

}  // namespace

std::string summary(const RunInfo& run, const std::vector<std::string>& parameter_names,
                    std::span<const Evaluation> evaluations, std::span<const Objective> objectives,
                    std::span<const Metric> metrics, const SummaryOptions& options) {
  return Summary(run, parameter_names, evaluations, objectives, metrics, options).text();
}

}  // namespace wattune
