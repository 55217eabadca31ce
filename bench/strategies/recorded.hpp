#pragma once
// Recorded results of a whole space, for strategies to search in.

#include <optional>
#include <string>
#include <vector>

#include "space/search_space.hpp"

namespace wattune::bench {

struct Recorded {
  std::string name;
  SearchSpace space;
  bool maximize;
  std::vector<double> values;  ///< by index of the configuration; NaN: failed, or not in the file
  double optimum;
};

/// Reads a Kernel Tuner cache or T4 file, gzip or plain, whose parameters are whole numbers.
Recorded read_recorded(const std::string& file, const std::string& quantity, bool maximize);

}  // namespace wattune::bench
