#pragma once
// Student's t distribution.

namespace wattune {

/// The value that |t| stays below with the given probability (0.95: 2.776 at 4 degrees of freedom).
/// @param degrees at least 1
double student_two_sided(double probability, int degrees);

}  // namespace wattune
