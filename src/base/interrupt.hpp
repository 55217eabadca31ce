#pragma once
// Ctrl-C and polite termination: handlers that only note the signal, and a descriptor to poll.

namespace wattune {

/// While one lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending the program; a second SIGINT ends it at
/// once. One at a time in a process.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The signal that came; 0 while none has.
  [[nodiscard]] int signal() const noexcept;
  /// Becomes readable when a signal has come, and stays so.
  [[nodiscard]] int fd() const noexcept;
};

}  // namespace wattune
