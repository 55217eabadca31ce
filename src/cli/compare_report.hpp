#pragma once
// What `wattune compare` shows.

#include <optional>
#include <string>
#include <vector>

#include "analysis/method_comparison.hpp"
#include "problem/problem.hpp"

namespace wattune::cli {

/// The comparison of one file, or of runs that were made for it.
struct Comparison {
  std::string file;  ///< empty: runs that were made now
  std::string device;
  std::vector<ComparedMethod> methods;
  std::optional<Capping> capping;
  std::size_t settings = 0;  ///< combinations of device settings that there are
  std::vector<std::string> parameter_names;
  bool enumerated = false;
  Coverage coverage;  ///< of what is enumerated
};

/// As tables, or as one JSON object. @param comparisons at least one @param files by which the kernels of `common` are
/// named
void print_comparisons(const std::vector<Comparison>& comparisons, const std::optional<CommonClock>& common,
                       const std::vector<std::string>& files, const Objective& efficiency, bool as_json);

}  // namespace wattune::cli
