#include "space/builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "space/id_map.hpp"
#include "space/lanes.hpp"

namespace wattune {

namespace {

/// Lanes evaluated at once: their columns stay in the processor's cache, and little memory is touched.
constexpr std::size_t chunk_lanes = 512;

/// Enough for every Fault.
constexpr unsigned fault_bits = 4;

/// Values and faults of one node, for states, values of a variable, or lanes. Floats are kept as their bits.
struct Column {
  std::vector<std::uint64_t> values;
  std::vector<Fault> faults;  ///< empty where the node has none

  void resize(std::size_t size, bool may_fault) {
    values.resize(size);
    if (may_fault) faults.resize(size);
  }
  void append(const Column& from, std::size_t i) {
    values.push_back(from.values[i]);
    if (!from.faults.empty()) faults.push_back(from.faults[i]);
  }
  [[nodiscard]] Lanes lanes() { return {values.data(), faults.empty() ? nullptr : faults.data()}; }
  [[nodiscard]] Operand operand() const { return {values.data(), faults.empty() ? nullptr : faults.data(), false}; }
};

/// Fields of a key: the state of a lane in as few bits as its ranges allow. Where 64 bits are not enough, what has been
/// packed is replaced by its number.
class KeyPacker {
 public:
  explicit KeyPacker(std::size_t lanes) : keys_(lanes) {}

  void start(std::size_t lanes) {
    std::fill_n(keys_.begin(), lanes, 0);
    bits_ = 0;
    used_maps_ = 0;
  }

  /// Only lanes that are alive take part in what is numbered.
  void add(std::span<const std::uint64_t> values, std::uint64_t lowest, unsigned bits,
           std::span<const std::uint8_t> alive) {
    if (bits == 0) return;
    if (bits_ + bits > 64 && bits_ > 0) {
      IdMap& map = next_map();
      for (std::size_t i = 0; i < alive.size(); ++i) keys_[i] = alive[i] != 0 ? map.number(keys_[i]) : 0;
      bits_ = number_bits;
    }
    if (bits_ + bits > 64) {
      IdMap& map = next_map();
      for (std::size_t i = 0; i < alive.size(); ++i) {
        if (alive[i] != 0) keys_[i] |= std::uint64_t{map.number(values[i])} << bits_;
      }
      bits_ += number_bits;
      return;
    }
    for (std::size_t i = 0; i < alive.size(); ++i) keys_[i] |= (values[i] - lowest) << bits_;
    bits_ += bits;
  }

  [[nodiscard]] std::uint64_t key(std::size_t lane) const { return keys_[lane]; }

 private:
  static constexpr unsigned number_bits = 32;

  // The maps are kept from chunk to chunk: the n-th use within a chunk is always the same map.
  IdMap& next_map() {
    if (used_maps_ == maps_.size()) maps_.push_back(std::make_unique<IdMap>());
    return *maps_[used_maps_++];
  }

  std::vector<std::uint64_t> keys_;
  unsigned bits_ = 0;
  std::size_t used_maps_ = 0;
  std::vector<std::unique_ptr<IdMap>> maps_;
};

class LevelBuilder {
 public:
  LevelBuilder(Model& model, const PlanLevel& plan, std::vector<std::pair<NodeId, Column>>& states,
               std::size_t state_count)
      : model_(model),
        graph_(model.graph),
        plan_(plan),
        states_(states),
        state_count_(state_count),
        width_(plan.width),
        states_per_chunk_(std::max<std::size_t>(1, std::min(state_count, chunk_lanes / plan.width))),
        packer_(states_per_chunk_ * plan.width) {}

  /// Fills `next`, and returns the states of the next level.
  std::vector<std::pair<NodeId, Column>> run(std::vector<std::uint32_t>& next) {
    compute_of_variable();
    prepare_lanes();
    next.resize(state_count_ * width_);
    for (std::size_t first = 0; first < state_count_; first += states_per_chunk_) {
      const std::size_t states = std::min(states_per_chunk_, state_count_ - first);
      run_chunk(first, states, &next[first * width_]);
    }
    return std::move(new_states_);
  }

  [[nodiscard]] std::size_t new_state_count() const { return new_count_; }

 private:
  Column& lane_column(NodeId id) { return lanes_[static_cast<std::size_t>(lane_index_[id])]; }

  Operand operand(NodeId id) {
    return graph_.node(id).op == Op::constant ? graph_.constant(id) : lane_column(id).operand();
  }

  void fill_from_table(const ValueTable& table, Column& column) {
    column.values.resize(width_);
    if (table.is_float) {
      std::memcpy(column.values.data(), table.floats.data(), width_ * sizeof(double));
    } else {
      std::memcpy(column.values.data(), table.integers.data(), width_ * sizeof(std::int64_t));
    }
    column.faults = table.faults;
  }

  void evaluate(NodeId id, std::size_t count) {
    const Node& node = graph_.node(id);
    if (node.op == Op::predicate) {
      evaluate_predicate(id, count);
      return;
    }
    std::array<Operand, 3> operands;
    for (std::size_t i = 0; i < node.children.size(); ++i) operands[i] = operand(node.children[i]);
    evaluate_lanes(node, operands.data(), count, lane_column(id).lanes());
  }

  void evaluate_predicate(NodeId id, std::size_t count) {
    const Node& node = graph_.node(id);
    const Predicate& predicate = graph_.predicate(node.payload);
    const std::vector<Parameter>& parameters = model_.definition->parameters;
    std::vector<const Value*> values(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) values[i] = &parameters[i].values[model_.domains[i][0]];
    std::vector<Operand> positions;
    for (const NodeId child : node.children) positions.push_back(operand(child));
    Column& result = lane_column(id);
    for (std::size_t lane = 0; lane < count; ++lane) {
      bool truth = false;
      Fault fault = Fault::none;
      if (alive_[lane] != 0) {
        for (std::size_t i = 0; i < positions.size(); ++i) {
          const std::size_t parameter = model_.variables[predicate.variables[i]];
          values[parameter] = &parameters[parameter].values[static_cast<std::size_t>(positions[i].integers()[lane])];
        }
        fault = predicate.program.test(values, truth);
      }
      result.values[lane] = truth && fault == Fault::none ? 1 : 0;
      result.faults[lane] = fault;
    }
  }

  /// Nodes of the level's own variable have one value for each of its values, whatever the state.
  void compute_of_variable() {
    lane_index_.assign(graph_.size(), -1);
    alive_.assign(std::max(width_, states_per_chunk_ * width_), 1);
    lanes_.reserve(plan_.of_variable.size() + plan_.from_before.size() + plan_.steps.size());
    for (const NodeId id : plan_.of_variable) {
      Column& column = new_lane_column(id);
      if (graph_.node(id).op == Op::table) {
        fill_from_table(graph_.table(graph_.node(id).payload), column);
      } else {
        column.resize(width_, graph_.node(id).may_fault);
        evaluate(id, width_);
      }
    }
  }

  Column& new_lane_column(NodeId id) {
    lane_index_[id] = static_cast<int>(lanes_.size());
    return lanes_.emplace_back();
  }

  void prepare_lanes() {
    const std::size_t lanes = states_per_chunk_ * width_;
    for (const NodeId id : plan_.of_variable) {
      Column& column = lane_column(id);
      column.resize(lanes, graph_.node(id).may_fault);
      for (std::size_t i = width_; i < lanes; ++i) {
        column.values[i] = column.values[i - width_];
        if (!column.faults.empty()) column.faults[i] = column.faults[i - width_];
      }
    }
    for (const NodeId id : plan_.from_before) new_lane_column(id).resize(lanes, graph_.node(id).may_fault);
    for (const NodeId id : plan_.steps) new_lane_column(id).resize(lanes, graph_.node(id).may_fault);
    for (const NodeId id : plan_.live) new_states_.emplace_back(id, Column{});
  }

  void spread_states(std::size_t first, std::size_t states) {
    for (const auto& [id, column] : states_) {
      if (lane_index_[id] < 0) continue;
      Column& lanes = lane_column(id);
      for (std::size_t s = 0; s < states; ++s) {
        std::fill_n(&lanes.values[s * width_], width_, column.values[first + s]);
        if (!lanes.faults.empty()) std::fill_n(&lanes.faults[s * width_], width_, column.faults[first + s]);
      }
    }
  }

  void check(const Condition& condition, std::size_t count) {
    const Operand truth = operand(condition.node);
    for (std::size_t i = 0; i < count && truth.faults != nullptr; ++i) {
      const Fault fault = truth.faults[truth.single ? 0 : i];
      if (fault == Fault::none) continue;
      if (alive_[i] != 0) model_.note_fault(fault, condition.restriction);
      alive_[i] = 0;
    }
    const std::int64_t* values = truth.integers();
    if (truth.single) {
      if (values[0] == 0) std::fill_n(alive_.begin(), count, 0);
    } else {
      for (std::size_t i = 0; i < count; ++i) alive_[i] = static_cast<std::uint8_t>(alive_[i] & values[i]);
    }
  }

  [[nodiscard]] bool is_step(NodeId id) const { return std::ranges::find(plan_.steps, id) != plan_.steps.end(); }

  void run_chunk(std::size_t first, std::size_t states, std::uint32_t* next) {
    const std::size_t count = states * width_;
    std::fill_n(alive_.begin(), count, 1);
    spread_states(first, states);
    for (const Condition& condition : plan_.conditions) {
      if (!is_step(condition.node)) check(condition, count);
    }
    for (const NodeId id : plan_.steps) {
      evaluate(id, count);
      for (const Condition& condition : plan_.conditions) {
        if (condition.node == id) check(condition, count);
      }
    }
    number_states(count, next);
  }

  void number_states(std::size_t count, std::uint32_t* next) {
    const std::span<const std::uint8_t> alive(alive_.data(), count);
    packer_.start(count);
    for (const NodeId id : plan_.live) {
      const Node& node = graph_.node(id);
      const Column& column = lane_column(id);
      const std::uint64_t lowest = node.is_float ? 0 : static_cast<std::uint64_t>(node.range.low);
      const unsigned bits =
          node.is_float ? 64
                        : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(node.range.high) - lowest));
      packer_.add(column.values, lowest, bits, alive);
      if (column.faults.empty()) continue;
      std::vector<std::uint64_t> faults(count);
      std::ranges::transform(std::span(column.faults).first(count), faults.begin(),
                             [](Fault fault) { return static_cast<std::uint64_t>(fault); });
      packer_.add(faults, 0, fault_bits, alive);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (alive[i] == 0) {
        next[i] = Diagram::dead;
        continue;
      }
      next[i] = numbers_.number(packer_.key(i));
      if (next[i] != new_count_) continue;
      ++new_count_;
      for (auto& [id, column] : new_states_) column.append(lane_column(id), i);
    }
  }

  Model& model_;
  const Graph& graph_;
  const PlanLevel& plan_;
  std::vector<std::pair<NodeId, Column>>& states_;
  std::size_t state_count_;
  std::size_t width_;
  std::size_t states_per_chunk_;
  std::vector<Column> lanes_;
  std::vector<int> lane_index_;  ///< by node: where in lanes_
  std::vector<std::uint8_t> alive_;
  KeyPacker packer_;
  IdMap numbers_;
  std::vector<std::pair<NodeId, Column>> new_states_;
  std::size_t new_count_ = 0;
};

}  // namespace

std::optional<Diagram> build_diagram(Model& model, const Plan& plan, std::size_t most_edges) {
  std::vector<Diagram::Draft> levels(plan.levels.size());
  std::vector<std::pair<NodeId, Column>> states;
  std::size_t state_count = 1;
  std::size_t edges = 0;
  bool wide = false;
  Count combinations = 1;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].variable = plan.levels[l].variable;
    levels[l].width = plan.levels[l].width;
    combinations *= levels[l].width;
    wide = wide || combinations > std::numeric_limits<std::uint64_t>::max();
    edges += state_count * levels[l].width;
    if (edges > most_edges) return std::nullopt;
    LevelBuilder builder(model, plan.levels[l], states, state_count);
    states = builder.run(levels[l].next);
    state_count = builder.new_state_count();
  }
  return Diagram(std::move(levels), wide);
}

}  // namespace wattune
