// A file of a sensor profile: it is refused, or read and written the same, and can be told in words.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "sensor/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wattune;
  const auto text = nlohmann::json::parse(data, data + size, nullptr, false);
  if (text.is_discarded()) return 0;
  try {
    const SensorProfile profile = sensor_profile_from_json(text);
    in_words(profile);
    const auto again = to_json(profile);
    if (to_json(sensor_profile_from_json(again)) != again) std::abort();
  } catch (const UsageError&) {
  }
  return 0;
}
