#include "space/counting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "space/builder.hpp"
#include "space/lowering.hpp"
#include "space/order.hpp"
#include "space/plan.hpp"
#include "space/random.hpp"

namespace wattune {

namespace {

// The order in which the parameters are given makes a lexicographic numbering. It is left where another order is
// expected to be so many times less work, beyond an amount that does not matter.
constexpr double worth_another_order = 8;
constexpr double no_matter = 200'000;

std::optional<Diagram> count_group(Model& model, const Group& group, std::size_t most_edges, bool& lexicographic) {
  const OrderEstimator estimator(model, group);
  std::vector<std::size_t> other = group.variables;
  std::size_t limit = most_edges;
  if (estimator.work(group.variables) > no_matter) {
    other = estimator.find_order();
    const double bearable = worth_another_order * std::max(estimator.work(other), no_matter);
    if (other != group.variables) limit = static_cast<std::size_t>(std::min(static_cast<double>(most_edges), bearable));
  }
  if (auto diagram = build_diagram(model, make_plan(model, group, group.variables), limit)) return diagram;
  if (other == group.variables) return std::nullopt;
  lexicographic = false;
  return build_diagram(model, make_plan(model, group, other), most_edges);
}

TooTied too_tied(const Model& model, const Group& group) {
  TooTied result;
  for (const std::size_t variable : group.variables) result.parameters.push_back(model.variables[variable]);
  return result;
}

/// Throws where a restriction fails with an error of type at a point that satisfies all restrictions before it.
void check_types(const Definition& definition, std::size_t restriction) {
  Question question;
  question.restrictions.resize(restriction);
  std::iota(question.restrictions.begin(), question.restrictions.end(), std::size_t{0});
  question.failing = restriction;
  for (const Fault fault : {Fault::type, Fault::work}) {
    question.fault = fault;
    const auto failing = count_points(definition, question);
    if (!failing || failing->ranking.size() == 0) continue;
    const Point point = failing->ranking.point(0);
    const Expression& expression = definition.expressions[restriction];
    std::vector<Value> values;
    for (std::size_t i = 0; i < point.size(); ++i) values.push_back(definition.parameters[i].values[point[i]]);
    const EvaluationFault details = expression.compile(definition.names).explain_fault(values);
    std::string place;
    for (const std::size_t i : parameters_of(expression.root(), definition.names)) {
      place += fmt::format("{}{} = {}", place.empty() ? "" : ", ", definition.names[i], values[i].str());
    }
    throw UsageError(fmt::format("{}: {} (at {})", definition.restrictions[restriction].place,
                                 ExpressionError(expression.text(), details.column, details.reason).what(), place));
  }
}

/// Whether the point answers the question.
class Judge {
 public:
  Judge(const Definition& definition, const Question& question) : question_(question) {
    for (const Expression& expression : definition.expressions)
      programs_.push_back(expression.compile(definition.names));
  }

  [[nodiscard]] bool accepts(const std::vector<const Value*>& values) const {
    bool truth = false;
    for (const std::size_t i : question_.restrictions) {
      if (programs_[i].test(values, truth) != Fault::none || !truth) return false;
    }
    return !question_.failing || programs_[*question_.failing].test(values, truth) == question_.fault;
  }

 private:
  const Question& question_;
  std::vector<Program> programs_;
};

}  // namespace

tl::expected<Counted, TooTied> count_points(const Definition& definition, const Question& question,
                                            std::size_t most_edges) {
  Model model = make_model(definition, question);
  Counted result;
  std::vector<Diagram> diagrams;
  if (!model.empty) {
    for (const Group& group : find_groups(model)) {
      auto diagram = count_group(model, group, most_edges, result.lexicographic);
      if (!diagram) return tl::unexpected(too_tied(model, group));
      model.empty = model.empty || diagram->size() == 0;
      diagrams.push_back(std::move(*diagram));
    }
  }
  result.suspects = std::move(model.suspects);
  if (model.empty) {
    result.lexicographic = true;
    return result;
  }
  for (Diagram& diagram : diagrams) diagram.rename_variables(model.variables);
  result.ranking = Ranking(std::move(diagrams), std::move(model.domains), definition.parameters);
  return result;
}

Counted count_valid(const Definition& definition, std::size_t most_edges) {
  Question all;
  all.restrictions.resize(definition.restrictions.size());
  std::iota(all.restrictions.begin(), all.restrictions.end(), std::size_t{0});
  auto counted = count_points(definition, all, most_edges);
  if (!counted) {
    std::string names;
    for (const std::size_t i : counted.error().parameters) names += (names.empty() ? "" : ", ") + definition.names[i];
    throw UsageError(fmt::format(
        "counting the search space: the restrictions tie {} parameters together ({}) in more ways than can be counted; "
        "give them fewer values, or restrictions on fewer parameters each",
        counted.error().parameters.size(), names));
  }
  for (const std::size_t restriction : counted->suspects) check_types(definition, restriction);
  return std::move(*counted);
}

PointCount estimate_points(const Definition& definition, const Question& question, std::size_t most_edges) {
  if (const auto counted = count_points(definition, question, most_edges)) {
    return {static_cast<double>(counted->ranking.size()), counted->ranking.size()};
  }
  constexpr std::size_t attempts = 100'000;
  const Judge judge(definition, question);
  Random random(0);
  double cartesian = 1;
  for (const Parameter& parameter : definition.parameters) cartesian *= static_cast<double>(parameter.values.size());
  std::vector<const Value*> values(definition.parameters.size());
  std::size_t accepted = 0;
  for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::vector<Value>& list = definition.parameters[i].values;
      values[i] = &list[static_cast<std::size_t>(random.below(list.size()))];
    }
    if (judge.accepts(values)) ++accepted;
  }
  return {cartesian * static_cast<double>(accepted) / static_cast<double>(attempts), std::nullopt};
}

}  // namespace wattune
