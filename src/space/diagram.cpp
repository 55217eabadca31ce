#include "space/diagram.hpp"

#include <algorithm>
#include <utility>

namespace wattune {

namespace {

/// Finds rows of a level that are equal to an earlier one.
class RowMerger {
 public:
  RowMerger(const std::vector<std::uint32_t>& rows, std::size_t width) : rows_(rows), width_(width) {}

  /// The number of the first row equal to the one at `row`, given that `kept` rows at the beginning are all different.
  std::uint32_t find(std::size_t row, std::uint32_t kept) {
    if (std::size_t{kept} * 2 >= slots_.size()) grow(kept);
    const std::uint32_t* content = &rows_[row * width_];
    for (std::size_t at = hash(content) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == Diagram::dead) {
        slots_[at] = kept;
        return kept;
      }
      if (std::equal(content, content + width_, &rows_[slots_[at] * width_])) return slots_[at];
    }
  }

 private:
  [[nodiscard]] std::size_t hash(const std::uint32_t* content) const {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < width_; ++i) {
      result = (result ^ content[i]) * 0x9e3779b97f4a7c15U;
      result ^= result >> 29;
    }
    return static_cast<std::size_t>(result);
  }

  void grow(std::uint32_t kept) {
    slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), Diagram::dead);
    for (std::uint32_t row = 0; row < kept; ++row) {
      std::size_t at = hash(&rows_[row * width_]) & (slots_.size() - 1);
      while (slots_[at] != Diagram::dead) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = row;
    }
  }

  const std::vector<std::uint32_t>& rows_;
  std::size_t width_;
  std::vector<std::uint32_t> slots_;
};

/// Makes equal nodes one and drops those from which nothing is reached, but for the root.
void merge_nodes(std::vector<Diagram::Draft>& drafts) {
  std::vector<std::uint32_t> renamed;  // nodes of the level after
  for (std::size_t l = drafts.size(); l-- > 0;) {
    Diagram::Draft& draft = drafts[l];
    const std::size_t nodes = draft.next.size() / draft.width;
    std::vector<std::uint32_t> names(nodes, Diagram::dead);
    RowMerger merger(draft.next, draft.width);
    std::uint32_t kept = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      std::uint32_t* row = &draft.next[node * draft.width];
      bool alive = false;
      for (std::size_t v = 0; v < draft.width; ++v) {
        if (row[v] != Diagram::dead && !renamed.empty()) row[v] = renamed[row[v]];
        alive = alive || row[v] != Diagram::dead;
      }
      if (!alive && l > 0) continue;
      // Rows are moved to the front as they are kept; the ones there are never read again by their old numbers.
      if (node != kept) std::copy_n(row, draft.width, &draft.next[kept * draft.width]);
      names[node] = merger.find(kept, kept);
      if (names[node] == kept) ++kept;
    }
    draft.next.resize(kept * draft.width);
    renamed = std::move(names);
  }
}

}  // namespace

Diagram::Diagram(std::vector<Draft> drafts, bool wide) : levels_(drafts.size()) {
  merge_nodes(drafts);
  for (std::size_t l = drafts.size(); l-- > 0;) {
    Draft draft = std::move(drafts[l]);
    Level& level = levels_[l];
    level.variable = draft.variable;
    level.width = draft.width;
    const std::size_t nodes = draft.next.size() / draft.width;
    const std::size_t stride = draft.width + 1;
    const bool is_last = l + 1 == levels_.size();
    const std::size_t next_stride = is_last ? 0 : levels_[l + 1].width + 1;
    level.next.resize(nodes * stride);
    level.before = Counts(wide);
    level.before.resize(nodes * stride);
    for (std::size_t node = 0; node < nodes; ++node) {
      Count sum = 0;
      for (std::size_t v = 0; v < draft.width; ++v) {
        const std::uint32_t target = draft.next[node * draft.width + v];
        const std::size_t edge = node * stride + v;
        level.before.set(edge, sum);
        level.next[edge] = target == dead ? dead : static_cast<std::uint32_t>(target * next_stride);
        if (target != dead) sum += is_last ? 1 : levels_[l + 1].before[target * next_stride + next_stride - 1];
      }
      level.next[node * stride + draft.width] = dead;
      level.before.set(node * stride + draft.width, sum);
    }
  }
}

void Diagram::rename_variables(const std::vector<std::size_t>& names) {
  for (Level& level : levels_) level.variable = names[level.variable];
}

}  // namespace wattune
