#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/method_comparison.hpp"
#include "analysis/search_quality.hpp"
#include "base/clock.hpp"
#include "base/duration.hpp"
#include "base/error.hpp"
#include "cli/recorded.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "cli/tune_method.hpp"
#include "method/method.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "result/order.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

constexpr double efforts[] = {0.05, 0.01, 0};
constexpr std::uint64_t most_seeds = 1'000'000;

/// "30": seeds 0 to 29; "5:9": seeds 5 to 9.
std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  const auto number = [&](std::string_view part) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), value);
    if (part.empty() || parsed.ec != std::errc() || parsed.ptr != part.data() + part.size()) {
      throw UsageError(
          fmt::format("--seeds '{}': a number of seeds (30) or a range of them (5:9) is understood", text));
    }
    return value;
  };
  const std::size_t colon = text.find(':');
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  if (colon == std::string::npos) {
    count = number(text);
  } else {
    first = number(std::string_view(text).substr(0, colon));
    const std::uint64_t last = number(std::string_view(text).substr(colon + 1));
    if (last >= first) count = last - first + 1;
  }
  if (count == 0 || count > most_seeds) {
    throw UsageError(fmt::format("--seeds '{}': 1 to {} seeds, the first not above the last", text, most_seeds));
  }
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < count; ++i) seeds.push_back(first + i);
  return seeds;
}

std::vector<std::size_t> choose_checkpoints(const ReplayArguments& arguments, std::size_t budget) {
  std::vector<std::size_t> at(arguments.at.begin(), arguments.at.end());
  if (at.empty()) {
    for (const std::size_t usual : {50U, 100U, 200U, 400U}) {
      if (usual < budget) at.push_back(usual);
    }
    at.push_back(budget);
  }
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  if (at.back() > budget) {
    throw UsageError(
        fmt::format("--at {}: beyond the budget of {} evaluations; give a larger --budget", at.back(), budget));
  }
  return at;
}

/// Everything that is printed.
struct Report {
  const Results& results;
  const Recording& recording;
  const SearchQuality& quality;
  std::vector<SearchRun> runs;  ///< strategy by strategy
  std::size_t seeds = 0;
  std::size_t budget = 0;
  std::vector<std::size_t> at;
  double seconds = 0;

  [[nodiscard]] std::size_t strategies() const { return runs.size() / seeds; }
  [[nodiscard]] std::span<const SearchRun> of(std::size_t strategy) const {
    return std::span(runs).subspan(strategy * seeds, seeds);
  }
};

json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json to_json(const GapSummary& summary) {
  return {{"strategy", summary.strategy},
          {"evaluations", summary.evaluations},
          {"runs", summary.runs},
          {"mean_gap", summary.mean},
          {"max_gap", summary.largest},
          {"min_gap", summary.least},
          {"median_gap", summary.median},
          {"std_gap", number(summary.deviation)},
          {"ci95", number(summary.confidence)},
          {"exact_rate", summary.exact_rate},
          {"score", number(summary.score)},
          {"tuning_seconds", number(summary.seconds)}};
}

json to_json(const EffortSummary& effort) {
  return {{"strategy", effort.strategy},
          {"gap", effort.gap},
          {"reached", effort.reached},
          {"mean_evaluations", effort.mean ? json(*effort.mean) : json(nullptr)},
          {"median_evaluations", effort.median ? json(*effort.median) : json(nullptr)}};
}

json report_json(const Report& report) {
  const auto& quality = report.quality;
  json runs = json::array();
  for (const SearchRun& run : report.runs) {
    json gaps = json::object();
    json seconds = json::object();
    for (const std::size_t n : report.at) {
      gaps[std::to_string(n)] = number(run.gap_after(n));
      seconds[std::to_string(n)] = number(run.seconds_after(n));
    }
    runs.push_back({{"strategy", run.strategy},
                    {"seed", run.seed},
                    {"evaluations", run.gaps.size()},
                    {"gaps", std::move(gaps)},
                    {"tuning_seconds", std::move(seconds)}});
  }
  json summary = json::array();
  json effort = json::array();
  json scores = json::object();
  for (std::size_t s = 0; s < report.strategies(); ++s) {
    const auto of = report.of(s);
    for (const std::size_t n : report.at) summary.push_back(to_json(quality.summary(of, n)));
    for (const double gap : efforts) effort.push_back(to_json(SearchQuality::effort(of, gap)));
    scores[of.front().strategy] = number(quality.overall_score(of, report.budget));
  }
  json random = json::object();
  for (const std::size_t n : report.at) random[std::to_string(n)] = quality.random_gap(n);
  json configuration = json::object();
  for (std::size_t i = 0; i < report.results.header.parameter_names.size(); ++i) {
    configuration[report.results.header.parameter_names[i]] = wattune::to_json(quality.best().configuration[i]);
  }
  return {{"device_name", report.results.header.device_name},
          {"problem", report.results.header.problem_name},
          {"objective", quality.objective().name},
          {"direction", to_string(quality.objective().direction)},
          {"optimum", quality.optimum()},
          {"optimum_unit", quality.best().quantities.at(quality.objective().name).unit},
          {"optimum_configuration", std::move(configuration)},
          {"space",
           {{"valid", to_string(report.recording.space().size())},
            {"recorded", report.recording.evaluations().size()},
            {"successes", quality.successes()}}},
          {"budget", report.budget},
          {"seeds", report.seeds},
          {"runs", std::move(runs)},
          {"summary", std::move(summary)},
          {"effort", std::move(effort)},
          {"scores", std::move(scores)},
          {"random_gap", std::move(random)},
          {"seconds", report.seconds}};
}

/// One line for each strategy and number of evaluations, for plotting.
void print_csv(const Report& report) {
  fmt::print("strategy,evaluations,mean_gap,ci95,std_gap,min_gap,median_gap,max_gap,exact_rate,score,tuning_seconds\n");
  const auto cell = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); };
  for (std::size_t s = 0; s < report.strategies(); ++s) {
    for (std::size_t n = 1; n <= report.budget; ++n) {
      const GapSummary x = report.quality.summary(report.of(s), n);
      fmt::print("{},{},{},{},{},{},{},{},{},{},{}\n", x.strategy, n, cell(x.mean), cell(x.confidence),
                 cell(x.deviation), cell(x.least), cell(x.median), cell(x.largest), cell(x.exact_rate), cell(x.score),
                 cell(x.seconds));
    }
  }
}

void print_tables(const Report& report) {
  const auto& quality = report.quality;
  const Quantity& optimum = quality.best().quantities.at(quality.objective().name);
  fmt::print("{}{}: best recorded {} at {}\n", printable(to_string(quality.objective())),
             report.results.header.device_name.empty() ? "" : " on " + printable(report.results.header.device_name),
             format_named(quality.objective().name, optimum),
             printable(format_configuration(quality.best().configuration, report.results.header.parameter_names)));
  fmt::print("{} configurations recorded, {} of them with the objective; {} seeds; gaps in %\n\n",
             report.recording.evaluations().size(), quality.successes(), report.seeds);
  std::vector<Table::Column> columns = {"strategy",
                                        {"evaluations", Table::Align::right},
                                        {"mean gap", Table::Align::right},
                                        {"+-", Table::Align::right},
                                        {"median", Table::Align::right},
                                        {"largest", Table::Align::right},
                                        {"exact", Table::Align::right},
                                        {"score", Table::Align::right},
                                        {"tuning time", Table::Align::right}};
  Table gaps(std::move(columns));
  for (std::size_t s = 0; s < report.strategies(); ++s) {
    for (const std::size_t n : report.at) {
      const GapSummary x = quality.summary(report.of(s), n);
      gaps.add_row({n == report.at.front() ? x.strategy : "", fmt::format("{}", n), format_percent(x.mean),
                    format_percent(x.confidence), format_percent(x.median), format_percent(x.largest),
                    fmt::format("{:.0f} %", 100 * x.exact_rate),
                    std::isfinite(x.score) ? fmt::format("{:.3f}", x.score) : "-",
                    std::isfinite(x.seconds) ? format_duration(x.seconds) : "-"});
    }
  }
  for (const std::size_t n : report.at) {
    gaps.add_row({n == report.at.front() ? "(random search, expected)" : "", fmt::format("{}", n),
                  format_percent(quality.random_gap(n))});
  }
  fmt::print("{}\n", gaps.text());
  Table effort({"strategy",
                {"to 5 %", Table::Align::right},
                {"to 1 %", Table::Align::right},
                {"to 0 %", Table::Align::right},
                {"score", Table::Align::right}});
  for (std::size_t s = 0; s < report.strategies(); ++s) {
    std::vector<std::string> cells = {report.of(s).front().strategy};
    for (const double gap : efforts) {
      const EffortSummary x = SearchQuality::effort(report.of(s), gap);
      cells.push_back(fmt::format("{} ({:.0f} %)", x.median ? fmt::format("{:.0f}", *x.median) : "-", 100 * x.reached));
    }
    const double score = quality.overall_score(report.of(s), report.budget);
    cells.push_back(std::isfinite(score) ? fmt::format("{:.3f}", score) : "-");
    effort.add_row(std::move(cells));
  }
  fmt::print(
      "Evaluations to come within a gap: median (share of the runs that did); score over all numbers of "
      "evaluations:\n{}",
      effort.text());
}

/// Methods search by the objective for efficiency, and by the recorded time for speed.
MethodSetup choose_method_setup(const ReplayArguments& arguments, const Results& results, const Recording& recording,
                                const SearchQuality& quality, std::size_t budget) {
  MethodSetup setup;
  setup.kinds = recording.kinds();
  setup.evaluations = budget;
  setup.base_clock = arguments.base_clock;
  setup.efficiency = quality.objective();
  for (const auto& name : arguments.methods) {
    const MethodDescription& method = method_named(name);
    if (method.for_time || method.first_for_time) setup.speed = {quantity_named(results, "time"), Direction::minimize};
  }
  return setup;
}

}  // namespace

int run_replay(const ReplayArguments& arguments) {
  const double began = monotonic_seconds();
  const auto seeds = parse_seeds(arguments.seeds);
  const std::size_t budget = arguments.budget != 0  ? arguments.budget
                             : arguments.at.empty() ? 200
                                                    : *std::max_element(arguments.at.begin(), arguments.at.end());
  const auto at = choose_checkpoints(arguments, budget);
  check_base_clock(arguments.base_clock, arguments.methods);
  if (arguments.strategies.empty() && arguments.methods.empty())
    throw UsageError("replay: name a --strategy or a --method");
  if (arguments.strategies.empty() && !arguments.strategy_options.empty())
    throw UsageError("replay: --strategy-option goes with --strategy");
  const Results results = read_recorded(arguments.input);
  const auto objectives = objectives_of(results, arguments.minimize, arguments.maximize);
  if (arguments.base_clock) require_recorded_base_clock(results, *arguments.base_clock);
  const Recording recording(results, arguments.all_valid);
  if (recording.outside() > 0) {
    say("wattune: warning: {}: {} evaluations lie outside the space and are left out; 'wattune results check' says "
        "more\n",
        arguments.input, recording.outside());
  }
  const SearchQuality quality(recording, objectives.front());
  std::vector<SearchPlan> plans;
  for (const auto& strategy : arguments.strategies) {
    for (const std::uint64_t seed : seeds) plans.push_back({strategy, seed});
  }
  const auto method_setup =
      std::make_shared<const MethodSetup>(choose_method_setup(arguments, results, recording, quality, budget));
  for (const auto& method : arguments.methods) {
    for (const std::uint64_t seed : seeds) plans.push_back({method, seed, method_setup});
  }
  StrategySetup setup;
  setup.objectives = objectives;
  setup.kinds = recording.kinds();
  for (const auto& option : arguments.strategy_options) add_strategy_option(setup.options, option);
  const auto traces = search_many(recording, plans, setup, budget, arguments.threads);
  Report report{results, recording, quality, {}, seeds.size(), budget, at, 0};
  for (std::size_t i = 0; i < plans.size(); ++i) report.runs.push_back(quality.judge(plans[i], traces[i]));
  report.seconds = monotonic_seconds() - began;
  if (arguments.json)
    fmt::print("{}", json_text(report_json(report)));
  else if (arguments.csv)
    print_csv(report);
  else
    print_tables(report);
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
