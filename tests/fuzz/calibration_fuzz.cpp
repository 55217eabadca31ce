// A file of a calibration: it is refused, or read and written the same, and a model is fitted to it or refused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "model/calibration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wattune;
  const auto text = nlohmann::json::parse(data, data + size, nullptr, false);
  if (text.is_discarded()) return 0;
  try {
    const Calibration calibration = calibration_from_json(text);
    const auto again = to_json(calibration);
    if (to_json(calibration_from_json(again)) != again) std::abort();
    static_cast<void>(calibration.reachable_clocks());
    static_cast<void>(calibration.fit());
  } catch (const UsageError&) {
  }
  return 0;
}
