#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/say.hpp"
#include "problem/problem.hpp"
#include "report/table.hpp"
#include "result/evaluation.hpp"

namespace wattune::cli {

namespace {

using nlohmann::json;

void print_configurations(const SearchSpace& space, const std::vector<Count>& indices, std::string& out) {
  for (const Count index : indices) {
    const char* separator = "";
    for (const auto& value : space.values(space.point(index))) {
      out += separator + value.str();
      separator = "\t";
    }
    out += '\n';
  }
}

void print_list(const SpaceArguments& arguments, const SearchSpace& space) {
  std::string out;
  const char* separator = "";
  for (const auto& parameter : space.parameters()) {
    out += separator + parameter.name;
    separator = "\t";
  }
  out += '\n';
  if (arguments.sample > 0) {
    print_configurations(space, space.sample(arguments.sample, arguments.seed), out);
  } else {
    for (Count index = 0; index < space.size(); ++index) {
      print_configurations(space, {index}, out);
      if (out.size() > (1U << 16)) {
        fmt::print("{}", out);
        out.clear();
      }
    }
  }
  fmt::print("{}", out);
}

json to_json(const Problem& problem, const SearchSpace& space) {
  json parameters = json::array();
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    json values = json::array();
    for (const auto& value : problem.parameters[i].values) values.push_back(wattune::to_json(value));
    parameters.push_back({{"name", problem.parameters[i].name},
                          {"kind", to_string(problem.kinds[i])},
                          {"values", values},
                          {"default", wattune::to_json(problem.defaults[i])}});
  }
  return {{"parameters", parameters},
          {"cartesian", to_string(space.cartesian())},
          {"valid", to_string(space.size())},
          {"seconds", space.build_seconds()}};
}

std::string to_text(const PointCount& count) {
  return count.exact ? to_string(*count.exact) : fmt::format("about {:.3g}", count.points);
}

/// So few configurations are left that a restriction may be wrong.
bool is_tiny(const SearchSpace& space) {
  return !space.restrictions().empty() && (space.size() < 10 || space.size() < space.cartesian() / 10000);
}

/// Which restriction removes how much.
std::string explanation(const SearchSpace& space) {
  Table table({{"restriction"}, {"removes alone", Table::Align::right}, {"valid without it", Table::Align::right}});
  const auto effects = space.explain();
  for (std::size_t i = 0; i < effects.size(); ++i) {
    table.add_row({shorten(space.restrictions()[i].expression, 70), to_text(effects[i].removed_alone),
                   to_text(effects[i].valid_without)});
  }
  return table.text();
}

void print_overview(const Problem& problem, const SearchSpace& space) {
  Table table({{"parameter"}, {"kind"}, {"values", Table::Align::right}, {"default"}, {"which"}});
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    std::string values;
    for (const auto& value : problem.parameters[i].values) values += (values.empty() ? "" : " ") + value.str();
    table.add_row({problem.parameters[i].name, std::string(to_string(problem.kinds[i])),
                   std::to_string(problem.parameters[i].values.size()), problem.defaults[i].str(),
                   shorten(values, 60)});
  }
  fmt::print("{}\n{} of {} points are valid\n", table.text(), to_string(space.size()), to_string(space.cartesian()));
  for (const auto& fault : space.faults()) {
    fmt::print("{}: '{}' {} at {} points, which count as invalid\n", space.restrictions()[fault.restriction].place,
               space.restrictions()[fault.restriction].expression,
               fault.division_by_zero ? "divides by zero" : "gives no number", to_text(fault.points));
  }
  if (is_tiny(space)) fmt::print("\n{}", explanation(space));
}

}  // namespace

std::vector<std::int64_t> parse_problem_size(const std::string& text) {
  std::vector<std::int64_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t size = 0;
    const auto [rest, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size <= 0 || (rest != end && *rest != ',')) {
      throw UsageError(fmt::format("--problem-size: '{}' is no list of positive numbers like 4096,4096", text));
    }
    sizes.push_back(size);
    if (rest == end) return sizes;
    at = rest + 1;
  }
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) say("wattune: warning: {}\n", warning);
}

SearchSpace build_space(const Problem& problem) {
  auto space = SearchSpace::build(problem.parameters, problem.restrictions);
  if (space.size() > 0) return space;
  const auto effects = space.explain();
  std::string advice = "no single restriction is the cause";
  double most = 0;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].valid_without.points <= most) continue;
    most = effects[i].valid_without.points;
    advice = fmt::format("without '{}' ({}) {} would be valid", problem.restrictions[i].expression,
                         problem.restrictions[i].place, to_text(effects[i].valid_without));
  }
  throw UsageError(
      fmt::format("{}: the search space is empty: none of {} points satisfies all {} restrictions; {}; "
                  "'wattune space' shows what each removes",
                  problem.file.string(), to_string(space.cartesian()), effects.size(), advice));
}

int run_space(const SpaceArguments& arguments) {
  ReadOptions options;
  options.space_only = true;
  if (!arguments.problem_size.empty()) options.problem_size = parse_problem_size(arguments.problem_size);
  const Problem problem = read_problem(arguments.problem, options);
  if (!arguments.count) print_warnings(problem.warnings);
  const SearchSpace space = SearchSpace::build(problem.parameters, problem.restrictions);
  if (arguments.json) {
    fmt::print("{}\n", to_json(problem, space).dump(2, ' ', false, json::error_handler_t::replace));
  } else if (arguments.count) {
    fmt::print("{}\n", to_string(space.size()));
  } else if (arguments.list || arguments.sample > 0) {
    print_list(arguments, space);
  } else {
    print_overview(problem, space);
  }
  return static_cast<int>(ExitCode::done);
}

}  // namespace wattune::cli
