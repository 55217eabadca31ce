#pragma once
// A simulated board: physics and sensors in device time. Knows neither CUDA nor NVML.

#include <cstdint>
#include <vector>

#include "board/description.hpp"

namespace wattune::simgpu {

/// What one launch of a kernel demands, whatever the clocks are.
struct Work {
  double sm_cycles = 0;        ///< SM clock cycles it takes where memory never holds it up
  double memory_seconds = 0;   ///< time that memory takes at its highest clock where the SMs never hold it up
  double core_activity = 0;    ///< switching activity while computing; 1: the synthetic chain of fused multiply-adds
  double memory_activity = 0;  ///< of memory while it is the limit; 1: a copy kernel on all SMs
  double fixed_seconds = 0;    ///< of launching, and of hanging kernels: passes at any clock, at little activity
};

/// All that changes. Plain data without pointers: it lies in memory that processes share. Zeroed bytes are not a valid
/// state: Board::reset() makes one.
struct BoardState {
  double now;  ///< device time, s
  // ... settings, thermal state, sensor state, counters
};

/// Operations on a state that some lock protects. Cheap to make.
class Board {
 public:
  Board(const Description& description, BoardState& state);

  /// Cold, idle, default settings, counters at some value that is not zero.
  void reset(std::uint64_t seed);

  [[nodiscard]] double now() const;
  /// Nothing runs until then.
  void idle_until(double time);
  /// Runs `launches` (a fraction of one may remain) of the work, one after the other, until they are done or it is
  /// `until`. @return the launches that remain: 0 where all are done, and now() is then the moment of completion.
  double run(const Work& work, double launches, double until);
  /// Contexts held on the board (power of an idle board depends on it).
  void set_contexts(unsigned count);
  /// Load of others: added activity at all times.
  void set_foreign_load(const Work& work_per_second);

  // Settings. The caller has checked permission; values must be supported ones.
  void lock_sm_clock(double low_hz, double high_hz);
  void reset_sm_clock();
  void lock_memory_clock(double low_hz, double high_hz);
  void reset_memory_clock();
  void set_application_clocks(double memory_hz, double sm_hz);
  void reset_application_clocks();
  void set_power_limit(double watts);

  // True values.
  [[nodiscard]] double true_power() const;   ///< W, now
  [[nodiscard]] double true_energy() const;  ///< J, since reset
  [[nodiscard]] double sm_clock() const;     ///< Hz, actual
  [[nodiscard]] double memory_clock() const;
  [[nodiscard]] double voltage() const;
  [[nodiscard]] double temperature() const;  ///< degC
  [[nodiscard]] std::uint64_t throttle_reasons() const;                   ///< NVML's bits
  [[nodiscard]] std::uint64_t throttle_nanoseconds(std::uint64_t reason) const;

  // What sensors say, at now().
  [[nodiscard]] double counter_joules() const;
  [[nodiscard]] double average_power() const;
  [[nodiscard]] double instant_power() const;
  struct Sample {
    double time;
    double watts;
  };
  [[nodiscard]] std::vector<Sample> sample_buffer(double after) const;  ///< oldest first
};

}  // namespace wattune::simgpu
