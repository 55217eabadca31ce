#include "space/bounds.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace wattune {

namespace {

/// Whether larger operands give larger (or equal) results.
bool is_increasing(Op op) {
  switch (op) {
    case Op::add:
    case Op::sum:
    case Op::minimum:
    case Op::maximum:
    case Op::to_float:
    case Op::truncate:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::square_root:
      return true;
    default:
      return false;
  }
}

bool has_numbers_only(const Node& node) {
  return !node.is_float || !node.range.not_a_number;
}

}  // namespace

bool Bounds::is_not_negative(NodeId id) const {
  const Node& node = graph_.node(id);
  return node.is_float ? has_numbers_only(node) && node.range.float_low >= 0 : node.range.low >= 0;
}

NodeId Bounds::possible(NodeId id) {
  const Op op = graph_.node(id).op;
  const std::vector<NodeId> children = graph_.node(id).children;
  const bool may_fault = graph_.node(id).may_fault;
  if (is_known(id)) return may_fault ? graph_.integer(1) : id;
  switch (op) {
    case Op::all:
    case Op::both:
    case Op::guarded_and:
    case Op::any:
    case Op::either:
    case Op::guarded_or: {
      std::vector<NodeId> parts;
      for (const NodeId child : children) parts.push_back(possible(child));
      const bool is_and = op == Op::all || op == Op::both || op == Op::guarded_and;
      return is_and ? graph_.conjunction(parts) : graph_.disjunction(parts);
    }
    case Op::less:
    case Op::less_equal:
      return may_fault ? graph_.integer(1) : possibly_less(op, children[0], children[1]);
    case Op::equal:
      if (may_fault) return graph_.integer(1);
      return graph_.conjunction(std::array{possibly_less(Op::less_equal, children[0], children[1]),
                                           possibly_less(Op::less_equal, children[1], children[0])});
    default:
      return graph_.integer(1);
  }
}

NodeId Bounds::possibly_less(Op op, NodeId a, NodeId b) {
  const auto low = bound(a, End::low);
  const auto high = bound(b, End::high);
  if (!low || !high) return graph_.integer(1);
  return graph_.make(op, std::array{*low, *high});
}

std::optional<NodeId> Bounds::bound(NodeId id, End end) {
  if (is_known(id)) return graph_.node(id).may_fault ? std::nullopt : std::optional(id);
  const auto known = bounds_.find({id, end});
  if (known != bounds_.end()) return known->second;
  std::optional<NodeId> result;
  if (has_numbers_only(graph_.node(id)) && !graph_.node(id).may_fault) {
    if ((graph_.node(id).variables & known_) != 0) result = computed_bound(id, end);
    if (!result || graph_.node(*result).may_fault) result = range_end(id, end);
  }
  bounds_.emplace(std::pair{id, end}, result);
  return result;
}

std::optional<NodeId> Bounds::range_end(NodeId id, End end) {
  const Node& node = graph_.node(id);
  if (!node.is_float) return graph_.integer(end == End::low ? node.range.low : node.range.high);
  const double value = end == End::low ? node.range.float_low : node.range.float_high;
  if (!std::isfinite(value)) return std::nullopt;
  return graph_.floating(value);
}

std::optional<NodeId> Bounds::computed_bound(NodeId id, End end) {
  const Op op = graph_.node(id).op;
  const std::vector<NodeId> children = graph_.node(id).children;
  const End other = end == End::low ? End::high : End::low;
  if (op == Op::product || op == Op::multiply) return product_bound(id, end);
  if (op == Op::divide || op == Op::floor_divide) return quotient_bound(id, end);
  if (op == Op::negate) {
    const auto operand = bound(children[0], other);
    if (!operand) return std::nullopt;
    return graph_.make(op, std::array{*operand});
  }
  if (op == Op::subtract) {
    const auto a = bound(children[0], end);
    const auto b = bound(children[1], other);
    if (!a || !b) return std::nullopt;
    return graph_.arithmetic(op, *a, *b);
  }
  if (!is_increasing(op)) return std::nullopt;
  std::vector<NodeId> ends;
  for (const NodeId child : children) {
    const auto operand = bound(child, end);
    if (!operand) return std::nullopt;
    ends.push_back(*operand);
  }
  if (op != Op::sum && op != Op::add) return graph_.make(op, ends);
  NodeId total = ends[0];
  for (std::size_t i = 1; i < ends.size(); ++i) total = graph_.arithmetic(Op::add, total, ends[i]);
  return total;
}

std::optional<NodeId> Bounds::product_bound(NodeId id, End end) {
  std::optional<NodeId> total;
  for (const NodeId child : std::vector<NodeId>(graph_.node(id).children)) {
    if (!is_not_negative(child)) return std::nullopt;
    const auto factor = bound(child, end);
    if (!factor) return std::nullopt;
    total = total ? graph_.arithmetic(Op::multiply, *total, *factor) : *factor;
  }
  return total;
}

std::optional<NodeId> Bounds::quotient_bound(NodeId id, End end) {
  const Op op = graph_.node(id).op;
  const NodeId dividend = graph_.node(id).children[0];
  const NodeId divisor = graph_.node(id).children[1];
  // Faults are excluded, so a divisor that is not negative is positive.
  if (!is_not_negative(dividend) || !is_not_negative(divisor)) return std::nullopt;
  const auto a = bound(dividend, end);
  const auto b = bound(divisor, end == End::low ? End::high : End::low);
  if (!a || !b) return std::nullopt;
  return graph_.make(op, std::array{*a, *b});
}

}  // namespace wattune
