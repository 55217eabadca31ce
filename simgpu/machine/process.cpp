#include "machine/process.hpp"

#include <cstdio>
#include <cstring>
#include <ctime>

namespace wattune::simgpu {

std::optional<std::uint64_t> process_start_time(std::int32_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return std::nullopt;
  char text[1024];
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  // The name, in brackets, may itself hold brackets and spaces.
  const char* rest = std::strrchr(text, ')');
  char status = 0;
  unsigned long long start = 0;
  if (rest == nullptr ||
      std::sscanf(rest, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &status,
                  &start) != 2) {
    return std::nullopt;
  }
  if (status == 'Z' || status == 'X') return std::nullopt;
  return start;
}

double monotonic_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void real_sleep(double seconds) {
  if (!(seconds > 0)) return;
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  ::nanosleep(&time, nullptr);
}

}  // namespace wattune::simgpu
