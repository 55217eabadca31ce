#pragma once
// Evaluations for tests.

#include <map>
#include <string>

#include "result/evaluation.hpp"

namespace wattune {

inline Evaluation measured(std::vector<Value> configuration, const std::map<std::string, Quantity>& quantities) {
  Evaluation evaluation;
  evaluation.configuration = std::move(configuration);
  evaluation.verification = "verified";
  evaluation.quantities = quantities;
  return evaluation;
}

inline Evaluation failed(std::vector<Value> configuration, Outcome outcome, std::string message) {
  Evaluation evaluation;
  evaluation.configuration = std::move(configuration);
  evaluation.outcome = outcome;
  evaluation.message = std::move(message);
  return evaluation;
}

inline Quantity seconds(double value, double standard_error) {
  return {value, "s", standard_error, 10, {}};
}
inline Quantity joules(double value, double standard_error) {
  return {value, "J", standard_error, 3, {}};
}

}  // namespace wattune
