#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.hpp"
#include "cli/recorded.hpp"
#include "cli/results_commands.hpp"
#include "cli/say.hpp"
#include "report/json.hpp"
#include "store/formats/tuned.hpp"

namespace wattune::cli {

namespace {

bool same_target(const Tuned& a, const Tuned& b) {
  return a.problem == b.problem && a.device == b.device && a.problem_size == b.problem_size &&
         a.objective.name == b.objective.name;
}

/// Of several results for the same device and size the better one stays.
void keep_better(std::vector<Tuned>& tuned, Tuned candidate) {
  const auto found =
      std::find_if(tuned.begin(), tuned.end(), [&](const Tuned& t) { return same_target(t, candidate); });
  if (found == tuned.end()) {
    tuned.push_back(std::move(candidate));
    return;
  }
  const double known = found->quantities.at(found->objective.name).value;
  const double value = candidate.quantities.at(candidate.objective.name).value;
  if (candidate.objective.direction == Direction::minimize ? value < known : value > known)
    *found = std::move(candidate);
}

}  // namespace

int run_export(const ExportArguments& arguments) {
  std::vector<Tuned> tuned;
  for (const auto& input : arguments.inputs) {
    const Results results = read_recorded(input);
    const Objective objective = recorded_objectives(results, arguments.minimize, arguments.maximize).front();
    auto best = best_of(results, objective);
    if (!best) throw UsageError(fmt::format("{}: {}", input, why_none_has(results, objective.name)));
    tell_of_bounds(results, std::span(&objective, 1));
    keep_better(tuned, std::move(*best));
  }
  const std::string text = arguments.header ? tuned_header(tuned) : json_text(to_json(tuned));
  if (arguments.output.empty()) {
    fmt::print("{}", text);
  } else {
    OutputFile out(arguments.output);
    out.write(text);
    out.commit();
    say("{} configurations in {}\n", tuned.size(), arguments.output);
  }
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
