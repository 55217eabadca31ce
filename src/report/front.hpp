#pragma once
// A Pareto front for people and programs.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "analysis/pareto.hpp"

namespace wattune {

/// "Pareto front of time, energy: 7 configurations, 2 of them not sure".
std::string front_title(const Front& front);

/// Places of the members to show where there may be `most` (at least 2) rows: all, or such as are spread evenly, ends
/// and knee among them.
std::vector<std::size_t> front_places(const Front& front, std::size_t most);

/// What stands beside a member in a table: "sure", "not sure", "sure, knee".
std::string front_mark(const Front& front, std::size_t place);

/// What a member costs against the best by the first of two objectives: "39.6 % more time for 5.8 % less energy".
std::string trade_off(const Front& front, std::span<const Evaluation> evaluations, std::size_t place);

/// Lines to stand below the table of a front: the trade-off from end to end and at the knee, and what "not sure" means.
std::string front_remarks(const Front& front, std::span<const Evaluation> evaluations);

/// objectives, members (index into evaluations, sure, rival), knee (such an index), errors_known; with two objectives
/// also trade_off and knee_trade_off: by objective, `relative` (to the best by the first objective, minus 1) and
/// `stderr`.
nlohmann::json front_to_json(const Front& front, std::span<const Evaluation> evaluations);

}  // namespace wattune
