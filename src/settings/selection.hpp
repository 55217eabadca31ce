#pragma once
// From what a user writes (--clocks 600:1400:5, --power-limits :7) to the values of a parameter.

#include <string>
#include <vector>

#include "settings/capabilities.hpp"
#include "space/search_space.hpp"

namespace wattune {

/// Values of a setting, ascending, in SI units:
///   all          every supported clock; power limits :7
///   LO:HI        every supported clock in the range; power limits LO:HI:7
///   LO:HI:N      N of them, evenly spaced, ends included
///   :N           N over everything; power limits from the least to the default
///   A,B,C        these
/// @param option how errors call it: "--clocks".
/// @throws UsageError for what cannot be read, and for a value that the board does not support, naming the nearest.
std::vector<double> select_settings(Setting setting, const std::string& text, const Capabilities& capabilities,
                                    const std::string& option);

/// The tunable parameter with these values, in MHz or W.
Parameter setting_parameter(Setting setting, const std::vector<double>& values);

/// Checks the values of a parameter that a problem file gives. @throws UsageError as select_settings().
void check_setting_values(Setting setting, const std::vector<Value>& values, const Capabilities& capabilities,
                          const std::string& place);

}  // namespace wattune
