#pragma once
// Fitting the power model to samples of clock and power.

#include <limits>
#include <string>
#include <vector>

#include "model/power_model.hpp"

namespace wattune {

/// Power of one kernel at one clock.
struct PowerSample {
  double clock_hz = 0;  ///< the actual clock, not the requested one: they differ once a limit is reached
  double power_w = 0;
  double voltage = std::numeric_limits<double>::quiet_NaN();       ///< in any unit; NaN where it was not measured
  double requested_hz = std::numeric_limits<double>::quiet_NaN();  ///< NaN where it is not known
};

/// A parameter in the units in which the forms are written down: MHz, W.
struct FitParameter {
  std::string name;
  double value;
  double standard_error;  ///< NaN where the data does not tell
  std::string unit;       ///< empty: a pure number
};

/// Of the ridge. From power: a 95 % interval by profile likelihood. From measured voltage: the clocks on either side.
struct RidgeInterval {
  double low_hz, high_hz;
  bool low_open, high_open;  ///< the data does not bound it on this side; the value is the end of the sampled clocks
};

struct PowerFit {
  PowerForm form = PowerForm::free;
  PowerModel model;
  bool measured_voltage = false;
  std::vector<FitParameter> parameters;
  double ridge_hz = 0;
  RidgeInterval ridge_interval{};
  std::size_t samples = 0;
  std::size_t capped = 0;  ///< samples at the power limit
  double rms_w = 0;        ///< root of the mean squared residual
  double r_squared = 0;
  std::vector<std::string> warnings;  ///< what the data cannot tell, one line each
};

/// Fits by least squares. Samples at the power limit lie on the curve at their actual clock, and count. Where all
/// samples have a voltage, that takes the place of the voltage curve, and the ridge is where it begins to rise. A limit
/// is part of the model where the highest clocks were held back below the requested ones, and where the data asks for
/// it (on two samples or more; an F test at 5 %).
/// @param samples in any order; the same clock may occur several times
/// @throws UsageError for samples that are not finite and positive, and for too few distinct clocks.
PowerFit fit_power_model(std::vector<PowerSample> samples, PowerForm form);

/// How many distinct clocks fit_power_model() asks for.
std::size_t least_clocks(PowerForm form, bool measured_voltage);

}  // namespace wattune
