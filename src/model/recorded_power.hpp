#pragma once
// Samples of clock and power out of recorded results.

#include <string>
#include <utility>
#include <vector>

#include "model/power_fit.hpp"
#include "store/formats/results.hpp"

namespace wattune {

struct RecordedPowerChoice {
  std::string
      clock;  ///< quantity or parameter; empty: the actual clock (sm_clock, core_freq, clock), else the requested one
  std::string power;    ///< the same; empty: power, nvml_power and the like, else energy / time
  std::string voltage;  ///< the same; empty: gr_voltage, core_voltage or voltage, where there is one; "none": not used
  std::vector<std::pair<std::string, std::string>> where;  ///< values that parameters have to have
};

struct RecordedPower {
  std::vector<PowerSample> samples;
  std::string clock, power, voltage;     ///< what was taken; voltage may be empty
  std::vector<double> requested_clocks;  ///< Hz: all values of the parameter nvml_gr_clock; empty where there is none
  std::string configuration;             ///< of the other parameters: "x=1 y=2"; empty where there are none
  std::vector<std::string> notes;        ///< what was left out or is to be known, one line each
};

/// The samples of one configuration at all its clocks: where several are recorded, of the one with the most clocks, and
/// among such the one of highest power, which comes nearest to a compute-bound kernel.
/// @param file stands for the results in messages
/// @throws UsageError where clock or power is not recorded, naming what is.
RecordedPower recorded_power(const Results& results, const RecordedPowerChoice& choice, const std::string& file);

/// The clocks that a device supports, as far as the requested ones tell: from the least to the greatest in steps of
/// their greatest common divisor, where that is 5 MHz or more; else these themselves.
/// @param requested in Hz
std::vector<double> guess_supported_clocks(std::vector<double> requested);

/// What a user writes: LO:HI:STEP or A,B,C in MHz. @return Hz, in increasing order. @throws UsageError
std::vector<double> parse_supported_clocks(const std::string& text);

}  // namespace wattune
