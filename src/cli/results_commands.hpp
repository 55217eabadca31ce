#pragma once
// The commands that work on recorded results: convert, results, replay, export, model. main() adds them to its own.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace wattune::cli {

struct ConvertArguments {
  std::string input;
  std::string output;
  std::string to;  ///< empty: by the output's name
};
int run_convert(const ConvertArguments& arguments);

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string to;
};
int run_merge(const MergeArguments& arguments);

struct ShowArguments {
  std::string input;
  std::string sort;
  bool descending = false;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  std::size_t top = 10;
  bool json = false;
};
int run_show(const ShowArguments& arguments);

struct FrontArguments {
  std::string input;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  std::size_t top = 20;
  bool json = false;
  bool csv = false;
  bool all = false;  ///< with csv: also what is not on the front
};
int run_front(const FrontArguments& arguments);

struct CheckArguments {
  std::string input;
  std::string problem;
  bool json = false;
};
/// @return run_failed where something is wrong with the file.
int run_check(const CheckArguments& arguments);

struct DropFailedArguments {
  std::string input;
  std::string output;
  std::string to;
  std::vector<std::string> kinds;  ///< outcomes; empty: all failures
};
int run_drop_failed(const DropFailedArguments& arguments);

struct ReplayArguments {
  std::string input;
  std::vector<std::string> strategies;
  std::vector<std::string> methods;
  std::optional<double> base_clock;           ///< MHz
  std::vector<std::string> strategy_options;  ///< key=value, for all of them
  std::string seeds = "30";
  std::uint64_t budget = 0;  ///< 0: the largest of `at`, else 200
  std::vector<std::uint64_t> at;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  bool all_valid = false;
  unsigned threads = 0;
  bool json = false;
  bool csv = false;
};
int run_replay(const ReplayArguments& arguments);

struct ExportArguments {
  std::vector<std::string> inputs;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  std::string output;
  bool header = false;
};
int run_export(const ExportArguments& arguments);

struct ModelArguments {
  std::string input;
  std::string form = "free";
  std::string clock;               ///< empty: the actual clock
  std::string power;               ///< empty: whichever is recorded
  std::string voltage;             ///< empty: where there is one
  std::vector<std::string> where;  ///< NAME=VALUE
  std::string width = "10%";
  std::size_t count = 10;
  std::string supported;  ///< empty: as the requested clocks suggest
  bool json = false;
};
int run_model(const ModelArguments& arguments);

/// The arguments of all of them, and which one was given.
struct ResultsCommands {
  ConvertArguments convert;
  MergeArguments merge;
  ShowArguments show;
  FrontArguments front;
  CheckArguments check;
  DropFailedArguments drop_failed;
  ReplayArguments replay;
  ExportArguments export_best;
  ModelArguments model;

  void add_to(CLI::App& app);
  /// Runs the command that was given. Nothing where it is none of these.
  std::optional<int> run(const CLI::App& app) const;
};

}  // namespace wattune::cli
