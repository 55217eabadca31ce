#pragma once
// What the reports say of a run besides its evaluations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result/constraint.hpp"
#include "space/search_space.hpp"

namespace wattune {

struct RunInfo {
  std::string problem;    ///< its name
  std::string device_id;  ///< "cuda:0"
  std::string device_name;
  std::string board;  ///< UUID
  bool simulated = false;
  Count space_size = 0;  ///< valid configurations
  Count cartesian = 0;   ///< points before restrictions
  std::string strategy;
  std::uint64_t seed = 0;
  double seconds = 0;      ///< that the run took
  std::string journal;     ///< path; empty where there is none
  std::size_t reused = 0;  ///< evaluations taken from the journal
  bool interrupted = false;
  ConstraintSet constraints;  ///< what the best has to meet
  std::optional<double>
      host_watts;  ///< drawn by the host that waits for the device; there is a metric energy_with_host
  std::vector<std::string> remarks;  ///< on the measuring, a line each: the drift, for example
};

}  // namespace wattune
