// How fast search spaces are built and asked, beside the peers: a loop over all points that evaluates the restrictions,
// and python-constraint where it is installed. All figures of a line are of the same run on the same machine.
//
//   wattune_space_bench [T1 file or folder of them]...
//
// Each space is built in a fresh process, as a user's command does it.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "expr/expression.hpp"
#include "space/search_space.hpp"

namespace {

using namespace wattune;
constexpr int processes_per_space = 7;

/// Time that this thread has spent on a processor: loops that are long enough to be interrupted are timed with it.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Definition {
  std::vector<Parameter> parameters;
  std::vector<Restriction> restrictions;
};

Value value_of(const nlohmann::json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

Definition read(const std::string& file) {
  const auto space = nlohmann::json::parse(std::ifstream(file)).at("ConfigurationSpace");
  Definition result;
  for (const auto& parameter : space.at("TuningParameters")) {
    std::vector<Value> values;
    if (parameter.at("Values").is_string()) {
      values = Expression::parse(parameter["Values"].get<std::string>()).evaluate().as_list();
    } else {
      for (const auto& value : parameter["Values"]) values.push_back(value_of(value));
    }
    result.parameters.push_back({parameter.at("Name"), std::move(values)});
  }
  for (const auto& condition : space.value("Conditions", nlohmann::json::array())) {
    result.restrictions.push_back({condition.at("Expression"), file});
  }
  return result;
}

/// Of this process, in MB.
double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// What the process that builds one space prints: seconds and the megabytes that came with it.
int build_once(const std::string& file) {
  Definition definition = read(file);
  const double before = resident_megabytes();
  const SearchSpace space = SearchSpace::build(std::move(definition.parameters), std::move(definition.restrictions));
  fmt::print("{} {}\n", space.build_seconds(), resident_megabytes() - before);
  return 0;
}

/// Output of a command; nothing where it does not end with 0.
std::optional<std::string> output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t n = 0; failed == 0 && (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    output.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return output;
}

struct BuildFigures {
  double least_seconds = 1e9;
  double median_seconds = 0;
  double megabytes = 0;
};

BuildFigures measure_builds(const std::string& self, const std::string& file) {
  BuildFigures result;
  std::vector<double> all;
  for (int i = 0; i < processes_per_space; ++i) {
    std::istringstream output(output_of({self, "--build", file}).value_or("1e9 0"));
    double seconds = 0, megabytes = 0;
    output >> seconds >> megabytes;
    all.push_back(seconds);
    result.megabytes = std::max(result.megabytes, megabytes);
  }
  std::ranges::sort(all);
  result.least_seconds = all.front();
  result.median_seconds = all[all.size() / 2];
  return result;
}

struct BruteForce {
  double seconds = 0;           ///< for all points
  bool extrapolated = false;    ///< from the first points
  double seconds_per_test = 0;  ///< one evaluation of one restriction
};

/// Goes through the points and evaluates the restrictions in order until one fails.
BruteForce measure_brute_force(const Definition& definition, double cartesian) {
  std::vector<std::string> names;
  std::vector<const Value*> values;
  for (const Parameter& parameter : definition.parameters) {
    names.push_back(parameter.name);
    values.push_back(parameter.values.data());
  }
  std::vector<Program> programs;
  for (const Restriction& restriction : definition.restrictions) {
    programs.push_back(Expression::parse(restriction.expression).compile(names));
  }
  constexpr std::uint64_t most_points = 30'000'000;
  std::uint64_t points = 0, tests = 0, valid = 0;
  const auto start = processor_seconds();
  bool more = true;
  while (more && points < most_points) {
    bool holds = true;
    for (const Program& program : programs) {
      ++tests;
      if (program.test(values, holds) != Fault::none) holds = false;
      if (!holds) break;
    }
    valid += holds ? 1 : 0;
    ++points;
    more = false;
    for (std::size_t i = values.size(); i-- > 0 && !more;) {
      const std::vector<Value>& list = definition.parameters[i].values;
      more = ++values[i] != list.data() + list.size();
      if (!more) values[i] = list.data();
    }
  }
  const double seconds = (processor_seconds() - start);
  BruteForce result;
  result.extrapolated = more;
  result.seconds = seconds * cartesian / static_cast<double>(points);
  result.seconds_per_test = tests == 0 ? 0 : seconds / static_cast<double>(tests);
  return result;
}

struct QueryFigures {
  double point = 0, index = 0, hamming = 0, adjacent = 0;  ///< seconds each
  double neighbours = 0;                                   ///< Hamming neighbours on average
};

QueryFigures measure_queries(const SearchSpace& space) {
  const std::vector<Count> indices = space.sample(100'000, 1);
  const double n = static_cast<double>(indices.size());
  QueryFigures result;
  if (indices.empty()) return result;
  std::vector<Point> points;
  points.reserve(indices.size());
  auto start = processor_seconds();
  for (const Count index : indices) points.push_back(space.point(index));
  result.point = (processor_seconds() - start) / n;
  start = processor_seconds();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (space.index(points[i]) != indices[i]) std::abort();
  }
  result.index = (processor_seconds() - start) / n;
  std::vector<Move> moves;
  start = processor_seconds();
  for (const Point& point : points) {
    space.moves(point, Neighbourhood::hamming, moves);
    result.neighbours += static_cast<double>(moves.size()) / n;
  }
  result.hamming = (processor_seconds() - start) / n;
  start = processor_seconds();
  for (const Point& point : points) space.moves(point, Neighbourhood::adjacent, moves);
  result.adjacent = (processor_seconds() - start) / n;
  return result;
}

std::string duration(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

void measure(const std::string& self, const std::string& file) {
  const Definition definition = read(file);
  const SearchSpace space = SearchSpace::build(definition.parameters, definition.restrictions);
  const BuildFigures build = measure_builds(self, file);
  const BruteForce loop = measure_brute_force(definition, static_cast<double>(space.cartesian()));
  const QueryFigures queries = measure_queries(space);

  fmt::print("{}: {} of {} points valid\n", std::filesystem::path(file).stem().string(), to_string(space.size()),
             to_string(space.cartesian()));
  fmt::print("  build             {} (median {} of {} fresh processes), {:.1f} MB\n", duration(build.least_seconds),
             duration(build.median_seconds), processes_per_space, build.megabytes);
  fmt::print("  all points        {}{}: {:.0f} times as long; {} a restriction\n", duration(loop.seconds),
             loop.extrapolated ? " (extrapolated)" : "", loop.seconds / build.least_seconds,
             duration(loop.seconds_per_test));
  const std::string script = WATTUNE_SOURCE_DIR "/bench/space/peer.py";
  // The peer lists all configurations: where there are too many it would take all memory.
  if (space.size() > 10'000'000) {
    fmt::print("  python-constraint not run: too many configurations to list\n");
  } else if (const auto output = output_of({"timeout", "600", "python3", script, file})) {
    std::istringstream stream(*output);
    std::string size;
    double seconds = 0;
    stream >> size >> seconds;
    fmt::print("  python-constraint {}: {:.0f} times as long{}\n", duration(seconds), seconds / build.least_seconds,
               size == to_string(space.size()) ? "" : ", and another number: " + size);
  } else {
    fmt::print("  python-constraint not run: it is not installed, or took more than ten minutes\n");
  }
  fmt::print("  point {}, index {}, all {:.1f} Hamming neighbours {}, adjacent {}\n", duration(queries.point),
             duration(queries.index), queries.neighbours, duration(queries.hamming), duration(queries.adjacent));
  std::fflush(stdout);
}

std::vector<std::string> files_in(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path.string()};
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() != ".json") continue;
    const auto json = nlohmann::json::parse(std::ifstream(entry.path()), nullptr, false);
    if (json.is_object() && json.contains("ConfigurationSpace")) result.push_back(entry.path().string());
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--build") return build_once(arguments[1]);
  std::vector<std::filesystem::path> paths(arguments.begin(), arguments.end());
  if (paths.empty()) {
    const std::filesystem::path source = WATTUNE_SOURCE_DIR;
    paths = {source / "bench/space/spaces", source / "../shared/data/spaces", source / "../shared/data/hub"};
  }
  for (const std::filesystem::path& path : paths) {
    if (!std::filesystem::exists(path)) {
      fmt::print("{}: skipped, it does not exist\n", path.string());
      continue;
    }
    for (const std::string& file : files_in(path)) measure("/proc/self/exe", file);
  }
}
