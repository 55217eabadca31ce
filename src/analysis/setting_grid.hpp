#pragma once
// Recorded results by variant and device settings.

#include <vector>

#include "method/axes.hpp"
#include "store/formats/results.hpp"

namespace wattune {

/// A configuration that competes.
struct GridCell {
  const Evaluation* evaluation;
  SettingPoint settings;
  std::size_t variant;  ///< cells of one variant differ in their settings only
};

struct SettingGrid {
  /// @param results must outlive this object
  SettingGrid(const Results& results, const std::vector<ParameterKind>& kinds);

  SettingAxes axes;
  std::vector<GridCell> cells;  ///< in the order of the file
};

}  // namespace wattune
