#pragma once
// Methods in one stage, and those that choose a variant at one setting and then search its settings alone.

#include "method/stage.hpp"

namespace wattune {

/// The whole space by one objective.
std::unique_ptr<Strategy> make_everywhere(MethodInputs inputs, const Objective& objective);
/// The configurations at the greatest settings.
std::unique_ptr<Strategy> make_at_top(MethodInputs inputs, const Objective& objective);

/// The best variant at these settings by an objective, then its most efficient settings.
/// @param settings nothing: the greatest ones
std::unique_ptr<Strategy> make_two_step(MethodInputs inputs, const std::optional<SettingPoint>& settings,
                                        const Objective& objective);

}  // namespace wattune
