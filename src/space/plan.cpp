#include "space/plan.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "space/bounds.hpp"

namespace wattune {

namespace {

/// Level of nodes that depend on no variable.
constexpr std::size_t before_all = 0;

/// Rewrites nodes with many operands into binary ones, in the order in which the operands become known, and collects
/// what each level needs. Levels are counted from 1 here.
class Planner {
 public:
  Planner(Model& model, const std::vector<std::size_t>& order) : model_(model), graph_(model.graph), order_(order) {
    position_.resize(model.variables.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) position_[order[i]] = i + 1;
  }

  Plan run(const std::vector<Condition>& conditions) {
    Plan plan;
    plan.levels.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      plan.levels[i].variable = order_[i];
      plan.levels[i].width = model_.width(order_[i]);
    }
    for (const Condition& condition : conditions) {
      add(plan, condition.node, condition.restriction);
      add_necessary(plan, condition);
    }
    place(plan);
    return plan;
  }

 private:
  void add(Plan& plan, NodeId node, std::size_t restriction) {
    const NodeId root = binary(node);
    const Node& rewritten = graph_.node(root);
    if (rewritten.op == Op::constant && rewritten.fault == Fault::none && rewritten.integer != 0) return;
    std::vector<Condition>& home = plan.levels[std::max<std::size_t>(level(root), 1) - 1].conditions;
    if (std::ranges::find(home, root, &Condition::node) != home.end()) return;
    home.push_back({root, restriction});
    need(root, level(root));
  }

  /// What must hold of the first variables if the condition is to hold of all.
  void add_necessary(Plan& plan, const Condition& condition) {
    VariableSet known = 0;
    const VariableSet all = graph_.node(condition.node).variables;
    for (const std::size_t variable : order_) {
      known |= variable_set(variable);
      if ((known & all) == all) break;
      if ((variable_set(variable) & all) == 0) continue;
      add(plan, Bounds(graph_, known).possible(condition.node), condition.restriction);
    }
  }

  [[nodiscard]] std::size_t level(NodeId id) const {
    VariableSet variables = graph_.node(id).variables;
    std::size_t result = before_all;
    for (std::size_t v = 0; variables != 0; ++v, variables >>= 1) {
      if ((variables & 1) != 0) result = std::max(result, position_[v]);
    }
    return result;
  }

  NodeId binary(NodeId id) {
    const auto known = rewritten_.find(id);
    if (known != rewritten_.end()) return known->second;
    const NodeId result = rewrite(id);
    rewritten_.emplace(id, result);
    return result;
  }

  NodeId rewrite(NodeId id) {
    const Op op = graph_.node(id).op;
    if (op == Op::constant || op == Op::table || op == Op::predicate) return id;
    const std::uint32_t payload = graph_.node(id).payload;
    std::vector<NodeId> children = graph_.node(id).children;
    for (NodeId& child : children) child = binary(child);
    switch (op) {
      case Op::sum:
        return fold(Op::add, std::move(children));
      case Op::product:
        return fold(Op::multiply, std::move(children));
      case Op::all:
        return fold(Op::both, std::move(children));
      case Op::any:
        return fold(Op::either, std::move(children));
      default:
        return graph_.make(op, children, payload);
    }
  }

  NodeId fold(Op op, std::vector<NodeId> operands) {
    std::ranges::sort(operands, {}, [this](NodeId id) { return std::pair{level(id), id}; });
    NodeId result = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const NodeId next = operands[i];
      if (op == Op::add && graph_.node(next).op == Op::negate) {
        const NodeId positive = graph_.node(next).children[0];
        result = graph_.make(Op::subtract, std::array{result, positive});
      } else {
        result = graph_.make(op, std::array{result, next});
      }
    }
    return result;
  }

  /// Notes that `id` is needed at `user_level`, and what it is computed from.
  void need(NodeId id, std::size_t user_level) {
    const auto [entry, is_new] = last_use_.try_emplace(id, user_level);
    if (!is_new) {
      entry->second = std::max(entry->second, user_level);
      return;
    }
    const std::vector<NodeId> children = graph_.node(id).children;
    const std::size_t own_level = level(id);
    for (const NodeId child : children) need(child, own_level);
  }

  void place(Plan& plan) const {
    for (const auto& [id, last] : last_use_) {  // ascending: operands before what is made of them
      const std::size_t own = level(id);
      if (own == before_all) continue;
      PlanLevel& home = plan.levels[own - 1];
      (graph_.node(id).variables == variable_set(home.variable) ? home.of_variable : home.steps).push_back(id);
      for (std::size_t l = own; l < last; ++l) {
        plan.levels[l - 1].live.push_back(id);
        plan.levels[l].from_before.push_back(id);
      }
    }
    // Predicates are slow: they come when the cheap conditions have been checked.
    for (PlanLevel& level : plan.levels) {
      std::vector<NodeId> slow;
      std::stable_partition(level.steps.begin(), level.steps.end(), [&](NodeId id) {
        const Node& node = graph_.node(id);
        const bool is_slow = node.op == Op::predicate || std::ranges::any_of(node.children, [&](NodeId child) {
                               return std::ranges::find(slow, child) != slow.end();
                             });
        if (is_slow) slow.push_back(id);
        return !is_slow;
      });
    }
  }

  Model& model_;
  Graph& graph_;
  const std::vector<std::size_t>& order_;
  std::vector<std::size_t> position_;
  std::map<NodeId, NodeId> rewritten_;
  std::map<NodeId, std::size_t> last_use_;
};

}  // namespace

std::vector<Group> find_groups(const Model& model) {
  std::vector<VariableSet> sets;
  for (const Condition& condition : model.conditions) {
    VariableSet merged = model.graph.node(condition.node).variables;
    std::erase_if(sets, [&](VariableSet set) {
      if ((set & merged) == 0) return false;
      merged |= set;
      return true;
    });
    sets.push_back(merged);
  }
  VariableSet tied = 0;
  for (const VariableSet set : sets) tied |= set;
  for (std::size_t v = 0; v < model.variables.size(); ++v) {
    if ((tied & variable_set(v)) == 0) sets.push_back(variable_set(v));
  }
  std::vector<Group> groups;
  for (const VariableSet set : sets) {
    Group group;
    for (std::size_t v = 0; v < model.variables.size(); ++v) {
      if ((set & variable_set(v)) != 0) group.variables.push_back(v);
    }
    for (const Condition& condition : model.conditions) {
      if ((model.graph.node(condition.node).variables & set) != 0) group.conditions.push_back(condition);
    }
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const Group& group) { return group.variables[0]; });
  return groups;
}

Plan make_plan(Model& model, const Group& group, const std::vector<std::size_t>& order) {
  return Planner(model, order).run(group.conditions);
}

}  // namespace wattune
