#pragma once
// A load of our own that is switched on and off, to see what sensors make of it.

#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"
#include "sensor/load_trace.hpp"

namespace wattune {

/// A compute kernel that runs for as long as it is told, in pieces short enough to end within a millisecond or so. No
/// setting of the device is touched. One thread uses it.
class SwitchedLoad {
 public:
  /// Compiles and loads the kernel, finds out how long it takes, and warms it up.
  /// @param device for which there is a kernel: of a backend whose language is CUDA or OpenCL
  /// @throws DeviceError where the kernel cannot be compiled or does not run.
  SwitchedLoad(Device& device, Compiler& compiler, const std::string& language, Clock& clock);
  ~SwitchedLoad();

  /// Halves the share of the device that works, for a load that hits the power cap is not steady.
  /// @return false where it can be no smaller. @pre nothing is running
  bool shrink();

  /// Queues work for so long, to begin now. @pre nothing is running
  void switch_on(double seconds);
  /// Whether work is still running; to be called often, for a burst's end is when this first says no.
  bool running();
  /// Waits for the end.
  void finish();
  /// All bursts so far; without the one that is running.
  [[nodiscard]] const std::vector<Burst>& bursts() const noexcept { return bursts_; }
  /// The shortest burst, s.
  [[nodiscard]] double shortest() const noexcept;

 private:
  struct Piece {
    std::unique_ptr<Batch> batch;
    double seconds = 0;
  };
  void prepare();
  void find_rounds();
  Piece make_piece(unsigned launches);
  void take(Piece& piece);
  void note_end();

  Device& device_;
  Clock& clock_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> out_;
  Launch launch_;
  std::uint64_t blocks_;
  unsigned rounds_ = 1;
  Piece short_;
  Piece long_;
  bool on_ = false;
  double began_ = 0;
  double device_seconds_ = 0;  ///< of what has run of this burst
  double asked_ = 0;           ///< when it was last asked, and still ran
  std::vector<Burst> bursts_;
};

}  // namespace wattune
