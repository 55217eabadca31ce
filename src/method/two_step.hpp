#pragma once
// Methods in one stage, and those that choose a variant at one setting and then search its settings alone.

#include "method/stage.hpp"

namespace wattune {

/// The whole space or, given settings, the configurations at these, by one objective.
std::unique_ptr<Strategy> make_one_stage(MethodInputs inputs, const std::optional<SettingPoint>& settings,
                                         const Objective& objective);

/// The best variant at these settings by an objective, then its most efficient settings.
std::unique_ptr<Strategy> make_two_step(MethodInputs inputs, const SettingPoint& settings, const Objective& objective);

}  // namespace wattune
