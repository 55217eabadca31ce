// The options of the commands on recorded results, apart from main.cpp.

#include "cli/results_commands.hpp"

#include "cli/options.hpp"
#include "method/method.hpp"
#include "strategy/strategy.hpp"

namespace wattune::cli {

namespace {

constexpr const char* results_help = "Results: a journal (.jsonl), Kernel Tuner cache, T4 or CSV, also with .gz";
constexpr const char* to_help = "Format of the output: journal, kernel-tuner, t4, csv; default: by its name";

void add_objectives(CLI::App* command, std::vector<std::string>& minimize, std::vector<std::string>& maximize) {
  command
      ->add_option("--minimize", minimize,
                   "Quantity of which less is better (repeatable); default: what the file says it was tuned for "
                   "(journals do not), else time")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--maximize", maximize, "Quantity of which more is better (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

void add_convert(CLI::App& app, ConvertArguments& arguments) {
  auto* command = app.add_subcommand("convert", "Convert results between journal, Kernel Tuner cache, T4 and CSV");
  command->add_option("IN", arguments.input, results_help)->required();
  command
      ->add_option("OUT", arguments.output,
                   "File to write: .jsonl, .json (Kernel Tuner), .t4.json, .csv; .gz compresses")
      ->required();
  command->add_option("--to", arguments.to, to_help)->type_name("FORMAT");
  command->footer(
      "Damaged and torn parts are dropped, and told of. docs/results.md says what each format cannot hold.\n"
      "Examples:\n"
      "  wattune convert cache.json results.t4.json\n"
      "  wattune convert gemm-1a2b3c4d.jsonl gemm.json --to kernel-tuner\n"
      "  wattune convert cache.json.gz results.csv");
}

void add_merge(CLI::App& results, MergeArguments& arguments) {
  auto* command = results.add_subcommand("merge", "Put results of one kernel on one device together");
  command->add_option("RESULTS", arguments.inputs, results_help)->required();
  command->add_option("-o,--output", arguments.output, "File to write")->type_name("FILE")->required();
  command->add_option("--to", arguments.to, to_help)->type_name("FORMAT");
  command->footer(
      "The same measurement in several files counts once. Further measurements of a configuration are kept as trials "
      "of\n"
      "their own; of those in tier 'final' the mean counts, else the last success.\n"
      "Example:\n"
      "  wattune results merge monday.json tuesday.json -o both.jsonl");
}

void add_show(CLI::App& results, ShowArguments& arguments) {
  auto* command = results.add_subcommand("show", "What a file holds, and its best configurations");
  command->add_option("RESULTS", arguments.input, results_help)->required();
  auto* sort = command->add_option("--sort", arguments.sort, "Quantity to sort by, least first")->type_name("NAME");
  command->add_flag("--descending", arguments.descending, "Sort the other way round");
  add_objectives(command, arguments.minimize, arguments.maximize);
  for (const char* objective : {"--minimize", "--maximize"}) sort->excludes(command->get_option(objective));
  command->add_option("--top", arguments.top, "Rows of the table")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, 1000000));
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  wattune results show cache.json.gz\n"
      "  wattune results show cache.json.gz --maximize TFLOPS/J --top 20\n"
      "  wattune results show gemm.jsonl --sort power --descending");
}

void add_front(CLI::App& results, FrontArguments& arguments) {
  auto* command = results.add_subcommand("front", "Pareto front of two or more quantities, its knee and trade-off");
  command->add_option("RESULTS", arguments.input, results_help)->required();
  add_objectives(command, arguments.minimize, arguments.maximize);
  command->add_option("--top", arguments.top, "Rows of the table; a longer front is shown at places spread evenly")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(2, 1000000));
  auto* as_json = command->add_flag("--json", arguments.json, "One JSON object on stdout");
  auto* as_csv =
      command->add_flag("--csv", arguments.csv, "A line for each configuration of the front, for plotting; SI units")
          ->excludes(as_json);
  command->add_flag("--all", arguments.all, "With --csv: also the configurations that are not on the front")
      ->needs(as_csv);
  command->footer(
      "A member is 'not sure' where another configuration may, within the uncertainty of 95 %, be as good or better in "
      "every\n"
      "quantity. The knee is the member farthest from the line between the ends, each quantity scaled to its range on "
      "the front.\n"
      "Examples:\n"
      "  wattune results front gemm.jsonl --maximize GFLOP/s --maximize GFLOP/J\n"
      "  wattune results front cache.json.gz --minimize energy --minimize time --csv --all >points.csv");
}

void add_check(CLI::App& results, CheckArguments& arguments) {
  auto* command =
      results.add_subcommand("check", "Look for duplicates, points outside the space, torn parts, wrong units");
  command->add_option("RESULTS", arguments.input, results_help)->required();
  command->add_option("--problem", arguments.problem, "Problem file whose parameters and restrictions count")
      ->type_name("FILE");
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "Ends with 1 where something is wrong.\n"
      "Example:\n"
      "  wattune results check cache.json --problem problem.json");
}

void add_drop_failed(CLI::App& results, DropFailedArguments& arguments) {
  auto* command = results.add_subcommand("drop-failed", "Remove evaluations that failed, so that they are tried again");
  command->add_option("RESULTS", arguments.input, results_help)->required();
  command->add_option("-o,--output", arguments.output, "File to write; may be the same")->type_name("FILE")->required();
  command->add_option("--to", arguments.to, to_help)->type_name("FORMAT");
  command->add_option("--kind", arguments.kinds, "Only these failures, for example timeout (repeatable); default: all")
      ->type_name("OUTCOME")
      ->allow_extra_args(false);
  command->footer(
      "Example:\n"
      "  wattune results drop-failed gemm-1a2b3c4d.jsonl -o gemm-1a2b3c4d.jsonl --kind timeout");
}

void add_replay(CLI::App& app, ReplayArguments& arguments) {
  auto* command = app.add_subcommand("replay", "Try search strategies on recorded results, with many seeds");
  command->add_option("RESULTS", arguments.input, results_help)->required();
  command
      ->add_option("--strategy", arguments.strategies,
                   "Strategies, separated by commas: " + names_of(strategy_descriptions()))
      ->type_name("A,B")
      ->delimiter(',');
  command
      ->add_option(
          "--method", arguments.methods,
          "Tuning methods, separated by commas, told the budget (docs/methods.md): " + names_of(method_descriptions()))
      ->type_name("A,B")
      ->delimiter(',');
  command->add_option("--base-clock", arguments.base_clock, "MHz at which energy-to-solution+clocks begins")
      ->type_name("MHZ")
      ->check(positive_number());
  command
      ->add_option("--strategy-option", arguments.strategy_options,
                   "Option of the strategies, all of which must have it (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--seeds", arguments.seeds, "How many seeds, from 0, or which: FIRST:LAST")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--budget", arguments.budget, "Evaluations of each run; default: the largest of --at, else 200")
      ->type_name("N")
      ->check(whole_number(1, 1000000000));
  command
      ->add_option("--at", arguments.at, "Numbers of evaluations to report; default: 50, 100, 200, 400 and the budget")
      ->type_name("N,N")
      ->delimiter(',')
      ->check(whole_number(1, 1000000000));
  add_objectives(command, arguments.minimize, arguments.maximize);
  command->add_flag("--all-valid", arguments.all_valid,
                    "Let strategies propose valid configurations that are not recorded, too: they count as failures");
  command->add_option("--threads", arguments.threads, "Runs at a time; 0: as many as there are cores")
      ->type_name("N")
      ->check(whole_number(0, 1024));
  auto* as_json = command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->add_flag("--csv", arguments.csv, "A line for each strategy and number of evaluations, for plotting")
      ->excludes(as_json);
  command->footer(
      "A failed configuration counts as an evaluation, one that is proposed again does not. docs/replay.md has the "
      "figures.\n"
      "Examples:\n"
      "  wattune replay cache.json.gz --strategy random,local_search --seeds 100 --at 50,100,200\n"
      "  wattune replay cache.json.gz --strategy auto --maximize TFLOPS/J --json\n"
      "  wattune replay cache.json.gz --strategy auto --method two-clock --maximize TFLOPS/J --at 100,200\n"
      "  wattune replay gemm.jsonl --strategy auto --minimize energy --csv >curves.csv");
}

void add_export(CLI::App& app, ExportArguments& arguments) {
  auto* command =
      app.add_subcommand("export", "The best configuration for each device and problem size, as JSON or a C++ header");
  command->add_option("RESULTS", arguments.inputs, results_help)->required();
  add_objectives(command, arguments.minimize, arguments.maximize);
  command->add_flag("--header", arguments.header, "A C++ header of constants");
  command->add_option("-o,--output", arguments.output, "File to write; default: stdout")->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  wattune export a100.json h200.jsonl -o tuned.json\n"
      "  wattune export gemm.jsonl --minimize energy --header -o gemm_tuned.hpp");
}

void add_model(CLI::App& app, ModelArguments& arguments) {
  auto* command = app.add_subcommand(
      "model", "Power-frequency model of recorded results: ridge, most efficient clock, clocks to search");
  command->add_option("DATA", arguments.input, results_help)->required();
  command
      ->add_option("--form", arguments.form,
                   "free: P_idle, alpha, ridge, beta, P_max; paper: normalised as in published implementations; "
                   "leakage: with a\n"
                   "part in proportion to the voltage")
      ->capture_default_str()
      ->check(CLI::IsMember({"free", "paper", "leakage"}));
  command
      ->add_option(
          "--clock", arguments.clock,
          "Quantity or parameter that is the actual clock; default: sm_clock, core_freq, clock, else nvml_gr_clock")
      ->type_name("NAME");
  command
      ->add_option("--power", arguments.power,
                   "Quantity or parameter that is the power; default: power, nvml_power, ps_power, else energy / time")
      ->type_name("NAME");
  command
      ->add_option("--voltage", arguments.voltage,
                   "Quantity that is the core voltage, or none; default: gr_voltage, core_voltage or voltage, where "
                   "there is one")
      ->type_name("NAME");
  command->add_option("--where", arguments.where, "Only evaluations in which a parameter has this value (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--width", arguments.width,
                   "How far from the predicted optimum clocks are recommended, on either side")
      ->type_name("P%")
      ->capture_default_str();
  command->add_option("--count", arguments.count, "How many clocks are recommended at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  command
      ->add_option(
          "--supported", arguments.supported,
          "Clocks that the device supports, in MHz: LO:HI:STEP, or a list; default: guessed from the requested ones")
      ->type_name("CLOCKS");
  command->add_flag("--json", arguments.json, "One JSON object on stdout");
  command->footer(
      "The data should be of a compute-bound kernel at about ten clocks spread over the supported ones. docs/model.md\n"
      "describes the forms and what the uncertainties mean.\n"
      "Examples:\n"
      "  wattune model cache.json\n"
      "  wattune model cache.json --form paper --supported 405:2100:15 --width 10% --count 10\n"
      "  wattune model gemm.jsonl --where MWG=128 --where NWG=128 --json");
}

}  // namespace

void ResultsCommands::add_to(CLI::App& app) {
  add_convert(app, convert);
  auto* results = app.add_subcommand("results", "Work on result files: merge, show, front, check, drop-failed");
  results->require_subcommand(1);
  results->footer("'wattune results COMMAND --help' shows the options and examples of each.");
  add_merge(*results, merge);
  add_show(*results, show);
  add_front(*results, front);
  add_check(*results, check);
  add_drop_failed(*results, drop_failed);
  add_replay(app, replay);
  add_export(app, export_best);
  add_model(app, model);
}

std::optional<int> ResultsCommands::run(const CLI::App& app) const {
  if (app.got_subcommand("convert")) return run_convert(convert);
  if (app.got_subcommand("replay")) return run_replay(replay);
  if (app.got_subcommand("export")) return run_export(export_best);
  if (app.got_subcommand("model")) return run_model(model);
  if (!app.got_subcommand("results")) return std::nullopt;
  const CLI::App* results = app.get_subcommand("results");
  if (results->got_subcommand("merge")) return run_merge(merge);
  if (results->got_subcommand("show")) return run_show(show);
  if (results->got_subcommand("front")) return run_front(front);
  if (results->got_subcommand("check")) return run_check(check);
  return run_drop_failed(drop_failed);
}

}  // namespace wattune::cli
