#pragma once
// What is known of a board's power sensors, how energy is estimated with them, and where that knowledge is kept.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wattune {

/// How the energy of a kernel is estimated.
enum class EnergyEstimator {
  automatic,  ///< the best of the others that the board has
  counter,    ///< difference of the energy counter between two of its steps
  samples,    ///< mean of the driver's own record of power, which may be finer than any reading
  integral,   ///< mean of the fresh values of a power reading
  median,     ///< median of a power reading, repeated values included, as is common elsewhere; for comparison
};
std::string_view to_string(EnergyEstimator estimator);
/// @throws UsageError that lists the names there are.
EnergyEstimator estimator_from(const std::string& name);

/// One way to read power or energy. Times in s.
struct ReadingProfile {
  double period = 0;              ///< between updates
  double call = 0;                ///< that asking takes, median
  double call_slow = 0;           ///< and one time in a hundred
  std::optional<double> window;   ///< that an update is the mean of
  std::optional<double> duty;     ///< share of the time that is seen: window over period, at most 1
  std::optional<double> rise;     ///< time constant with which a change shows; absent where none was seen
  std::optional<double> delay;    ///< from the end of the window to the update
  std::optional<double> scatter;  ///< W, of updates around what the fitted window says
  [[nodiscard]] bool sees_everything() const { return duty && *duty > 0.85; }
};

/// What probing found.
struct SensorProfile {
  static constexpr int known_format = 1;
  std::string board;   ///< UUID
  std::string name;    ///< of the model
  std::string driver;  ///< version
  std::string made;    ///< UTC
  bool simulated = false;
  std::optional<ReadingProfile> counter, average, instant, samples;
  std::optional<double> idle_bare_w;     ///< before this process had a context
  std::optional<double> idle_context_w;  ///< with a context, nothing running
  std::optional<double> load_w;          ///< of the probe's kernel
  /// Power by the counter over power by integrated readings, under a steady load.
  std::optional<double> counter_over_readings;
  std::vector<std::string> warnings;  ///< in words, one line each
};

/// The best estimator of a board. @param has_counter, has_reading, has_samples what the meter answers now.
EnergyEstimator choose_estimator(const SensorProfile* profile, bool has_counter, bool has_reading, bool has_samples);

/// In plain words, one line each: what the sensors see, and what wattune uses.
std::vector<std::string> in_words(const SensorProfile& profile);

nlohmann::json to_json(const SensorProfile& profile);
/// @throws UsageError where a key is missing or of the wrong type.
SensorProfile sensor_profile_from_json(const nlohmann::json& json);

/// Where profiles are kept: WATTUNE_SENSOR_DIR, else sensors/ in WATTUNE_CACHE_DIR, in XDG_CACHE_HOME/wattune, or in
/// HOME/.cache/wattune; empty where none of them is set.
std::filesystem::path profile_folder();
/// Keeps it for its board and driver. @return the file. @throws RunError where it cannot be written.
std::filesystem::path save_profile(const SensorProfile& profile, const std::filesystem::path& folder);
/// Nothing where there is none for this board and driver, or it is damaged or of another version: it is made anew then.
/// @param problem what to tell a user of one that is passed over; stays as it is where there is none
std::optional<SensorProfile> load_profile(const std::string& board, const std::string& driver,
                                          const std::filesystem::path& folder, std::string* problem = nullptr);

}  // namespace wattune
