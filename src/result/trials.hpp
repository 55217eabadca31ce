#pragma once
// Several measurements of one configuration as one.

#include <cstddef>
#include <span>
#include <vector>

#include "result/evaluation.hpp"

namespace wattune {

/// One evaluation for several trials of a configuration: means of every quantity that all have, with the standard error
/// of the mean (the larger of that from the spread between trials and that from the trials' own errors), n trials, and
/// the flags of any. @pre not empty.
Evaluation mean_of_trials(std::span<const Evaluation> trials);

/// In place of the successful trials in tier `final` of a configuration on a board, one evaluation of their means,
/// where the last of them stood: what a run itself reports of its finalists. All else stays, in its order.
/// @return how many evaluations there are less
std::size_t replace_final_trials(std::vector<Evaluation>& evaluations);

}  // namespace wattune
