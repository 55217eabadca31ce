#pragma once
// One evaluation: a configuration, what became of it, and what was measured.

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "expr/value.hpp"
#include "result/outcome.hpp"

namespace wattune {

/// A measured or derived number with its uncertainty. A quantity that was not measured is absent, never zero.
struct Quantity {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string unit;                                                ///< SI: "s", "W", "J", "Hz", or a metric's own unit
  double stderr_value = std::numeric_limits<double>::quiet_NaN();  ///< standard error; NaN where unknown
  std::int64_t n = 0;                                              ///< independent samples
  std::vector<std::string> flags;                                  ///< quality flags, for example "power_capped"
  std::vector<double> samples = {};                                ///< the single measurements, where they are kept
};

struct Evaluation {
  std::vector<Value> configuration;  ///< in the order of the parameters
  Outcome outcome = Outcome::ok;
  std::string message;          ///< of a failure; empty otherwise
  std::string tier = "screen";  ///< screen, final, clock, timing, reference or calibration
  std::int64_t trial = 0;
  std::string verification;  ///< "verified", "consistent", "unverified", "simulated" (nothing was executed); empty
                             ///< where it did not come to it
  std::map<std::string, Quantity> quantities;     ///< by name: time, power, energy, metrics, ...
  std::map<std::string, double> phases;           ///< seconds spent: compile, verify, time, energy, ...
  std::map<std::string, std::int64_t> resources;  ///< registers, spill_bytes, shared_bytes, ... of the binary
  std::string
      energy_estimator;   ///< how energy was estimated: "counter", "samples", "integral", "median"; empty: it was not
  std::string board;      ///< UUID of the device
  std::string timestamp;  ///< UTC, ISO 8601
  std::int64_t proposal = 0;  ///< the strategy's how-many-th proposal this was, from 0
  std::int64_t told = 0;      ///< results the strategy had been told when it proposed this
  std::int64_t asked = 0;     ///< proposals the strategy had made when it was told this
  std::int64_t declined = 0;  ///< 1 where it was then asked once more and had none
  std::string run;            ///< runs that ask and tell alike share it, see TuneOptions; empty in older journals

  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::ok; }
};

/// Appends to `key` a text that two configurations share exactly where their values are equal (1, 1.0 and True are).
void append_key(std::string& key, const std::vector<Value>& configuration);

/// As in journals and --json. NaN becomes null.
nlohmann::json to_json(const Quantity& quantity);
Quantity quantity_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Value& value);
/// @throws UsageError for an object or null.
Value value_from_json(const nlohmann::json& json);
/// Whole evaluation; `configuration` as an object keyed by parameter name.
nlohmann::json to_json(const Evaluation& evaluation, const std::vector<std::string>& parameter_names);
/// @throws UsageError where a key is missing or of the wrong type.
Evaluation evaluation_from_json(const nlohmann::json& json, const std::vector<std::string>& parameter_names);

}  // namespace wattune
