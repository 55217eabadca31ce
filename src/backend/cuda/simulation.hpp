#pragma once
// Simulated GPUs: the library that stands in for NVIDIA's, and the few functions that it has beyond theirs. All else of
// it is used through the same tables as the real ones.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "driver/library.hpp"

namespace wattune {

/// What the names of simulated devices begin with: "sim:h200".
inline constexpr const char* simulated_prefix = "sim:";

/// The library: WATTUNE_SIMGPU, else libwattune_simgpu.so in lib/wattune beside this program's folder, where both the
/// build and the installed tree have it. @throws DeviceError that names the places.
std::string simulation_library();

/// The functions beyond NVIDIA's of a loaded library.
class Simulation {
 public:
  /// Loads the library. @throws DeviceError where it is not there; UsageError where the variables that describe the
  /// simulated machine (WATTUNE_SIM_...) are faulty.
  static std::shared_ptr<const Simulation> load();
  /// Null where the library is a real one. @throws UsageError as load().
  static std::shared_ptr<const Simulation> of(const SharedLibrary& library);

  /// Names of the boards, as in sim:NAME.
  [[nodiscard]] std::vector<std::string> board_names() const;
  /// The board of a device of the CUDA driver. @throws DeviceError where it has gone.
  [[nodiscard]] unsigned board_of(int cuda_ordinal) const;
  [[nodiscard]] std::string board_name(unsigned board) const;
  /// What each of the next launches computes (FLOP) and moves (bytes); 0: unknown.
  void expect(double flop, double bytes) const;
  /// Device time of a board. Lives no longer than this.
  [[nodiscard]] std::unique_ptr<Clock> clock(unsigned board) const;

 private:
  explicit Simulation(SharedLibrary library);

  SharedLibrary library_;
  int (*check_)(char* message, unsigned length) = nullptr;
  int (*board_name_)(unsigned board, char* name, unsigned length) = nullptr;
  int (*board_of_)(int cuda_device) = nullptr;
  void (*workload_)(double flop, double bytes) = nullptr;
  double (*now_)(unsigned board) = nullptr;
  void (*sleep_until_)(unsigned board, double seconds) = nullptr;
};

}  // namespace wattune
