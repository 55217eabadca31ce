// Strategies on recorded results: the mean gap to the optimum after so many evaluations, over many seeds, with its 95 %
// interval, and the time that a strategy itself takes for an evaluation.
//
//   wattune_strategies_bench [--seeds N] [--first-seed N] [--threads N] [--strategy NAME]... [--option KEY=VALUE]...
//                            [--at 50,100,200,400] [--batch N] [--format text|csv|json]
//                            [--data FILE QUANTITY min|max]...
//
// A failed configuration counts as an evaluation. Gap: value / optimum - 1 where less is better, else optimum / value - 1.
// Without --data the recorded data beside the source tree is used, where it is there.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/error.hpp"
#include "recorded.hpp"
#include "strategy/strategy.hpp"

namespace {

using namespace wattune;
using wattune::bench::Recorded;

struct Arguments {
  std::uint64_t seeds = 300;
  std::uint64_t first_seed = 0;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> strategies;
  StrategyOptions options;
  std::vector<std::size_t> at = {50, 100, 200, 400};
  std::size_t batch = 1;
  std::string format = "text";
  std::vector<Recorded> data;
};

void add_default_data(Arguments& arguments) {
  const std::filesystem::path folder = std::filesystem::path(WATTUNE_SOURCE_DIR) / ".." / "shared" / "data";
  const auto add = [&](const std::string& file, const std::string& quantity, bool maximize) {
    const auto path = folder / file;
    if (std::filesystem::exists(path)) {
      arguments.data.push_back(bench::read_recorded(path.string(), quantity, maximize));
    } else {
      fmt::print(stderr, "{} is not there: left out\n", path.string());
    }
  };
  add("ada_tensorcore_beamformer/cache.json.gz", "TFLOPS/J", true);
  add("hub/convolution_A100.json.gz", "time", false);
  add("hub/dedispersion_A100_T4.json.gz", "time", false);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  int i = 1;
  const auto next = [&]() -> std::string {
    if (i >= argc) throw UsageError(fmt::format("{} needs a value", argv[i - 1]));
    return argv[i++];
  };
  while (i < argc) {
    const std::string name = argv[i++];
    if (name == "--seeds") {
      arguments.seeds = std::stoull(next());
    } else if (name == "--first-seed") {
      arguments.first_seed = std::stoull(next());
    } else if (name == "--threads") {
      arguments.threads = static_cast<unsigned>(std::stoul(next()));
    } else if (name == "--strategy") {
      arguments.strategies.push_back(next());
    } else if (name == "--option") {
      add_strategy_option(arguments.options, next());
    } else if (name == "--batch") {
      arguments.batch = std::stoull(next());
    } else if (name == "--format") {
      arguments.format = next();
    } else if (name == "--at") {
      arguments.at.clear();
      std::stringstream list(next());
      for (std::string item; std::getline(list, item, ',');) arguments.at.push_back(std::stoull(item));
    } else if (name == "--data") {
      const std::string file = next();
      const std::string quantity = next();
      arguments.data.push_back(bench::read_recorded(file, quantity, next() == "max"));
    } else {
      throw UsageError(fmt::format("there is no option '{}'", name));
    }
  }
  if (arguments.data.empty()) add_default_data(arguments);
  if (arguments.strategies.empty()) {
    for (const auto& strategy : strategy_descriptions()) arguments.strategies.push_back(strategy.name);
  }
  return arguments;
}

struct Replay {
  std::vector<double> gaps;  ///< at the wanted numbers of evaluations
  double seconds = 0;        ///< spent by the strategy
  std::size_t evaluations = 0;
};

Evaluation evaluation_of(const Recorded& data, const Point& point) {
  Evaluation evaluation;
  const double value = data.values[static_cast<std::size_t>(*data.space.index(point))];
  if (std::isnan(value)) {
    evaluation.outcome = Outcome::launch;
  } else {
    evaluation.quantities["objective"].value = value;
  }
  return evaluation;
}

Replay replay(const Recorded& data, const std::string& name, std::uint64_t seed, const Arguments& arguments) {
  using Clock = std::chrono::steady_clock;
  StrategySetup setup;
  setup.objectives = {{"objective", data.maximize ? Direction::maximize : Direction::minimize}};
  setup.options = arguments.options;
  Replay result;
  auto began = Clock::now();
  const auto strategy = make_strategy(name, data.space, seed, setup);
  result.seconds += std::chrono::duration<double>(Clock::now() - began).count();
  double best_gap = std::numeric_limits<double>::infinity();
  std::size_t wanted = 0;
  while (wanted < arguments.at.size()) {
    began = Clock::now();
    const auto points = strategy->ask(arguments.batch);
    result.seconds += std::chrono::duration<double>(Clock::now() - began).count();
    if (points.empty()) break;
    for (const auto& point : points) {
      const Evaluation evaluation = evaluation_of(data, point);
      if (evaluation.ok()) {
        const double value = evaluation.quantities.at("objective").value;
        best_gap = std::min(best_gap, (data.maximize ? data.optimum / value : value / data.optimum) - 1);
      }
      began = Clock::now();
      strategy->tell(point, evaluation);
      result.seconds += std::chrono::duration<double>(Clock::now() - began).count();
      if (++result.evaluations == arguments.at[wanted]) {
        result.gaps.push_back(best_gap);
        if (++wanted == arguments.at.size()) break;
      }
    }
  }
  while (result.gaps.size() < arguments.at.size()) result.gaps.push_back(best_gap);  // the space has ended
  return result;
}

struct Summary {
  std::string strategy;
  std::string data;
  std::vector<double> mean;      ///< of the gaps
  std::vector<double> interval;  ///< half of the 95 % interval of the mean
  std::vector<double> exact;     ///< share of the seeds that found the optimum
  double microseconds = 0;       ///< of the strategy for an evaluation
};

Summary summarize(const Recorded& data, const std::string& name, const Arguments& arguments) {
  std::vector<Replay> replays(arguments.seeds);
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < arguments.threads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t k = next++; k < arguments.seeds; k = next++) {
        replays[k] = replay(data, name, arguments.first_seed + k, arguments);
      }
    });
  }
  threads.clear();
  Summary summary{name, data.name, {}, {}, {}, 0};
  const auto n = static_cast<double>(replays.size());
  for (std::size_t i = 0; i < arguments.at.size(); ++i) {
    double sum = 0;
    double squares = 0;
    double exact = 0;
    for (const auto& each : replays) {
      sum += each.gaps[i];
      squares += each.gaps[i] * each.gaps[i];
      exact += each.gaps[i] <= 0 ? 1 : 0;
    }
    summary.mean.push_back(sum / n);
    summary.interval.push_back(1.96 * std::sqrt(std::max(0.0, squares / n - sum / n * sum / n) / n));
    summary.exact.push_back(exact / n);
  }
  double seconds = 0;
  std::size_t evaluations = 0;
  for (const auto& each : replays) {
    seconds += each.seconds;
    evaluations += each.evaluations;
  }
  summary.microseconds = 1e6 * seconds / static_cast<double>(evaluations);
  return summary;
}

void print_header(const Arguments& arguments) {
  if (arguments.format == "csv") {
    fmt::print("strategy,data,evaluations,mean_gap,half_interval_95,exact_share,microseconds_an_evaluation\n");
  } else if (arguments.format == "text") {
    fmt::print("{} seeds; mean gap in percent after so many evaluations, plus or minus its 95 % interval\n{:<24}",
               arguments.seeds, "strategy");
    for (const std::size_t at : arguments.at) fmt::print("{:>16}", at);
    fmt::print("  us an evaluation  data\n");
  }
}

void print(const Summary& summary, const Arguments& arguments) {
  if (arguments.format == "text") {
    fmt::print("{:<24}", summary.strategy);
    for (std::size_t i = 0; i < summary.mean.size(); ++i) {
      fmt::print("{:>9.2f} +- {:<4.2f}", 100 * summary.mean[i], 100 * summary.interval[i]);
    }
    fmt::print("  {:>16.1f}  {}\n", summary.microseconds, summary.data);
  } else {
    for (std::size_t i = 0; i < summary.mean.size(); ++i) {
      if (arguments.format == "csv") {
        fmt::print("{},{},{},{},{},{},{}\n", summary.strategy, summary.data, arguments.at[i], summary.mean[i],
                   summary.interval[i], summary.exact[i], summary.microseconds);
      } else {
        const nlohmann::json line = {{"strategy", summary.strategy},
                                     {"data", summary.data},
                                     {"evaluations", arguments.at[i]},
                                     {"mean_gap", summary.mean[i]},
                                     {"half_interval_95", summary.interval[i]},
                                     {"exact_share", summary.exact[i]},
                                     {"microseconds_an_evaluation", summary.microseconds}};
        fmt::print("{}\n", line.dump());
      }
    }
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    print_header(arguments);
    for (const auto& data : arguments.data) {
      for (const auto& name : arguments.strategies) print(summarize(data, name, arguments), arguments);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "wattune_strategies_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
