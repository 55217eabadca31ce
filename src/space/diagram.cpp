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

}  // namespace

Diagram::Diagram(std::vector<Level> levels, bool wide) : levels_(std::move(levels)) {
  merge_nodes();
  count(wide);
}

void Diagram::rename_variables(const std::vector<std::size_t>& names) {
  for (Level& level : levels_) level.variable = names[level.variable];
}

void Diagram::merge_nodes() {
  std::vector<std::uint32_t> renamed;  // nodes of the level after
  for (std::size_t l = levels_.size(); l-- > 0;) {
    Level& level = levels_[l];
    const std::size_t nodes = level.nodes();
    std::vector<std::uint32_t> names(nodes, dead);
    RowMerger merger(level.next, level.width);
    std::uint32_t kept = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      std::uint32_t* row = &level.next[node * level.width];
      bool alive = false;
      for (std::size_t v = 0; v < level.width; ++v) {
        if (row[v] != dead && !renamed.empty()) row[v] = renamed[row[v]];
        alive = alive || row[v] != dead;
      }
      if (!alive && l > 0) continue;
      // Rows are moved to the front as they are kept; the ones there are never read again by their old numbers.
      if (node != kept) std::copy_n(row, level.width, &level.next[kept * level.width]);
      names[node] = merger.find(kept, kept);
      if (names[node] == kept) ++kept;
    }
    level.next.resize(kept * level.width);
    renamed = std::move(names);
  }
}

void Diagram::count(bool wide) {
  for (std::size_t l = levels_.size(); l-- > 0;) {
    Level& level = levels_[l];
    level.before = Counts(wide);
    level.total = Counts(wide);
    level.before.resize(level.next.size());
    level.total.resize(level.nodes());
    for (std::size_t node = 0; node < level.nodes(); ++node) {
      Count sum = 0;
      for (std::size_t v = 0; v < level.width; ++v) {
        const std::size_t edge = node * level.width + v;
        level.before.set(edge, sum);
        if (level.next[edge] == dead) continue;
        sum += l + 1 < levels_.size() ? levels_[l + 1].total[level.next[edge]] : 1;
      }
      level.total.set(node, sum);
    }
  }
}

}  // namespace wattune
