#include "space/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "space/lanes.hpp"

namespace wattune {

namespace {

using Int = std::int64_t;
using Wide = __int128;

bool gives_truth(Op op) {
  switch (op) {
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::is_true:
    case Op::logical_not:
    case Op::has_fault:
    case Op::both:
    case Op::either:
    case Op::guarded_and:
    case Op::guarded_or:
    case Op::all:
    case Op::any:
    case Op::predicate:
      return true;
    default:
      return false;
  }
}

bool gives_float(Op op, bool operands_are_float) {
  switch (op) {
    case Op::divide:
    case Op::to_float:
      return true;
    case Op::truncate:
    case Op::floor:
    case Op::ceil:
    case Op::round:
      return false;
    default:
      return operands_are_float && !gives_truth(op);
  }
}

/// The largest magnitude of the values, at least `least`.
Wide magnitude(const Range& range, Wide least) {
  return std::max({least, -Wide{range.low}, Wide{range.high}});
}

bool is_small(const Range& range, Int low) {
  return range.low >= low && range.high <= 0xffffffff;
}

}  // namespace

NodeId Graph::intern(Node node) {
  Key key{node.op,      node.is_float, node.fault,
          node.payload, node.integer,  std::bit_cast<std::uint64_t>(node.floating),
          node.children};
  const auto [entry, is_new] = known_.try_emplace(std::move(key), static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(std::move(node));
  return entry->second;
}

NodeId Graph::integer(Int value) {
  Node node;
  node.integer = value;
  node.range = Range::of(value, value);
  return intern(std::move(node));
}

NodeId Graph::floating(double value) {
  Node node;
  node.is_float = true;
  node.floating = value;
  node.range = std::isnan(value) ? Range::any_float() : Range::of_floats(value, value);
  return intern(std::move(node));
}

NodeId Graph::fault(Fault fault, bool is_float) {
  Node node;
  node.is_float = is_float;
  node.may_fault = true;
  node.fault = fault;
  node.range = is_float ? Range::of_floats(0, 0) : Range::of(0, 0);
  return intern(std::move(node));
}

NodeId Graph::add_table(ValueTable table) {
  Node node;
  node.op = Op::table;
  node.is_float = table.is_float;
  node.may_fault = !table.faults.empty();
  node.variables = variable_set(table.variable);
  if (table.is_float) {
    const auto [low, high] = std::ranges::minmax(table.floats);
    const bool has_nan = std::ranges::any_of(table.floats, [](double value) { return std::isnan(value); });
    node.range = has_nan ? Range::any_float() : Range::of_floats(low, high);
  } else {
    const auto [low, high] = std::ranges::minmax(table.integers);
    node.range = Range::of(low, high);
    if (low == high && !node.may_fault) return integer(low);
  }
  const auto found = std::ranges::find(tables_, table);
  node.payload = static_cast<std::uint32_t>(found - tables_.begin());
  if (found == tables_.end()) tables_.push_back(std::move(table));
  return intern(std::move(node));
}

NodeId Graph::add_predicate(Predicate predicate, std::vector<NodeId> positions) {
  Node node;
  node.op = Op::predicate;
  node.may_fault = true;
  node.payload = static_cast<std::uint32_t>(predicates_.size());
  node.range = Range::truth();
  for (const NodeId child : positions) node.variables |= nodes_[child].variables;
  node.children = std::move(positions);
  predicates_.push_back(std::move(predicate));
  return intern(std::move(node));
}

bool Graph::is_constant(NodeId id, Int value) const {
  const Node& node = nodes_[id];
  return node.op == Op::constant && node.fault == Fault::none && !node.is_float && node.integer == value;
}

NodeId Graph::make(Op op, std::span<const NodeId> children, std::uint32_t payload) {
  Node node;
  node.op = op;
  node.payload = payload;
  node.children.assign(children.begin(), children.end());
  std::vector<Range> ranges;
  bool all_constant = true;
  for (const NodeId child : children) {
    const Node& operand = nodes_[child];
    node.variables |= operand.variables;
    node.may_fault = node.may_fault || operand.may_fault;
    all_constant = all_constant && operand.op == Op::constant;
    ranges.push_back(operand.range);
  }
  node.operands_are_float = nodes_[children[op == Op::select ? 1 : 0]].is_float;
  node.is_float = gives_float(op, node.operands_are_float);
  const ResultRange result = range_of(op, node.operands_are_float, ranges);
  node.range = result.range;
  node.may_fault = op != Op::has_fault && (node.may_fault || result.may_fault);

  if (all_constant && children.size() <= 3) {
    Int integer = 0;
    double floating = 0;
    Fault fault = Fault::none;
    std::array<Operand, 3> operands;
    for (std::size_t i = 0; i < children.size(); ++i) operands[i] = constant(children[i]);
    const Lanes out{node.is_float ? static_cast<void*>(&floating) : &integer, &fault};
    node.may_fault = op != Op::has_fault;  // computed with checks: this is not a place to be fast
    evaluate_lanes(node, operands.data(), 1, out);
    if (fault != Fault::none) return this->fault(fault, node.is_float);
    return node.is_float ? this->floating(floating) : this->integer(integer);
  }
  if (!node.is_float && !node.may_fault && node.range.low == node.range.high) return integer(node.range.low);
  if ((op == Op::modulo || op == Op::floor_divide) && !node.operands_are_float && is_small(ranges[0], 0) &&
      is_small(ranges[1], 1)) {
    node.payload = small_operands;
  }
  return intern(std::move(node));
}

Operand Graph::constant(NodeId id) const {
  const Node& node = nodes_[id];
  return {node.is_float ? static_cast<const void*>(&node.floating) : &node.integer,
          node.may_fault ? &node.fault : nullptr, true};
}

NodeId Graph::to_float(NodeId id) {
  if (nodes_[id].is_float) return id;
  return make(Op::to_float, std::array{id});
}

/// Whether the sum or product may be evaluated in any order: then no part of it can overflow, and no operand fails.
bool Graph::can_reassociate(Op op, std::span<const NodeId> operands) const {
  Wide bound = op == Op::sum ? 0 : 1;
  for (const NodeId id : operands) {
    if (nodes_[id].may_fault) return false;
    bound = op == Op::sum ? bound + magnitude(nodes_[id].range, 0) : bound * magnitude(nodes_[id].range, 1);
    if (bound > std::numeric_limits<Int>::max()) return false;
  }
  return true;
}

NodeId Graph::flattened(Op op, NodeId a, NodeId b) {
  std::vector<NodeId> operands;
  Wide constant = op == Op::sum ? 0 : 1;
  for (const NodeId id : {a, b}) {
    const std::vector<NodeId> parts = nodes_[id].op == op ? nodes_[id].children : std::vector{id};
    operands.insert(operands.end(), parts.begin(), parts.end());
  }
  if (!can_reassociate(op, operands)) return make(op == Op::sum ? Op::add : Op::multiply, std::array{a, b});
  std::erase_if(operands, [&](NodeId id) {
    if (nodes_[id].op != Op::constant) return false;
    constant = op == Op::sum ? constant + nodes_[id].integer : constant * nodes_[id].integer;
    return true;
  });
  if (op == Op::product && constant == 0) return integer(0);
  if (operands.empty() || constant != (op == Op::sum ? 0 : 1)) operands.push_back(integer(static_cast<Int>(constant)));
  if (operands.size() == 1) return operands[0];
  std::ranges::sort(operands);
  return make(op, operands);
}

NodeId Graph::arithmetic(Op op, NodeId a, NodeId b) {
  if (nodes_[a].is_float != nodes_[b].is_float) {
    a = to_float(a);
    b = to_float(b);
  }
  if (nodes_[a].is_float) return make(op, std::array{a, b});
  if (op == Op::add) return flattened(Op::sum, a, b);
  if (op == Op::multiply) return flattened(Op::product, a, b);
  if (op == Op::subtract && !nodes_[b].may_fault && nodes_[b].range.low > std::numeric_limits<Int>::min()) {
    const NodeId negated = make(Op::negate, std::array{b});
    if (can_reassociate(Op::sum, std::array{a, negated})) return flattened(Op::sum, a, negated);
  }
  return make(op, std::array{a, b});
}

std::optional<NodeId> Graph::comparison(Op op, NodeId a, NodeId b, bool swapped) {
  if (nodes_[a].is_float != nodes_[b].is_float) {
    const Range& integers = nodes_[a].is_float ? nodes_[b].range : nodes_[a].range;
    if (integers.low < -arithmetic::exact_double || integers.high > arithmetic::exact_double) return std::nullopt;
    a = to_float(a);
    b = to_float(b);
  }
  const bool may_fault = nodes_[a].may_fault || nodes_[b].may_fault;
  if ((op == Op::equal || op == Op::not_equal) && b < a && !may_fault) std::swap(a, b);
  return make(op, std::array{a, b}, swapped && may_fault ? second_first : 0);
}

NodeId Graph::unary(Op op, NodeId a) {
  const Node& operand = nodes_[a];
  switch (op) {
    case Op::truncate:
    case Op::floor:
    case Op::ceil:
    case Op::round:
      return operand.is_float ? make(op, std::array{a}) : a;
    case Op::to_float:
      return to_float(a);
    case Op::square_root:
    case Op::log2:
    case Op::log:
      return make(op, std::array{to_float(a)});
    case Op::is_true:
      return !operand.is_float && operand.range.low >= 0 && operand.range.high <= 1 ? a : make(op, std::array{a});
    case Op::logical_not:
      break;
    default:
      return make(op, std::array{a});
  }
  // "not" moves inwards, so that restrictions fall apart into smaller ones.
  const std::vector<NodeId> operands = operand.children;
  if (operand.op == Op::equal) return make(Op::not_equal, operands);
  if (operand.op == Op::not_equal) return make(Op::equal, operands);
  if ((operand.op == Op::less || operand.op == Op::less_equal) && !operand.operands_are_float) {
    return make(operand.op == Op::less ? Op::less_equal : Op::less, std::array{operands[1], operands[0]});
  }
  if (operand.op == Op::all || operand.op == Op::any) {
    const bool was_all = operand.op == Op::all;
    std::vector<NodeId> negated;
    for (const NodeId child : operands) negated.push_back(unary(Op::logical_not, child));
    return was_all ? disjunction(negated) : conjunction(negated);
  }
  return make(op, std::array{a});
}

NodeId Graph::has_fault(NodeId a, Fault fault) {
  if (!nodes_[a].may_fault) return integer(0);
  if (nodes_[a].op == Op::constant) return integer(nodes_[a].fault == fault);
  return make(Op::has_fault, std::array{a}, static_cast<std::uint32_t>(fault));
}

/// Operands without faults are gathered in one node as long as they follow each other: there, their order is free.
NodeId Graph::chain(Op nary, Op guarded, std::span<const NodeId> operands, Int decisive) {
  std::optional<NodeId> result;
  std::vector<NodeId> run;
  const auto append = [&](NodeId next) { result = result ? make(guarded, std::array{*result, next}) : next; };
  const auto close_run = [&] {
    std::ranges::sort(run);
    run.erase(std::unique(run.begin(), run.end()), run.end());
    if (!run.empty()) append(run.size() == 1 ? run[0] : make(nary, run));
    run.clear();
  };
  for (const NodeId operand : operands) {
    if (is_constant(operand, 1 - decisive)) continue;
    if (nodes_[operand].may_fault) {
      close_run();
      append(operand);
    } else if (nodes_[operand].op == nary) {
      run.insert(run.end(), nodes_[operand].children.begin(), nodes_[operand].children.end());
    } else {
      run.push_back(operand);
    }
    // Nothing after this is evaluated, and what is before it can only decide the same way or fail.
    if (is_constant(operand, decisive)) {
      if (!result) return operand;
      break;
    }
  }
  close_run();
  return result ? *result : integer(1 - decisive);
}

NodeId Graph::conjunction(std::span<const NodeId> operands) {
  return chain(Op::all, Op::guarded_and, operands, 0);
}
NodeId Graph::disjunction(std::span<const NodeId> operands) {
  return chain(Op::any, Op::guarded_or, operands, 1);
}

NodeId Graph::select(NodeId condition, NodeId a, NodeId b) {
  if (nodes_[condition].op == Op::constant && nodes_[condition].fault == Fault::none) {
    return nodes_[condition].integer != 0 ? a : b;
  }
  return a == b && !nodes_[condition].may_fault ? a : make(Op::select, std::array{condition, a, b});
}

}  // namespace wattune
