#pragma once
// What became of a configuration.

#include <optional>
#include <string>
#include <string_view>

namespace wattune {

enum class Outcome {
  ok,
  constraints,  ///< violates a restriction
  compile,      ///< the compiler refused, crashed or ran too long
  resources,    ///< needs more than the device has
  launch,       ///< the launch failed
  timeout,      ///< ran too long
  crash,        ///< killed its worker
  correctness,  ///< wrong output, or a write out of bounds
  measurement,  ///< could not be measured
  lost_device,  ///< the device went away
};

/// "ok", "compile", ... as in journals and JSON.
std::string_view to_string(Outcome outcome);
/// The inverse of to_string; nothing for any other text.
std::optional<Outcome> outcome_from(std::string_view text);

/// Why a configuration failed: a value, not an exception, for it is part of normal work.
struct Failure {
  Outcome outcome;      ///< not ok
  std::string message;  ///< one or more lines
};

}  // namespace wattune
