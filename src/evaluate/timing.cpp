#include "evaluate/timing.hpp"

#include <algorithm>
#include <cmath>

#include "evaluate/statistics.hpp"

namespace wattune {

namespace {

constexpr double max_launches = 2000;        // a graph of so many nodes is still made in milliseconds
constexpr double min_batch_seconds = 0.004;  // long against the resolution of timers and the gap between batches
constexpr double min_warm_seconds = 0.01;    // in which clocks rise and caches and translations fill
/// The cost of queueing is hidden behind a batch of this length even when nothing is queued behind it.
constexpr double long_batch_seconds = 0.05;
/// Not even a second sample is taken of launches that last this many times the limit.
constexpr double hopeless = 20;

tl::expected<double, Failure> run_once(Batch& batch) {
  if (auto failed = batch.enqueue()) return tl::unexpected(*failed);
  auto seconds = batch.wait();
  if (!seconds) return seconds;
  if (!(*seconds > 0)) {
    return tl::unexpected(Failure{Outcome::measurement, "the device reports that the kernel took no time"});
  }
  return seconds;
}

bool enough(const std::vector<double>& samples, double total, const MeasureOptions& options, bool& noisy) {
  if (samples.empty()) return false;
  const Summary summary = summarize(samples);
  const bool quiet = summary.standard_error < options.time_noise * summary.median;
  noisy = !quiet;
  if (samples.size() >= options.min_batches && total >= options.min_time_seconds && quiet) return true;
  return total >= options.max_time_seconds && (samples.size() >= 2 || total >= hopeless * options.max_time_seconds);
}

}  // namespace

unsigned launches_for(double seconds, double each) {
  return static_cast<unsigned>(std::clamp(std::ceil(seconds / each), 1.0, max_launches));
}

tl::expected<WarmBatch, Failure> warm_up(const BatchMaker& make, const MeasureOptions& options) {
  const double target = std::max(min_batch_seconds, options.min_time_seconds / std::max(options.min_batches, 1U));
  WarmBatch warm;
  double total = 0;
  unsigned launches = 1;
  // A single launch looks longer than one of many, and the first longer still: a few rounds find the right number.
  for (int round = 0; round < 4; ++round) {
    auto made = make(launches);
    if (!made) return tl::unexpected(made.error());
    warm.batch = std::move(*made);
    // The second run tells more than the first, unless the batch is so long that what comes with a first run vanishes.
    for (int run = 0; run < 2; ++run) {
      const auto seconds = run_once(*warm.batch);
      if (!seconds) return tl::unexpected(seconds.error());
      total += *seconds;
      warm.seconds = *seconds / launches;
      if (*seconds >= long_batch_seconds) break;
    }
    const unsigned wanted = launches_for(target, warm.seconds);
    if (wanted < launches + launches / 2 + 1) break;
    launches = wanted;
  }
  while (total < min_warm_seconds) {
    const auto seconds = run_once(*warm.batch);
    if (!seconds) return tl::unexpected(seconds.error());
    total += *seconds;
    warm.seconds = *seconds / warm.batch->launches();
  }
  if (warm.batch->launches() == 1 && warm.seconds >= options.max_time_seconds / 4) {
    warm.samples.push_back(warm.seconds);
  }
  return warm;
}

tl::expected<TimeSamples, Failure> time_batch(WarmBatch& warm, const MeasureOptions& options) {
  TimeSamples result;
  result.seconds = warm.samples;
  double total = 0;
  for (const double seconds : warm.samples) total += seconds;
  Batch& batch = *warm.batch;
  const unsigned launches = batch.launches();
  const bool ahead = warm.seconds * launches < long_batch_seconds;
  bool stop = enough(result.seconds, total, options, result.noisy);
  while (!stop || batch.outstanding() > 0) {
    while (!stop && batch.outstanding() < (ahead ? 2U : 1U)) {
      if (auto failed = batch.enqueue()) return tl::unexpected(*failed);
    }
    auto seconds = batch.wait();
    if (!seconds) return tl::unexpected(seconds.error());
    total += *seconds;
    result.seconds.push_back(*seconds / launches);
    if (!stop) stop = enough(result.seconds, total, options, result.noisy);
  }
  return result;
}

}  // namespace wattune
