#include "evaluate/observe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "evaluate/statistics.hpp"

namespace wattune {

namespace {

/// Between looks at the device while it works.
constexpr double poll_seconds = 0.0002;

}  // namespace

/// An observer and what it has seen of the configuration under way.
struct Observers::Entry {
  ObserverKind kind;
  std::unique_ptr<Observer> observer;
  WindowKind window = WindowKind::loop;
  std::map<std::string, std::vector<double>> seen;

  /// Calls a method of the observer. What it throws becomes a failure.
  template <typename Call>
  std::optional<Failure> guarded(const Call& call) {
    std::string reason;
    try {
      call(*observer);
      return std::nullopt;
    } catch (const std::exception& error) {
      reason = error.what();
    } catch (...) {
      reason = "it threw something that is no std::exception";
    }
    return Failure{Outcome::measurement, fmt::format("observer '{}': {}", kind.name, reason)};
  }

  std::optional<Failure> finish(const Window& view) {
    return guarded([&](Observer& watching) {
      for (const auto& [name, value] : watching.after(view)) {
        const bool known =
            std::any_of(kind.quantities.begin(), kind.quantities.end(),
                        [&, &quantity = name](const auto& declared) { return declared.name == quantity; });
        if (!known) throw RunError(fmt::format("it gives '{}', with which it was not registered", name));
        if (!std::isfinite(value)) throw RunError(fmt::format("it gives {} for '{}'", value, name));
        seen[name].push_back(value);
      }
    });
  }

  void add_to(Evaluation& evaluation) const {
    for (const auto& quantity : kind.quantities) {
      const auto values = seen.find(quantity.name);
      if (values == seen.end()) continue;
      const double n = static_cast<double>(values->second.size());
      double mean = 0;
      for (const double value : values->second) mean += value;
      mean /= n;  // once: equal values have exactly that mean
      double squares = 0;
      for (const double value : values->second) squares += (value - mean) * (value - mean);
      Quantity& result = evaluation.quantities[quantity.name];
      result.value = mean;
      result.unit = quantity.unit;
      if (n > 1) result.stderr_value = std::sqrt(squares / (n - 1) / n);
      result.n = static_cast<std::int64_t>(values->second.size());
    }
  }
};

/// The loop for the observers of one kind of window.
class Observers::Loop {
 public:
  Loop(std::vector<Entry*> entries, WindowKind kind, Batch& batch, const MeasureOptions& options, Window& window)
      : entries_(std::move(entries)),
        kind_(kind),
        batch_(batch),
        options_(options),
        clock_(options.clock == nullptr ? real_clock() : *options.clock),
        window_(window) {}

  std::optional<Failure> run() {
    for (Entry* entry : entries_) {
      if (auto failed =
              entry->guarded([&](Observer& observer) { seconds_ = std::max(seconds_, observer.seconds()); })) {
        return failed;
      }
    }
    started_ = clock_.now();
    if (kind_ == WindowKind::loop) return run_loop();
    while (!enough()) {
      if (auto failed = run_window()) return failed;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool enough() const {
    const double elapsed = clock_.now() - started_;
    if (elapsed >= seconds_ && batches_ >= options_.min_batches) return true;
    return batches_ > 0 && elapsed >= std::max(seconds_, options_.max_time_seconds);
  }

  template <typename Call>
  std::optional<Failure> each(const Call& call) {
    for (Entry* entry : entries_) {
      if (auto failed = call(*entry)) return failed;
    }
    return std::nullopt;
  }
  std::optional<Failure> before() {
    window_.launches = 0;
    window_.seconds = 0;
    return each([&](Entry& entry) { return entry.guarded([&](Observer& o) { o.before(window_); }); });
  }
  std::optional<Failure> after() {
    return each([&](Entry& entry) { return entry.finish(window_); });
  }

  /// Waits for the oldest replay, showing the observers that the device works.
  std::optional<Failure> wait_for_one() {
    while (true) {
      const auto seconds = batch_.poll();
      if (!seconds) return seconds.error();
      if (*seconds) {
        window_.launches += batch_.launches();
        window_.seconds += **seconds;
        ++batches_;
        return std::nullopt;
      }
      if (auto failed = each([&](Entry& entry) { return entry.guarded([&](Observer& o) { o.during(window_); }); })) {
        return failed;
      }
      clock_.sleep_until(clock_.now() + poll_seconds);
    }
  }

  /// Two replays are queued at any time, so that the device never waits.
  std::optional<Failure> run_loop() {
    if (auto failed = before()) return failed;
    while (!enough() || batch_.outstanding() > 0) {
      while (!enough() && batch_.outstanding() < 2) {
        if (auto failed = batch_.enqueue()) return failed;
      }
      if (auto failed = wait_for_one()) return failed;
    }
    return after();
  }

  std::optional<Failure> run_window() {
    if (auto failed = before()) return failed;
    if (auto failed = batch_.enqueue()) return failed;
    if (auto failed = wait_for_one()) return failed;
    return after();
  }

  std::vector<Entry*> entries_;
  WindowKind kind_;
  Batch& batch_;
  const MeasureOptions& options_;
  Clock& clock_;
  Window& window_;
  double seconds_ = options_.min_time_seconds;
  double started_ = 0;
  std::size_t batches_ = 0;
};

Observers::Observers(const Problem& problem, const DeviceInfo& device) : device_(describe(device)) {
  for (auto& kind : observers_of(problem)) {
    auto entry = std::make_unique<Entry>();
    entry->kind = std::move(kind);
    std::string reason = "its factory gave none";
    try {
      entry->observer = entry->kind.factory(device_);
      if (entry->observer) entry->window = entry->observer->window();
    } catch (const std::exception& error) {
      entry->observer.reset();
      reason = error.what();
    }
    if (!entry->observer) {
      throw RunError(
          fmt::format("cannot make observer '{}' for {} ({}): {}", entry->kind.name, device_.id, device_.name, reason));
    }
    entries_.push_back(std::move(entry));
  }
}

Observers::~Observers() = default;

std::optional<Failure> Observers::observe(const BatchMaker& make, const MeasureOptions& options,
                                          const Configuration& configuration, Evaluation& evaluation) {
  std::map<std::string, double> measured;
  for (const auto& [name, quantity] : evaluation.quantities) measured[name] = quantity.value;
  for (const auto& entry : entries_) entry->seen.clear();
  for (const WindowKind kind : {WindowKind::loop, WindowKind::batch, WindowKind::launch}) {
    std::vector<Entry*> watching;
    for (const auto& entry : entries_) {
      if (entry->window == kind) watching.push_back(entry.get());
    }
    if (watching.empty()) continue;
    const double target = options.min_time_seconds / std::max(options.min_batches, 1U);
    auto batch = make(kind == WindowKind::launch ? 1 : launches_for(target, measured.at("time")));
    if (!batch) return batch.error();
    Window window{device_, configuration, measured};
    if (auto failed = Loop(std::move(watching), kind, **batch, options, window).run()) return failed;
  }
  for (const auto& entry : entries_) entry->add_to(evaluation);
  return std::nullopt;
}

DeviceDescription describe(const DeviceInfo& device) {
  return {device.id, device.name, device.kind, device.uuid, device.pci, device.simulated};
}

}  // namespace wattune
