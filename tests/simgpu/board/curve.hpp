#pragma once
// Measured curves of power against clock, and how well a simulated board agrees.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "board/board.hpp"

namespace wattune::simgpu {

struct CurvePoint {
  double mhz;
  double watts;
};
using Curve = std::vector<CurvePoint>;

inline constexpr double mega = 1e6;

inline const Description& board_named(const std::string& id) {
  const Description* found = find_description(id);
  if (!found) throw std::runtime_error("no board " + id);
  return *found;
}

inline const Work& workload_named(const Description& description, const std::string& name) {
  const Work* found = find_workload(description, name);
  if (!found) throw std::runtime_error(description.id + " has no workload " + name);
  return *found;
}

/// W, of a board that has run a workload at a locked clock until it is warm, over its last second.
inline double warm_power(const Description& description, const std::string& workload, double mhz, double limit = 0) {
  BoardState state;
  Board board(description, state);
  board.reset(1);
  board.set_contexts(1);
  board.set_power_limit(limit > 0 ? limit : description.power_limit_max);
  board.lock_sm_clock(mhz * mega, mhz * mega);
  constexpr double endless = 1e12;
  constexpr double warm = 600;
  const Work& work = workload_named(description, workload);
  board.run(work, endless, warm);
  const double before = board.true_energy();
  board.run(work, endless, warm + 1);
  return board.true_energy() - before;
}

/// Root of the mean squared relative deviation.
inline double relative_rms(const Description& description, const std::string& workload, const Curve& curve) {
  double sum = 0;
  for (const auto& [mhz, watts] : curve) {
    const double deviation = warm_power(description, workload, mhz) / watts - 1;
    sum += deviation * deviation;
  }
  return std::sqrt(sum / static_cast<double>(curve.size()));
}

/// A file of recorded data that lies beside the repository; nothing where it is missing.
inline std::optional<nlohmann::json> recorded(const std::string& path) {
  std::ifstream file(std::filesystem::path(WATTUNE_SOURCE_DIR) / "../shared/data" / path);
  if (!file) return std::nullopt;
  return nlohmann::json::parse(file);
}

}  // namespace wattune::simgpu
