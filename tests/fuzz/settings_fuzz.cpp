// What a client may send to the settings server: nothing makes it crash, and what it accepts comes back as it was.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "settings/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wattune;
  FrameReader reader(most_request_bytes);
  // The first byte says in what pieces the rest arrives.
  const std::size_t piece = size > 0 ? std::size_t{1} + data[0] : 1;
  try {
    for (std::size_t begin = 1; begin < size; begin += piece) {
      reader.add({reinterpret_cast<const char*>(data) + begin, std::min(piece, size - begin)});
      while (const auto message = reader.take()) {
        const SettingsRequest request = parse_settings_request(*message);
        const auto again = nlohmann::json::to_cbor(to_json(request));
        const auto back = parse_settings_request({reinterpret_cast<const char*>(again.data()), again.size()});
        if (to_json(back) != to_json(request)) std::abort();
      }
    }
  } catch (const UsageError&) {
  }
  return 0;
}
