#include "base/interrupt.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>

namespace wattune {

namespace {

std::atomic<int> noted_signal{0};
int pipe_fds[2] = {-1, -1};
struct sigaction previous[3];
constexpr int handled[3] = {SIGINT, SIGTERM, SIGHUP};

void note(int signal_number) {
  const int saved_errno = errno;
  if (noted_signal.exchange(signal_number) == SIGINT && signal_number == SIGINT) ::_exit(130);
  const char byte = 0;
  [[maybe_unused]] const auto n = ::write(pipe_fds[1], &byte, 1);
  errno = saved_errno;
}

}  // namespace

Interrupt::Interrupt() {
  if (pipe_fds[0] >= 0) throw std::logic_error("Interrupt: one at a time");
  if (::pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("cannot make a pipe for signals");
  noted_signal = 0;
  struct sigaction action {};
  action.sa_handler = note;
  ::sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i) ::sigaction(handled[i], &action, &previous[i]);
}

Interrupt::~Interrupt() {
  for (int i = 0; i < 3; ++i) ::sigaction(handled[i], &previous[i], nullptr);
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
  pipe_fds[0] = pipe_fds[1] = -1;
}

int Interrupt::signal() const noexcept {
  return noted_signal;
}

int Interrupt::fd() const noexcept {
  return pipe_fds[0];
}

}  // namespace wattune
