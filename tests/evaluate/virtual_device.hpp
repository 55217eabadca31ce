#pragma once
// A device, its meter and their clock, on virtual time: what is measured is known, and nobody waits.

#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "power/meter.hpp"

namespace wattune {

class VirtualClock final : public Clock {
 public:
  double now() override { return now_; }
  void sleep_until(double seconds) override { now_ = std::max(now_, seconds); }
  void pass(double seconds) { now_ += seconds; }

 private:
  double now_ = 100;
};

/// Replays run one after the other and take `replay_seconds` each.
class VirtualBatch final : public Batch {
 public:
  VirtualBatch(VirtualClock& clock, double replay_seconds, unsigned launches)
      : clock_(clock), replay_seconds_(replay_seconds), launches_(launches) {}

  [[nodiscard]] unsigned launches() const noexcept override { return launches_; }
  std::optional<Failure> enqueue() override {
    if (fail_after && enqueued_ >= *fail_after) return Failure{Outcome::crash, "an illegal address"};
    ++enqueued_;
    if (!first_start) first_start = clock_.now();
    busy_until = std::max(busy_until, clock_.now()) + replay_seconds_;
    ends_.push_back(busy_until);
    most_outstanding = std::max(most_outstanding, outstanding());
    return std::nullopt;
  }
  [[nodiscard]] unsigned outstanding() const noexcept override { return static_cast<unsigned>(ends_.size()); }
  tl::expected<std::optional<double>, Failure> poll() override {
    if (ends_.empty() || ends_.front() > clock_.now()) return std::optional<double>();
    ends_.pop_front();
    return std::optional<double>(replay_seconds_);
  }
  tl::expected<double, Failure> wait() override {
    clock_.sleep_until(ends_.front());
    ends_.pop_front();
    return replay_seconds_;
  }

  std::optional<unsigned> fail_after;  ///< replays
  std::optional<double> first_start;
  double busy_until = 0;
  unsigned most_outstanding = 0;

 private:
  VirtualClock& clock_;
  double replay_seconds_;
  unsigned launches_;
  unsigned enqueued_ = 0;
  std::deque<double> ends_;
};

/// A counter that steps every `period` to the integral of `power` (W, of clock time).
class VirtualMeter final : public PowerMeter {
 public:
  VirtualMeter(VirtualClock& clock, std::function<double(double)> power) : power(std::move(power)), clock_(clock) {}

  [[nodiscard]] std::string name() const override { return "virtual"; }
  std::optional<double> energy_joules() override {
    const double cost =
        call_seconds + (jitter_seconds > 0 ? std::exponential_distribution<>(1 / jitter_seconds)(random_) : 0);
    clock_.pass(cost / 2);
    advance();
    const double value = joules_;
    clock_.pass(cost / 2);
    ++calls;
    if (!has_counter) return std::nullopt;
    if (stops_after && calls > *stops_after) return std::nullopt;
    return moves ? value : 5.0;
  }
  std::optional<double> power_watts() override { return power(clock_.now()); }
  std::optional<double> instant_power_watts() override {
    if (!has_instant) return std::nullopt;
    return stale_instant ? stale_instant : power(clock_.now());
  }
  std::optional<double> sm_clock_hz() override { return sm_clock; }
  std::optional<double> memory_clock_hz() override { return memory_clock; }
  std::optional<double> temperature_celsius() override { return temperature; }
  std::optional<double> memory_power_watts() override { return memory_power; }
  std::map<std::string, double> throttle_seconds() override {
    return held_back ? std::map<std::string, double>{{"power_capped", held_back(clock_.now())}}
                     : std::map<std::string, double>();
  }
  std::vector<std::string> throttle_reasons() override {
    return throttle ? throttle(clock_.now()) : std::vector<std::string>();
  }

  std::function<double(double)> power;
  std::function<std::vector<std::string>(double)> throttle;
  std::function<double(double)> held_back;  ///< seconds at the power cap until then
  double period = 0.1;
  double call_seconds = 0.003;
  double jitter_seconds = 0;  ///< mean of what is added to a call
  bool has_counter = true;
  bool has_instant = false;
  std::optional<double> stale_instant;  ///< W, what it says whatever is drawn
  bool moves = true;
  std::optional<int> stops_after;  ///< calls
  std::optional<double> sm_clock = 1.98e9;
  std::optional<double> memory_clock = 3.201e9;
  std::optional<double> temperature = 61;
  std::optional<double> memory_power;
  int calls = 0;

 private:
  /// Integrates over the periods that have passed, in steps that power is constant over for all that these tests use.
  void advance() {
    while (next_tick_ <= clock_.now()) {
      constexpr int steps = 1000;
      for (int i = 0; i < steps; ++i) joules_ += power(next_tick_ - period * (1 - (i + 0.5) / steps)) * period / steps;
      next_tick_ += period;
    }
  }

  VirtualClock& clock_;
  double joules_ = 1e6;
  double next_tick_ = 99.937;
  std::mt19937 random_{7};
};

}  // namespace wattune
