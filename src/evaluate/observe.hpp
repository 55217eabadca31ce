#pragma once
// The loop that a program's own observers watch.

#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "backend/backend.hpp"
#include "evaluate/extensions.hpp"
#include "evaluate/session.hpp"
#include "evaluate/timing.hpp"
#include "result/evaluation.hpp"

namespace wattune {

/// The observers of a problem, made.
class Observers {
 public:
  /// @throws UsageError where one is not registered, RunError where one cannot be made.
  Observers(const Problem& problem, const DeviceInfo& device);
  ~Observers();

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

  /// Runs the work for as long as the observers want and adds to the evaluation what they saw. Failure: outcome
  /// measurement, naming the observer, where one throws or gives what it was not registered with; or what the device
  /// failed with.
  std::optional<Failure> observe(const BatchMaker& make, const MeasureOptions& options,
                                 const Configuration& configuration, Evaluation& evaluation);

 private:
  struct Entry;
  class Loop;
  DeviceDescription device_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

DeviceDescription describe(const DeviceInfo& device);

}  // namespace wattune
