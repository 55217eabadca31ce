#pragma once
// A kernel that keeps the device busy while something is looked at.

#include <optional>

#include "backend/backend.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// A load that runs as long as keep_busy() is called every few milliseconds.
class Load {
 public:
  explicit Load(Batch& batch) : batch_(batch) {}

  std::optional<Failure> keep_busy();

  /// Waits for the end of what is outstanding.
  std::optional<Failure> drain();

 private:
  Batch& batch_;
};

}  // namespace wattune
