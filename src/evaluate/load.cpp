#include "evaluate/load.hpp"

namespace wattune {

std::optional<Failure> Load::keep_busy() {
  while (batch_.outstanding() > 0) {
    const auto seconds = batch_.poll();
    if (!seconds) return seconds.error();
    if (!*seconds) break;
  }
  constexpr unsigned queued = 2;
  while (batch_.outstanding() < queued) {
    if (auto failure = batch_.enqueue()) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> Load::drain() {
  while (batch_.outstanding() > 0) {
    const auto seconds = batch_.wait();
    if (!seconds) return seconds.error();
  }
  return std::nullopt;
}

}  // namespace wattune
