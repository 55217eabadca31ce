#pragma once
// Builds the diagram of a group of parameters, level by level.

#include <cstddef>
#include <optional>

#include "space/diagram.hpp"
#include "space/plan.hpp"

namespace wattune {

/// Nothing where more than `most_edges` edges would be needed.
/// Notes suspects in the model.
std::optional<Diagram> build_diagram(Model& model, const Plan& plan, std::size_t most_edges);

}  // namespace wattune
