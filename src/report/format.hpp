#pragma once
// Numbers for people: SI units inside become ms, MHz and the like here, with the digits that the uncertainty leaves.

#include <limits>
#include <string>
#include <string_view>

#include "result/evaluation.hpp"

namespace wattune {

/// A unit to show: shown = value * factor.
struct Scale {
  double factor = 1;
  std::string unit;
};

/// The scale in which a value reads best: s to ms, us, ns; J and W to k, M, m, u; Hz to MHz. Other units stay.
Scale scale_for(double value, std::string_view unit);

/// A number in a scale, without the unit: "1.234" or, with its standard error, "1.234 +- 0.005". The error gets one
/// significant digit, two where it begins with 1, and the value as many decimals; without an error it gets four
/// significant digits. "-" for a value that is missing.
std::string format_number(double value, const Scale& scale,
                          double standard_error = std::numeric_limits<double>::quiet_NaN());

/// With its unit: "1.234 ms".
std::string format_value(double value, std::string_view unit);
/// With its error and unit: "1.234 +- 0.005 ms".
std::string format_quantity(const Quantity& quantity);

/// A share in percent, without the sign: "12.34", "1.2e+09" for what is not to be shown whole, "-" where it is missing.
std::string format_percent(double share);

/// With its name: "time 1.234 +- 0.005 ms"; a name that is the unit itself stands once, "GFLOP/s 1234 +- 3".
std::string format_named(const std::string& name, const Quantity& quantity);

/// "block=128 tile=2 layout=row", in the order of the names.
std::string format_configuration(const std::vector<Value>& configuration, const std::vector<std::string>& names);

}  // namespace wattune
