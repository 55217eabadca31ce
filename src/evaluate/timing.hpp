#pragma once
// The device time of a launch.

#include <functional>
#include <tl/expected.hpp>
#include <vector>

#include "backend/backend.hpp"
#include "evaluate/session.hpp"

namespace wattune {

/// Makes a batch of so many launches.
using BatchMaker = std::function<tl::expected<std::unique_ptr<Batch>, Failure>(unsigned launches)>;

/// A batch whose length suits timing, ready: it has run.
struct WarmBatch {
  std::unique_ptr<Batch> batch;
  double seconds = 0;           ///< of one launch, roughly
  std::vector<double> samples;  ///< seconds of one launch, where launches are so long that those of warming up count
};

/// Launches until the device is warm, and finds how many launches make a batch of some milliseconds.
tl::expected<WarmBatch, Failure> warm_up(const BatchMaker& make, const MeasureOptions& options);

struct TimeSamples {
  std::vector<double> seconds;  ///< of one launch, one sample per batch, in order
  bool noisy = false;           ///< the time was up before the noise was below the limit
};

/// Replays the batch, never letting the device run dry, until the relative standard error is small enough or the time
/// is up. Launches of seconds run just a few times.
tl::expected<TimeSamples, Failure> time_batch(WarmBatch& warm, const MeasureOptions& options);

/// The launches that last about `seconds` together, each lasting `each`.
unsigned launches_for(double seconds, double each);

}  // namespace wattune
