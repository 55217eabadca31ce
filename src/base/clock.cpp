#include "base/clock.hpp"

#include <fmt/format.h>

#include <ctime>
#include <thread>

namespace wattune {

namespace {

class RealClock final : public Clock {
 public:
  double now() override { return monotonic_seconds(); }
  void sleep_until(double seconds) override {
    const double left = seconds - now();
    if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

std::string utc_timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec / 1000000);
}

}  // namespace wattune
