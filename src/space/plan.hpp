#pragma once
// In what order a group of parameters is enumerated, and what is computed when each becomes known.

#include <cstdint>
#include <vector>

#include "space/model.hpp"

namespace wattune {

/// Parameters that restrictions tie together.
struct Group {
  std::vector<std::size_t> variables;  ///< ascending
  std::vector<Condition> conditions;
};

/// Every variable is in one group. Those that no restriction names are in groups of their own.
std::vector<Group> find_groups(const Model& model);

/// What happens when the variable of this level becomes known, all those of the levels before it being known.
struct PlanLevel {
  std::size_t variable = 0;
  std::size_t width = 0;              ///< number of its values
  std::vector<NodeId> from_before;    ///< nodes of earlier levels that are needed here or later
  std::vector<NodeId> of_variable;    ///< nodes of this variable alone: computed once for all its values
  std::vector<NodeId> steps;          ///< nodes of this and earlier variables, operands first, predicates late
  std::vector<Condition> conditions;  ///< that can be checked now
  std::vector<NodeId> live;           ///< nodes known after this level that later levels need: the state
};

struct Plan {
  std::vector<PlanLevel> levels;
};

/// The plan for an order of the group's variables. Adds nodes to the graph.
Plan make_plan(Model& model, const Group& group, const std::vector<std::size_t>& order);

}  // namespace wattune
