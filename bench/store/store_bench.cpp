// How fast a journal is loaded, beside what no reader of it can do without: reading its bytes, and parsing its lines
// with simdjson (the parse alone, in one thread: nothing is taken out of the documents). All figures are of one run.
//
//   wattune_store_bench [EVALUATIONS]     default 1000000: a file of about 800 MB in the temporary folder

#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/subprocess.hpp"
#include "store/journal_header.hpp"
#include "store/journal_line.hpp"
#include "store/journal_reader.hpp"

namespace {

using namespace wattune;
namespace fs = std::filesystem;

constexpr int rounds = 5;
const std::vector<std::string> names = {"tile_x",       "tile_y",      "block_size_x", "block_size_y", "unroll",
                                        "vector_width", "use_padding", "read_only",    "nvml_gr_clock"};

JournalHeader header() {
  JournalHeader header;
  header.problem_hash = std::string(32, '0');
  header.problem_name = "benchmark";
  header.parameter_names = names;
  header.parameter_values.assign(names.size(), {Value(1)});
  header.parameter_kinds.assign(names.size(), "code");
  header.device_name = "benchmark";
  return header;
}

/// A line as a tuning for energy writes it: 10 quantities. One in 16 is a failure.
Evaluation evaluation(std::int64_t number) {
  Evaluation result;
  result.configuration.emplace_back(number);
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (i == 6) {
      result.configuration.emplace_back(number % 2 == 0);
    } else {
      result.configuration.emplace_back((number >> (2 * i)) % 1024);
    }
  }
  result.board = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  result.timestamp = "2026-01-31T12:00:00.000Z";
  result.proposal = result.told = result.asked = number;
  result.run = "0123abcd";
  result.phases = {{"compile", 1.234567}, {"load", 0.00123}, {"verify", 0.0123}, {"warm_up", 0.01}, {"time", 0.0234}};
  if (number % 16 == 0) {
    result.outcome = Outcome::resources;
    result.message = "too many resources requested for launch: 1024 threads with 96 registers each";
    return result;
  }
  const double x = 1.0 + 1e-6 * static_cast<double>(number);
  result.verification = "verified";
  result.quantities = {{"time", {1.23456789e-3 * x, "s", 1.2e-6 * x, 12, {}}},
                       {"time_min", {1.2e-3 * x, "s", 0, 12, {}}},
                       {"time_spread", {3.4e-6 * x, "s", 0, 12, {}}},
                       {"max_error", {1.234e-7 * x, "", 0, 1, {}}},
                       {"energy", {0.23456 * x, "J", 0.0012, 3, {"power_capped"}}},
                       {"power", {345.678 * x, "W", 1.5, 3, {}}},
                       {"sm_clock", {1.98e9, "Hz", 0, 30, {}}},
                       {"temperature", {55.5, "degC", 0.1, 30, {}}},
                       {"GFLOP/s", {12345.678 / x, "GFLOP/s", 12.3, 12, {}}},
                       {"GFLOP/J", {56.78 / x, "GFLOP/J", 0.2, 3, {}}}};
  result.resources = {{"registers", 96}, {"shared_bytes", 16384}, {"spill_bytes", 0}};
  return result;
}

void write_journal(const fs::path& file, std::int64_t count) {
  std::ofstream stream(file, std::ios::binary);
  stream << header_line(header());
  for (std::int64_t i = 0; i < count; ++i) stream << evaluation_line(evaluation(i), names);
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

std::string read_bytes(const fs::path& file) {
  std::string bytes(fs::file_size(file) + simdjson::SIMDJSON_PADDING, '\0');
  std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(bytes.size() - simdjson::SIMDJSON_PADDING);
  return bytes;
}

std::size_t parse_lines(const std::string& bytes) {
  simdjson::dom::parser parser;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\n', begin);
    if (parser.parse(bytes.data() + begin, end - begin, false).error() == simdjson::SUCCESS) ++count;
    begin = end + 1;
  }
  return count;
}

double seconds(const std::function<void()>& action) {
  const double began = monotonic_seconds();
  action();
  return monotonic_seconds() - began;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const fs::path file = fs::temp_directory_path() / fmt::format("wattune-store-bench-{}.jsonl", ::getpid());
  const double writing = seconds([&] { write_journal(file, count); });
  std::vector<double> reading, parsing, loading, freeing;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes;
    reading.push_back(seconds([&] { bytes = read_bytes(file); }));
    std::size_t parsed = 0;
    parsing.push_back(seconds([&] { parsed = parse_lines(bytes); }));
    bytes = {};
    JournalContent content;
    loading.push_back(seconds([&] { content = read_journal(file); }));
    if (parsed != static_cast<std::size_t>(count) + 1 ||
        content.evaluations.size() != static_cast<std::size_t>(count) || !content.warnings.empty()) {
      throw std::runtime_error("the journal was not read whole");
    }
    freeing.push_back(seconds([&] { content = {}; }));
  }
  fmt::print("{} evaluations, {:.0f} MB, {} cores; medians of {} rounds\n", count,
             static_cast<double>(fs::file_size(file)) * 1e-6, available_cores(), rounds);
  const double load = median(loading);
  fmt::print("{:<28}{:>8.2f} s\n", "making the file", writing);
  fmt::print("{:<28}{:>8.2f} s\n", "loading the journal", load);
  for (const auto& [what, values] :
       {std::pair("reading the bytes", reading), std::pair("parsing with simdjson", parsing),
        std::pair("freeing it again", freeing)}) {
    fmt::print("{:<28}{:>8.2f} s   loading takes {:.1f} times as long\n", what, median(values), load / median(values));
  }
  fs::remove(file);
}
