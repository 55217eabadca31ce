#pragma once
// Times for people.

#include <string>

namespace wattune {

/// A duration that people wait for: "3.2 s", "12 min 5 s", "1 h 2 min"; "-" for what is none.
std::string format_duration(double seconds);

/// A time that is given or measured, to three significant digits: "25 us", "100 ms", "1.25 s"; from a minute on as
/// format_duration().
std::string format_interval(double seconds);

}  // namespace wattune
