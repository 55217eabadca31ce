// Strategies on recorded results: the mean gap to the optimum after so many evaluations, over many seeds, with its 95 %
// interval, and the time that a strategy itself takes for an evaluation ('wattune replay' has more figures, but not
// that time).
//
//   wattune_strategies_bench [--seeds N] [--threads N] [--strategy NAME]... [--option KEY=VALUE]... [--at 50,100,200]
//                            [--data FILE QUANTITY min|max]...
//
// A failed configuration counts as an evaluation. Without --data the recorded data beside the source tree is used,
// where it is there, and the project's own.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "analysis/search_quality.hpp"
#include "base/error.hpp"
#include "strategy/strategy.hpp"
#include "tune/replay.hpp"

namespace {

using namespace wattune;

struct Data {
  std::string file;
  Objective objective;
};

struct Arguments {
  std::uint64_t seeds = 300;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> strategies;
  StrategyOptions options;
  std::vector<std::size_t> at = {50, 100, 200, 400};
  std::vector<Data> data;
};

void add_default_data(std::vector<Data>& data) {
  const std::filesystem::path source = WATTUNE_SOURCE_DIR;
  const auto add = [&](const std::filesystem::path& file, Objective objective) {
    if (std::filesystem::exists(file)) {
      data.push_back({file.string(), std::move(objective)});
    } else {
      fmt::print(stderr, "{} is not there: left out\n", file.string());
    }
  };
  const auto recorded = source / ".." / "shared" / "data";
  add(recorded / "ada_tensorcore_beamformer" / "cache.json.gz", {"TFLOPS/J", Direction::maximize});
  add(recorded / "hub" / "convolution_A100.json.gz", {"time", Direction::minimize});
  add(recorded / "hub" / "dedispersion_A100_T4.json.gz", {"time", Direction::minimize});
  add(source / "data" / "h200" / "gemm-4096.jsonl.gz", {"energy", Direction::minimize});
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
    } else if (name == "--threads") {
      arguments.threads = static_cast<unsigned>(std::stoul(next()));
    } else if (name == "--strategy") {
      arguments.strategies.push_back(next());
    } else if (name == "--option") {
      add_strategy_option(arguments.options, next());
    } else if (name == "--at") {
      arguments.at.clear();
      std::stringstream list(next());
      for (std::string item; std::getline(list, item, ',');) arguments.at.push_back(std::stoull(item));
    } else if (name == "--data") {
      const std::string file = next();
      const std::string quantity = next();
      arguments.data.push_back({file, {quantity, next() == "max" ? Direction::maximize : Direction::minimize}});
    } else {
      throw UsageError(fmt::format("there is no option '{}'", name));
    }
  }
  if (arguments.data.empty()) add_default_data(arguments.data);
  if (arguments.strategies.empty()) {
    for (const auto& strategy : strategy_descriptions()) {
      if (!strategy.multi_objective || strategy.name == "auto") arguments.strategies.push_back(strategy.name);
    }
  }
  return arguments;
}

/// Adds the time until its end.
class Watch {
 public:
  explicit Watch(double& total) : total_(total) {}
  ~Watch() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

 private:
  double& total_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Counts the time that is spent in a strategy.
class TimedStrategy : public Strategy {
 public:
  explicit TimedStrategy(std::unique_ptr<Strategy> inner) : inner_(std::move(inner)) {}
  std::vector<Point> ask(std::size_t n) override {
    const Watch watch(seconds_);
    return inner_->ask(n);
  }
  void tell(const Point& point, const Evaluation& evaluation) override {
    const Watch watch(seconds_);
    inner_->tell(point, evaluation);
  }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  std::unique_ptr<Strategy> inner_;
  double seconds_ = 0;
};

struct Timed {
  SearchRun run;
  double seconds = 0;
  std::size_t evaluations = 0;
};

std::vector<Timed> search_all(const Recording& recording, const SearchQuality& quality, const std::string& strategy,
                              const Arguments& arguments) {
  StrategySetup setup;
  setup.objectives = {quality.objective()};
  setup.kinds = recording.kinds();
  setup.options = arguments.options;
  const std::size_t budget = *std::max_element(arguments.at.begin(), arguments.at.end());
  std::vector<Timed> results(arguments.seeds);
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < arguments.threads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t seed = thread; seed < arguments.seeds; seed += arguments.threads) {
        TimedStrategy timed(make_strategy(strategy, recording.space(), seed, setup));
        const SearchTrace trace = search_recorded(recording, timed, budget);
        results[seed] = {quality.judge({strategy, seed}, trace), timed.seconds(), trace.evaluations.size()};
      }
    });
  }
  threads.clear();
  return results;
}

void bench(const Recording& recording, const SearchQuality& quality, const std::string& strategy,
           const std::string& name, const Arguments& arguments) {
  std::vector<SearchRun> runs;
  double seconds = 0;
  std::size_t evaluations = 0;
  for (auto& result : search_all(recording, quality, strategy, arguments)) {
    runs.push_back(std::move(result.run));
    seconds += result.seconds;
    evaluations += result.evaluations;
  }
  fmt::print("{:<24}", strategy);
  for (const std::size_t n : arguments.at) {
    const GapSummary summary = quality.summary(runs, n);
    fmt::print("{:>9.2f} +- {:<4.2f}", 100 * summary.mean, 100 * summary.confidence);
  }
  fmt::print("  {:>16.1f}  {}\n", 1e6 * seconds / static_cast<double>(std::max<std::size_t>(1, evaluations)), name);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    fmt::print("{} seeds; mean gap in percent after so many evaluations, plus or minus its 95 % interval\n{:<24}",
               arguments.seeds, "strategy");
    for (const std::size_t at : arguments.at) fmt::print("{:>16}", at);
    fmt::print("  us an evaluation  data\n");
    for (const auto& data : arguments.data) {
      const Results results = read_results(data.file);
      const Recording recording(results);
      const SearchQuality quality(recording, data.objective);
      for (const auto& strategy : arguments.strategies) {
        bench(recording, quality, strategy, std::filesystem::path(data.file).filename().string(), arguments);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "wattune_strategies_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
