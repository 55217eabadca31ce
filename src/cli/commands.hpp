#pragma once
// The sub-commands, one file each. They return the exit code, and throw Error for what main() prints.

#include <cstdint>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "space/search_space.hpp"

namespace wattune::cli {

struct DevicesArguments {
  bool json = false;
};
int run_devices(const DevicesArguments& arguments);

struct SpaceArguments {
  std::string problem;
  std::string problem_size;
  bool count = false;
  bool list = false;
  std::uint64_t sample = 0;
  std::uint64_t seed = 0;
  bool json = false;
};
int run_space(const SpaceArguments& arguments);

struct TuneArguments {
  std::string problem;
  std::string device;
  std::string problem_size;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  std::string strategy = "random";
  std::vector<std::string> budget;
  std::uint64_t seed = 0;
  std::string output;
  double timeout = 60;
  double compile_timeout = 120;
  unsigned compile_processes = 0;
  std::string compiler = "auto";
  std::string meter = "auto";
  unsigned energy_ticks = 3;
  bool verify_only = false;
  bool keep_going = false;
  bool no_cache = false;
  bool profile = false;
  double abandon_above = 0;
  std::size_t top = 10;
  bool json = false;
};
int run_tune(const TuneArguments& arguments);

/// "256,256,256" as numbers. @throws UsageError.
std::vector<std::int64_t> parse_problem_size(const std::string& text);

/// The problem's space. @throws UsageError for an empty one, saying which restrictions leave nothing.
SearchSpace build_space(const Problem& problem);

/// Prints the problem's warnings to stderr.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace wattune::cli
