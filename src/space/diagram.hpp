#pragma once
// The valid combinations of a group of parameters as a decision diagram with counts: a graph with one level per
// parameter, in which every path from the root to the end is one valid combination. Combinations that can be continued
// in the same ways share a node, so that the diagram is small where the set is large.

#include <cstdint>
#include <limits>
#include <vector>

#include "space/search_space.hpp"

namespace wattune {

/// Counts in 64 bits where they fit, else in 128.
class Counts {
 public:
  explicit Counts(bool wide = false) : wide_(wide) {}
  void resize(std::size_t size) { wide_ ? large_.resize(size) : small_.resize(size); }
  [[nodiscard]] Count operator[](std::size_t i) const { return wide_ ? large_[i] : small_[i]; }
  void set(std::size_t i, Count count) {
    if (wide_) {
      large_[i] = count;
    } else {
      small_[i] = static_cast<std::uint64_t>(count);
    }
  }
  [[nodiscard]] bool is_wide() const { return wide_; }
  /// Of the narrow kind only.
  [[nodiscard]] const std::uint64_t* narrow() const { return small_.data(); }

 private:
  bool wide_;
  std::vector<std::uint64_t> small_;
  std::vector<Count> large_;
};

class Diagram {
 public:
  /// Where no valid combination continues.
  static constexpr std::uint32_t dead = std::numeric_limits<std::uint32_t>::max();

  /// A level as it is built: node * width + value gives the node of the next level (0 at the end), or dead.
  struct Draft {
    std::size_t variable = 0;
    std::size_t width = 0;
    std::vector<std::uint32_t> next;
  };

  /// A node is known by where its row starts in the level's arrays; a row has an element per value, and one more.
  struct Level {
    std::size_t variable = 0;         ///< which parameter
    std::size_t width = 0;            ///< number of its values
    std::vector<std::uint32_t> next;  ///< row + value: row of the next level (0 at the end), or dead
    Counts before;                    ///< row + value: combinations with a smaller value; row + width: all
  };

  /// Counts. Equal nodes are merged, and dead ends removed.
  Diagram(std::vector<Draft> drafts, bool wide);

  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  /// Level::variable of each level becomes names[variable].
  void rename_variables(const std::vector<std::size_t>& names);
  [[nodiscard]] Count size() const { return levels_[0].before[levels_[0].width]; }

 private:
  std::vector<Level> levels_;
};

}  // namespace wattune
