#pragma once
// A simulated board: physics and sensors in device time. Knows neither CUDA nor NVML.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "board/description.hpp"
#include "board/physics.hpp"
#include "board/sensor.hpp"
#include "board/work.hpp"

namespace wattune::simgpu {

/// NVML's bits of what holds a clock back.
namespace throttle {
constexpr std::uint64_t idle = 0x1;
constexpr std::uint64_t application_clocks = 0x2;
constexpr std::uint64_t power_cap = 0x4;
constexpr std::uint64_t hardware_slowdown = 0x8;
constexpr std::uint64_t sync_boost = 0x10;
constexpr std::uint64_t software_thermal = 0x20;
constexpr std::uint64_t hardware_thermal = 0x40;
constexpr std::uint64_t power_brake = 0x80;
}  // namespace throttle

/// A range that clocks are locked to; high 0: not locked.
struct ClockRange {
  double low;
  double high;
};

/// All that changes. Plain data without pointers: it lies in memory that processes share. Zeroed bytes are not a valid
/// state: Board::reset() makes one.
struct BoardState {
  double now;  ///< device time, s
  std::uint64_t seed;

  // Settings.
  ClockRange sm_lock;
  ClockRange memory_lock;
  double application_sm_clock;      ///< Hz; 0: none set
  double application_memory_clock;  ///< Hz; 0: none set
  double power_limit;               ///< W
  unsigned contexts;
  std::uint32_t clock_stuck;  ///< not 0: the clock ignores settings
  Work foreign;               ///< per second

  // The clock and what steers it.
  double sm_clock;        ///< Hz
  double memory_clock;    ///< Hz
  double settled_at;      ///< s; settings do not move the clock before
  double next_control;    ///< s
  double next_thermal;    ///< s; heat moves the clock no earlier
  double busy_at;         ///< s, when the board last computed
  double filtered_power;  ///< W, power as the control sees it
  unsigned calm_steps;    ///< control steps since power was last too high
  unsigned allowed;       ///< index of the highest SM clock that power cap and heat allow
  std::uint64_t held_by;  ///< reasons for `allowed` to be low
  std::uint64_t reasons;
  double reason_seconds[8];  ///< by bit

  // Heat: above ambient, of the two stages.
  double die_kelvin;
  double cooler_kelvin;

  // Power and meters.
  double power;   ///< W, true, of the last moment
  double energy;  ///< J, true, since reset
  double gain;    ///< of the meters
  CounterState counter;
  SensorState average;
  SensorState instant;
  SensorState samples;
};
static_assert(std::is_trivially_copyable_v<BoardState> && std::is_standard_layout_v<BoardState>);

/// Operations on a state that some lock protects. Cheap to make.
class Board {
 public:
  Board(const Description& description, BoardState& state) : description_(description), state_(state) {}

  /// Cold, idle, default settings, counters at some value that is not zero.
  void reset(std::uint64_t seed);

  [[nodiscard]] double now() const { return state_.now; }
  /// Nothing runs until then. A time that has passed changes nothing.
  void idle_until(double time);
  /// Runs `launches` (a fraction of one may remain) of the work, one after the other, until they are done or it is
  /// `until`. @return the launches that remain: 0 where all are done, and now() is then the moment of completion.
  double run(const Work& work, double launches, double until);
  /// Contexts held on the board (power of an idle board depends on it).
  void set_contexts(unsigned count);
  /// Load of others: added activity at all times. It takes its share of the time of what runs here.
  void set_foreign_load(const Work& work_per_second);
  /// The clock stays where it is, whatever is set: a fault.
  void set_clock_stuck(bool stuck);

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
  [[nodiscard]] double temperature() const;              ///< degC
  [[nodiscard]] std::uint64_t throttle_reasons() const;  ///< NVML's bits
  [[nodiscard]] std::uint64_t throttle_nanoseconds(std::uint64_t reason) const;
  [[nodiscard]] double meter_gain() const;  ///< what this board's meters say over what is true
  /// Whether anything, ours or others', computed in the last moments.
  [[nodiscard]] bool busy() const;

  // What sensors say, at now().
  [[nodiscard]] double counter_joules() const;
  [[nodiscard]] double average_power() const;
  [[nodiscard]] double instant_power() const;
  using Sample = PowerSample;
  [[nodiscard]] std::vector<Sample> sample_buffer(double after) const;  ///< oldest first

 private:
  /// What the board does between two moments at which anything changes.
  struct Demand {
    bool computing;
    double launch_seconds;
    double watts;
  };
  void settings_changed();
  [[nodiscard]] bool stays_awake() const;
  [[nodiscard]] double wanted_clock(bool computing) const;
  [[nodiscard]] double wanted_memory_clock(bool computing) const;
  [[nodiscard]] bool needs_control(const Demand& demand) const;
  void control(bool computing);
  void limit_clock();
  void limit_by_heat();
  void move_clocks(bool computing);
  void set_reasons(bool computing);
  [[nodiscard]] Demand demand_now(const Work* work) const;
  [[nodiscard]] double thermal_step(double watts) const;
  void pass(double time, double watts);
  double advance(const Work* work, double launches, double until);

  const Description& description_;
  BoardState& state_;
};

}  // namespace wattune::simgpu
