#pragma once
// Kernels whose power over a launch is known, under sensors of simulated boards: the truth is known, and nobody waits.

#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "board/random.hpp"
#include "board/sensor.hpp"
#include "virtual_device.hpp"

namespace wattune {

/// A launch is at high power for a part of its time, at low for the rest.
struct TwoLevelKernel {
  double seconds;
  double high = 520;
  double low = 280;
  double high_share = 0.5;
  [[nodiscard]] double joules() const { return seconds * (high * high_share + low * (1 - high_share)); }
};

/// The board: launches of the kernel run one after the other while work is queued; otherwise it idles.
class SyntheticBoard {
 public:
  SyntheticBoard(VirtualClock& clock, TwoLevelKernel kernel, simgpu::CounterDescription counter_in,
                 simgpu::SensorDescription reading_in, std::uint64_t seed)
      : clock_(clock),
        kernel_(kernel),
        counter_description_(counter_in),
        reading_description_(reading_in),
        counter(counter_description_, counter_state_),
        reading(reading_description_, reading_state_) {
    using simgpu::uniform;
    fed_ = clock.now();
    counter.reset(seed, fed_, 1000, fed_ + uniform(seed, 1) * counter_description_.period);
    reading.reset(seed + 7, fed_, idle_watts, fed_ + uniform(seed, 2) * reading_description_.period);
  }

  /// Appends work; it begins now, or when what is queued has ended.
  void run(double seconds) {
    feed();
    if (busy_until_ <= clock_.now()) began_ = busy_until_ = clock_.now();
    busy_until_ += seconds;
  }
  [[nodiscard]] double busy_until() const { return busy_until_; }

  /// Shows the sensors what was drawn until now.
  void feed() {
    while (fed_ < clock_.now()) {
      double watts = idle_watts;
      double until = clock_.now();
      if (fed_ < busy_until_ - 1e-12) {
        const double launches = std::floor((fed_ - began_) / kernel_.seconds + 1e-9);
        const double begin = began_ + launches * kernel_.seconds;
        const double turn = begin + kernel_.high_share * kernel_.seconds;
        const bool high = fed_ < turn - 1e-12;
        watts = high ? kernel_.high : kernel_.low;
        until = std::min({until, busy_until_, high ? turn : begin + kernel_.seconds});
      }
      until = std::max(until, fed_ + 1e-9);
      counter.feed(until, watts);
      reading.feed(until, watts);
      fed_ = until;
    }
  }

  static constexpr double idle_watts = 120;

 private:
  VirtualClock& clock_;
  const TwoLevelKernel kernel_;
  const simgpu::CounterDescription counter_description_;
  const simgpu::SensorDescription reading_description_;
  simgpu::CounterState counter_state_{};
  simgpu::SensorState reading_state_{};
  double fed_ = 0;
  double began_ = 0;
  double busy_until_ = 0;

 public:
  simgpu::Counter counter;
  simgpu::Sensor reading;
};

class SyntheticBatch final : public Batch {
 public:
  SyntheticBatch(VirtualClock& clock, SyntheticBoard& board, double launch_seconds, unsigned launches)
      : clock_(clock), board_(board), seconds_(launch_seconds * launches), launches_(launches) {}
  [[nodiscard]] unsigned launches() const noexcept override { return launches_; }
  std::optional<Failure> enqueue() override {
    board_.run(seconds_);
    ends_.push_back(board_.busy_until());
    return std::nullopt;
  }
  [[nodiscard]] unsigned outstanding() const noexcept override { return static_cast<unsigned>(ends_.size()); }
  tl::expected<std::optional<double>, Failure> poll() override {
    if (ends_.empty() || ends_.front() > clock_.now()) return std::optional<double>();
    ends_.pop_front();
    return std::optional<double>(seconds_);
  }
  tl::expected<double, Failure> wait() override {
    clock_.sleep_until(ends_.front());
    ends_.pop_front();
    return seconds_;
  }

 private:
  VirtualClock& clock_;
  SyntheticBoard& board_;
  double seconds_;
  unsigned launches_;
  std::deque<double> ends_;
};

class SyntheticMeter final : public PowerMeter {
 public:
  SyntheticMeter(VirtualClock& clock, SyntheticBoard& board, bool has_counter)
      : clock_(clock), board_(board), has_counter_(has_counter) {}
  [[nodiscard]] std::string name() const override { return "synthetic"; }
  std::optional<double> energy_joules() override {
    if (!has_counter_) return std::nullopt;
    // As an H200 answers: 2.9 ms, seldom far more.
    constexpr double slow = 0.017;
    constexpr double usual = 0.0029;
    ++calls_;
    clock_.pass(0.5 * usual);
    board_.feed();
    const double joules = board_.counter.joules();
    clock_.pass(calls_ % 101 == 0 ? slow : 0.5 * usual);
    return joules;
  }
  std::optional<double> power_watts() override {
    clock_.pass(4e-6);
    board_.feed();
    return board_.reading.reading();
  }
  std::optional<double> sm_clock_hz() override { return std::nullopt; }
  std::optional<double> memory_clock_hz() override { return std::nullopt; }
  std::optional<double> temperature_celsius() override { return std::nullopt; }
  std::vector<std::string> throttle_reasons() override { return {}; }

 private:
  VirtualClock& clock_;
  SyntheticBoard& board_;
  bool has_counter_;
  unsigned calls_ = 0;
};

}  // namespace wattune
