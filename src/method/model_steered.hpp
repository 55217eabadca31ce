#pragma once
// Energy-to-solution in the clocks that a power-frequency model recommends.

#include "method/stage.hpp"
#include "model/power_fit.hpp"

namespace wattune {

/// Where the clocks of the space were chosen beforehand, searches them all. Else makes the model from evaluations of
/// the run: a few variants at maximum clock, the one of highest power, which comes nearest to a compute-bound kernel,
/// at a few clocks; then searches the clocks near the predicted optimum.
/// @throws UsageError where the space has no SM clock.
std::unique_ptr<Strategy> make_model_steered(MethodInputs inputs);

/// How far from the predicted optimum clocks are searched, and how many of them at most.
inline constexpr double steered_width = 0.1;
inline constexpr std::size_t steered_count = 10;

/// Power and actual clock of an evaluation, for fitting; nothing where it does not have both. @param requested_mhz
/// counts where no actual clock is recorded
std::optional<PowerSample> power_sample_of(const Evaluation& evaluation, double requested_mhz);

/// Those of the requested clocks (MHz) that the model of these samples recommends. All of them where the samples do not
/// allow a fit.
std::vector<double> recommended_clocks(const std::vector<PowerSample>& samples,
                                       const std::vector<double>& requested_mhz);

}  // namespace wattune
