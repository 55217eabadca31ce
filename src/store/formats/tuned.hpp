#pragma once
// Using results: the best configuration for each device and problem size, as a file, as a C++ header, and by a lookup
// that says how well it matched.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/formats/results.hpp"

namespace wattune {

/// The best configuration of a kernel on a device for a problem size.
struct Tuned {
  std::string problem;  ///< name of the kernel or problem
  std::string device;   ///< model
  std::vector<std::int64_t> problem_size;
  Objective objective;
  std::vector<std::string> parameter_names;
  std::vector<Value> configuration;
  std::map<std::string, Quantity> quantities;
};

/// The best of these results by an objective; nothing where none has it.
std::optional<Tuned> best_of(const Results& results, const Objective& objective);

/// As `wattune export` writes it: {"wattune_tuned": 1, "entries": [...]}.
nlohmann::json to_json(std::span<const Tuned> tuned);
/// The inverse. @throws UsageError naming file and key.
std::vector<Tuned> read_tuned(const std::filesystem::path& file);

/// A C++17 header without dependencies: for each problem a namespace with the configurations as constants and a lookup.
/// @throws UsageError for values that are no constants (lists).
std::string tuned_header(std::span<const Tuned> tuned);

/// The architecture of a device by its model's name: "Ampere", "Hopper", "RDNA3", ...; empty where it is not known.
std::string_view architecture_of(std::string_view device);

/// How well a device matched, the best first.
enum class DeviceMatch { model, architecture, other };
/// How well a problem size matched.
enum class SizeMatch { exact, nearest, unknown };  ///< unknown: one of both is not given, or has other dimensions
std::string_view to_string(DeviceMatch match);
std::string_view to_string(SizeMatch match);

struct TunedMatch {
  const Tuned* tuned = nullptr;
  DeviceMatch device = DeviceMatch::other;
  SizeMatch size = SizeMatch::unknown;
  double size_distance = 0;  ///< sum of |ln(size / tuned size)| over the dimensions
};

/// The entry that serves best for a device and problem size: the same model with the same size, then the same model
/// with the nearest size, then the same architecture likewise, then any device. Nothing where there is no entry.
std::optional<TunedMatch> find_tuned(std::span<const Tuned> tuned, std::string_view device,
                                     std::span<const std::int64_t> problem_size);

}  // namespace wattune
