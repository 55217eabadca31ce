#pragma once
// How promising a configuration is, given what a model predicts of it.

#include <optional>
#include <string>
#include <vector>

namespace wattune {

enum class Acquisition { expected_improvement, probability_of_improvement, lower_confidence_bound };
std::vector<std::string> acquisition_names();
Acquisition acquisition_from(const std::string& name);

/// Logarithm of the expected improvement of a standard normal below -z, that is of z Phi(z) + phi(z); from a table,
/// with a relative error under 1e-4.
double log_improvement(double z);
/// Logarithm of the probability of a standard normal below z.
double log_probability(double z);

/// A score to be maximised; scores of one function compare, also after the logarithm of a probability is added.
/// @param best the least target so far.
double score(Acquisition acquisition, double mean, double deviation, double best);

}  // namespace wattune
