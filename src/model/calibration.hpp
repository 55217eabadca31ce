#pragma once
// What was measured of a board over its clocks, what follows from it, and where that is kept.

#include <filesystem>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/power_fit.hpp"

namespace wattune {

/// One kernel at one clock.
struct CalibrationSample {
  PowerSample power;
  double time_s = 0;
  double temperature = std::numeric_limits<double>::quiet_NaN();  ///< degC; NaN where it was not told
};

/// Measurements only: fits are made of them when they are wanted, in whatever form.
struct Calibration {
  static constexpr int known_format = 1;
  std::string board;   ///< UUID
  std::string name;    ///< of the model
  std::string driver;  ///< version
  std::string made;    ///< UTC
  bool simulated = false;
  std::vector<double> supported_clocks;    ///< Hz, ascending
  std::vector<CalibrationSample> compute;  ///< of a kernel that only computes
  std::vector<CalibrationSample> memory;   ///< of one that only moves data; may be empty

  /// The power model of the board: of the computing kernel. @throws UsageError as fit_power_model().
  [[nodiscard]] PowerFit fit(PowerForm form = PowerForm::free) const;
  /// Those of the supported clocks that were reached: a power limit or the board's highest voltage may lie below the
  /// rest.
  [[nodiscard]] std::vector<double> reachable_clocks() const;
};

/// The same board's, the same driver's: what counts first. Else that of another board of the same model.
struct KnownCalibration {
  Calibration calibration;
  bool own = true;  ///< of this board
};

nlohmann::json to_json(const Calibration& calibration);
/// @throws UsageError where a key is missing or holds what cannot be.
Calibration calibration_from_json(const nlohmann::json& json);

/// WATTUNE_CALIBRATION_DIR, else calibrations/ where wattune keeps what it knows (see kept_folder()); may be empty.
std::filesystem::path calibration_folder();
/// @return the file. @throws RunError where it cannot be written.
std::filesystem::path save_calibration(const Calibration& calibration, const std::filesystem::path& folder);
/// That of this board and driver, else the latest of this board, else the latest of a board of the same model that is
/// as simulated. Files that are damaged, or from which no model can be fitted, count as if they were not there.
/// @param problem what to tell a user where that is so of the one of this board and driver; stays as it is otherwise
std::optional<KnownCalibration> find_calibration(const std::string& board, const std::string& driver,
                                                 const std::string& name, bool simulated,
                                                 const std::filesystem::path& folder, std::string* problem = nullptr);

}  // namespace wattune
