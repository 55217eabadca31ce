#include "result/constraint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "expr/ast.hpp"
#include "expr/expression.hpp"
#include "expr/nearest_name.hpp"
#include "problem/quantities.hpp"

namespace wattune {

namespace {

using ast::Operation;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// Large enough that no configuration gains in an objective by missing a condition what it is charged for that.
constexpr double charge = 10;
constexpr const char* penalised_flag = "misses_condition";

[[noreturn]] void fail(const std::string& condition, const std::string& reason) {
  throw UsageError(fmt::format("condition '{}': {}", condition, reason));
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// A part of a condition: a comparison of two numbers, several parts joined, or anything that is true or false.
struct Part {
  enum class Kind { all, any, comparison, truth } kind;
  Operation operation = Operation::less;
  std::vector<Part> parts;
  std::vector<Program> sides;  ///< two of a comparison, one of a truth
};

Part compile(const Expression& expression, const ast::Node& node, std::span<const std::string> names) {
  using ast::Kind;
  if (node.kind == Kind::logical_and || node.kind == Kind::logical_or) {
    Part part{node.kind == Kind::logical_and ? Part::Kind::all : Part::Kind::any, {}, {}, {}};
    for (const auto& child : node.children) part.parts.push_back(compile(expression, child, names));
    return part;
  }
  if (node.kind == Kind::comparison) {
    Part chain{Part::Kind::all, {}, {}, {}};
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      const Operation operation = node.comparisons[i];
      if (operation == Operation::in || operation == Operation::not_in) break;
      chain.parts.push_back(
          {Part::Kind::comparison,
           operation,
           {},
           {expression.compile(node.children[i], names), expression.compile(node.children[i + 1], names)}});
    }
    if (chain.parts.size() == node.comparisons.size()) return chain;
  }
  return {Part::Kind::truth, {}, {}, {expression.compile(node, names)}};
}

double miss(Operation operation, double left, double right) {
  const double scale = std::max(std::abs(right), std::numeric_limits<double>::min());
  const double above = (left - right) / scale;
  // Where equality is not enough, the least that counts as a miss is still one.
  constexpr double touch = 1e-9;
  switch (operation) {
    case Operation::less:
      return left < right ? 0 : std::max(above, touch);
    case Operation::less_equal:
      return left <= right ? 0 : above;
    case Operation::greater:
      return left > right ? 0 : std::max(-above, touch);
    case Operation::greater_equal:
      return left >= right ? 0 : -above;
    case Operation::equal:
      return std::abs(above);
    default:
      return left != right ? 0 : 1;
  }
}

double miss(const Part& part, std::span<const Value> values) {
  double result = part.kind == Part::Kind::any ? infinite : 0;
  for (const auto& inner : part.parts) {
    const double value = miss(inner, values);
    result = part.kind == Part::Kind::any ? std::min(result, value) : std::max(result, value);
  }
  if (part.kind == Part::Kind::truth) {
    bool holds = false;
    return part.sides[0].test(values, holds) != Fault::none ? infinite : holds ? 0 : 1;
  }
  if (part.kind != Part::Kind::comparison) return result;
  Value left;
  Value right;
  if (part.sides[0].evaluate(values, left) != Fault::none || part.sides[1].evaluate(values, right) != Fault::none) {
    return infinite;
  }
  if (left.is_number() && right.is_number()) return miss(part.operation, left.as_double(), right.as_double());
  const bool same = left == right;
  if (part.operation == Operation::equal) return same ? 0 : 1;
  if (part.operation == Operation::not_equal) return same ? 1 : 0;
  return infinite;
}

double value_of(const Evaluation& evaluation, const std::string& name) {
  const auto found = evaluation.quantities.find(name);
  return found == evaluation.quantities.end() ? unknown : found->second.value;
}

/// A call best(NAME) in a text: where, and of what.
struct Call {
  std::size_t begin;
  std::size_t end;
  std::string name;
};

std::optional<Call> find_best(const std::string& text, std::size_t from) {
  constexpr std::string_view word = "best";
  for (std::size_t at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1)) {
    if (at > 0 && is_name_character(text[at - 1])) continue;
    const std::size_t open = text.find_first_not_of(' ', at + word.size());
    if (open == std::string::npos || text[open] != '(') continue;
    const std::size_t close = text.find(')', open);
    if (close == std::string::npos) fail(text, "there is a '(' without its ')'");
    std::string name = text.substr(open + 1, close - open - 1);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    return Call{at, close + 1, name};
  }
  return std::nullopt;
}

std::optional<Direction> better_direction(const Problem& problem, std::span<const Objective> objectives,
                                          const std::string& name) {
  for (const auto& objective : objectives) {
    if (objective.name == name) return objective.direction;
  }
  if (const auto* quantity = find_measured_quantity(name)) return quantity->better;
  for (const auto& metric : problem.metrics) {
    if (metric.name == name) return metric.better;
  }
  return std::nullopt;
}

}  // namespace

struct ConstraintSet::Condition {
  Part part;
  std::vector<std::size_t> used;  ///< positions in names_
};

ConstraintSet::ConstraintSet(std::span<const std::string> conditions, const Problem& problem,
                             std::span<const std::string> known, std::span<const Objective> objectives)
    : conditions_(conditions.begin(), conditions.end()), parameters_(problem.parameter_names()) {
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  const auto expect_known = [&](const std::string& condition, const std::string& name) {
    if (is_known(name)) return;
    const std::vector<std::string> names(known.begin(), known.end());
    fail(condition, fmt::format("there is no quantity or metric '{}'{}; there are: {}", name, did_you_mean(name, names),
                                fmt::join(names, ", ")));
  };
  std::vector<std::string> placeholders;  // of best(NAME), one for each of bests_
  std::vector<Expression> expressions;
  for (const auto& condition : conditions_) {
    // best(time) becomes a name as long as it, so that columns in messages stay right.
    std::string text = condition;
    for (auto call = find_best(text, 0); call; call = find_best(text, call->begin + 1)) {
      expect_known(condition, call->name);
      const auto better = better_direction(problem, objectives, call->name);
      if (!better) {
        fail(condition, fmt::format("best({0}): nothing says whether less or more of '{0}' is better; make it an "
                                    "objective, or give a number instead",
                                    call->name));
      }
      std::string placeholder = text.substr(call->begin, call->end - call->begin);
      std::replace_if(
          placeholder.begin(), placeholder.end(), [](char c) { return !is_name_character(c); }, '_');
      text.replace(call->begin, call->end - call->begin, placeholder);
      if (std::find(placeholders.begin(), placeholders.end(), placeholder) != placeholders.end()) continue;
      placeholders.push_back(std::move(placeholder));
      bests_.push_back({call->name, *better});
    }
    try {
      expressions.push_back(Expression::parse(text));
    } catch (const ExpressionError& error) {
      fail(condition, fmt::format("column {}: {}", error.column(), error.reason()));
    }
    for (const auto& name : expressions.back().names()) {
      const bool other = std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end() ||
                         std::find(placeholders.begin(), placeholders.end(), name) != placeholders.end();
      if (other || std::find(used_.begin(), used_.end(), name) != used_.end()) continue;
      expect_known(condition, name);
      used_.push_back(name);
    }
  }
  names_ = parameters_;
  names_.insert(names_.end(), used_.begin(), used_.end());
  names_.insert(names_.end(), placeholders.begin(), placeholders.end());
  for (const auto& expression : expressions) {
    auto condition = std::make_shared<Condition>();
    condition->part = compile(expression, expression.root(), names_);
    for (const auto& name : expression.names()) {
      condition->used.push_back(
          static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin()));
    }
    compiled_.push_back(std::move(condition));
  }
}

std::vector<std::string> ConstraintSet::quantities() const {
  auto names = used_;
  for (const auto& best : bests_) {
    if (std::find(names.begin(), names.end(), best.quantity) == names.end()) names.push_back(best.quantity);
  }
  return names;
}

ConstraintSet::Bests ConstraintSet::none_yet() const {
  return Bests(bests_.size(), unknown);
}

void ConstraintSet::update(Bests& bests, const Evaluation& evaluation) const {
  if (!evaluation.ok()) return;
  for (std::size_t i = 0; i < bests_.size(); ++i) {
    const double value = value_of(evaluation, bests_[i].quantity);
    if (!std::isfinite(value)) continue;
    const bool better = bests_[i].better == Direction::minimize ? value < bests[i] : value > bests[i];
    if (std::isnan(bests[i]) || better) bests[i] = value;
  }
}

ConstraintSet::Bests ConstraintSet::bests_of(std::span<const Evaluation> evaluations,
                                             std::span<const std::size_t> among) const {
  Bests bests = none_yet();
  for (const std::size_t i : among) update(bests, evaluations[i]);
  return bests;
}

double ConstraintSet::violation(const Evaluation& evaluation, const Bests& bests) const {
  if (compiled_.empty()) return 0;
  if (!evaluation.ok()) return infinite;
  std::vector<Value> values = evaluation.configuration;
  for (const auto& name : used_) values.emplace_back(value_of(evaluation, name));
  for (const double best : bests) values.emplace_back(best);
  double worst = 0;
  for (const auto& condition : compiled_) {
    const bool complete = std::all_of(condition->used.begin(), condition->used.end(), [&](std::size_t i) {
      return i < parameters_.size() || std::isfinite(values[i].as_double());
    });
    worst = std::max(worst, complete ? miss(condition->part, values) : infinite);
  }
  return worst;
}

std::vector<std::size_t> ConstraintSet::feasible(std::span<const Evaluation> evaluations,
                                                 std::span<const std::size_t> among) const {
  std::vector<std::size_t> result(among.begin(), among.end());
  if (empty()) return result;
  const Bests bests = bests_of(evaluations, among);
  std::erase_if(result, [&](std::size_t i) { return violation(evaluations[i], bests) > 0; });
  return result;
}

Evaluation ConstraintSet::penalised(Evaluation evaluation, const Bests& bests,
                                    std::span<const Objective> objectives) const {
  if (!evaluation.ok()) return evaluation;
  const double missed = violation(evaluation, bests);
  if (missed == 0) return evaluation;
  if (std::isinf(missed)) {
    evaluation.outcome = Outcome::constraints;
    evaluation.message = "misses a condition, or lacks a quantity that it needs";
    return evaluation;
  }
  for (const auto& objective : objectives) {
    const auto found = evaluation.quantities.find(objective.name);
    if (found == evaluation.quantities.end()) continue;
    const double worse = charge * missed * std::abs(found->second.value);
    found->second.value += objective.direction == Direction::minimize ? worse : -worse;
    found->second.flags.emplace_back(penalised_flag);
  }
  return evaluation;
}

bool ConstraintSet::is_penalised(const Evaluation& evaluation, const Objective& objective) {
  const auto found = evaluation.quantities.find(objective.name);
  return found != evaluation.quantities.end() &&
         std::ranges::find(found->second.flags, penalised_flag) != found->second.flags.end();
}

}  // namespace wattune
