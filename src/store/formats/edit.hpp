#pragma once
// Work on results: merge them, check them, drop what failed.

#include <span>
#include <string>
#include <vector>

#include "store/formats/results.hpp"

namespace wattune {

/// Puts results of the same kernel on the same model of device together, in the order in which they are given.
///
/// Parameters are matched by name, in the order of the first file; their values are united. An evaluation that is the
/// same in several files (configuration, tier, outcome, time stamp and quantities) counts once. Of a configuration that
/// was measured in several, or several times, every measurement is kept, each under a trial number of its own: of
/// successes in a tier the last given counts (see competing()), in tier `final` the means (replace_final_trials()).
/// Restrictions are kept where all files have the same.
/// @param names of the files, for messages. @throws UsageError where devices, problem sizes or parameters differ.
Results merge_results(std::span<const Results> results, std::span<const std::string> names);

/// What is wrong with results.
struct Finding {
  std::string kind;  ///< "dropped", "duplicate", "outside", "restricted", "unit", "missing", "value"
  std::size_t count = 0;
  std::string text;  ///< one line, with an example
};
/// Parts that could not be read, configurations recorded more than once in a tier (a finalist's trials are none, nor
/// those that a journal numbers), points outside the space, quantities in more than one unit, objectives missing where
/// the evaluation succeeded, times that are not positive.
std::vector<Finding> check_results(const Results& results);

/// Removes what cannot be from evaluations that succeeded: times, energies and powers that are not positive and finite.
/// They count as not measured. @return one line that says of what, how many and the first; empty where there is none.
std::string drop_impossible(Results& results);

/// Removes evaluations with a value that its parameter does not list, but those that do not compete. @return as
/// drop_impossible().
std::string drop_outside(Results& results);

/// Removes evaluations that failed: of these outcomes, or of all where none is given. @return how many.
std::size_t drop_failed(Results& results, std::span<const Outcome> outcomes);

}  // namespace wattune
