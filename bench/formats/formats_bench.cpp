// How fast large result files are read, beside what the file's bytes and plain parsing alone take: a Kernel Tuner
// cache, generated in the system's folder for temporary files. All figures are of the same run.
//
//   wattune_formats_bench [MEGABYTES]
//
// Each is done in a process of its own, as a user's command does it, so that none gains from memory that is there.

#include <fmt/format.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "store/formats/results.hpp"

namespace {

using namespace wattune;

/// Entries as Kernel Tuner writes them, each with 32 single times.
void generate(const std::filesystem::path& file, std::size_t bytes) {
  std::ofstream out(file, std::ios::binary);
  out << "{\n\"device_name\": \"GPU\",\n\"kernel_name\": \"kernel\",\n\"problem_size\": [4096, "
         "4096],\n\"tune_params_keys\": "
         "[\"a\", \"b\", \"c\", \"d\"],\n\"tune_params\": {\"a\": [";
  constexpr int values = 64;
  for (int parameter = 0; parameter < 4; ++parameter) {
    if (parameter > 0) out << "], \"" << static_cast<char>('a' + parameter) << "\": [";
    for (int i = 0; i < values; ++i) out << (i > 0 ? ", " : "") << i;
  }
  out << "]},\n\"objective\": \"time\",\n\"cache\": {";
  double time = 1.2345;
  for (int i = 0; static_cast<std::size_t>(out.tellp()) < bytes; ++i) {
    const int p[] = {i % values, i / values % values, i / values / values % values,
                     i / values / values / values % values};
    std::string times;
    for (int k = 0; k < 32; ++k)
      times += fmt::format("{}{}", k > 0 ? ", " : "", time = 1 + (time * 997.123 - static_cast<int>(time * 997.123)));
    out << fmt::format(
        "{}\n\"{},{},{},{}\": {{\"a\": {}, \"b\": {}, \"c\": {}, \"d\": {}, \"core_freq\": 1410.0, \"nvml_energy\": "
        "{}, \"time\": {}, "
        "\"times\": [{}], \"compile_time\": 440.95, \"verification_time\": 0, \"benchmark_time\": {}, \"GFLOP/s\": {}, "
        "\"strategy_time\": 0, \"framework_time\": 0.85, \"timestamp\": \"2022-12-23 12:11:26.411558+00:00\"}}",
        i > 0 ? "," : "", p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3], time / 3, time, times, 32 * time, 1e3 / time);
  }
  out << "}\n}\n";
}

/// Seconds that the work takes in a new process.
double seconds_of(const std::function<void()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(1);
  const pid_t child = ::fork();
  if (child == 0) {
    const double began = monotonic_seconds();
    work();
    const double seconds = monotonic_seconds() - began;
    const bool sent = ::write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
    ::_exit(sent ? 0 : 1);
  }
  double seconds = 0;
  const bool received = ::read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  if (!received || status != 0) std::exit(1);
  return seconds;
}

double best_of_three(const std::function<void()>& work) {
  return std::min({seconds_of(work), seconds_of(work), seconds_of(work)});
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100;
  const auto file = std::filesystem::temp_directory_path() / fmt::format("wattune-formats-bench-{}.json", ::getpid());
  generate(file, megabytes << 20);
  const double bytes = best_of_three([&] {
    const auto source = open_source(file);
    std::string buffer(std::size_t{1} << 20, '\0');
    while (source->read(buffer.data(), buffer.size()) > 0) {
    }
  });
  const double parse = best_of_three([&] {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.load(file.string()).get(root) != simdjson::SUCCESS) std::exit(1);
  });
  const double read = best_of_three([&] {
    if (read_results(file).evaluations.empty()) std::exit(1);
  });
  std::filesystem::remove(file);
  fmt::print("A Kernel Tuner cache of {} MB\n", megabytes);
  fmt::print("{:<42}{:>8.3f} s\n", "its bytes alone", bytes);
  fmt::print("{:<42}{:>8.3f} s\n", "simdjson, parsed whole, nothing kept", parse);
  fmt::print("{:<42}{:>8.3f} s, {:.2f} of simdjson alone\n", "read as results", read, read / parse);
  return 0;
}
