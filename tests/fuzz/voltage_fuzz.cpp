// What a command prints as a GPU's voltage, what zeusd answers, and how commands are cut into words.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "settings/command.hpp"
#include "settings/http.hpp"
#include "settings/voltage.hpp"

namespace {

template <typename Parse>
void tolerate(const Parse& parse) {
  try {
    parse();
  } catch (const wattune::UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wattune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tolerate([&] {
    const auto volts = parse_voltage(text);
    if (volts && !(*volts > 0 && *volts <= 5)) std::abort();
  });
  tolerate([&] {
    const auto early = parse_http_reply(text, false);
    const auto late = parse_http_reply(text, true);
    if (early && early->body != late->body) std::abort();
  });
  tolerate([&] {
    if (split_command(std::string(text), "--command").empty()) std::abort();
  });
  return 0;
}
