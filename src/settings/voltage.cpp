#include "settings/voltage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "driver/library.hpp"

namespace wattune {

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const auto begin = text.find_first_not_of(white);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

/// What stands behind "Graphics :" in each line that begins so.
std::vector<std::string_view> graphics_values(std::string_view text) {
  std::vector<std::string_view> values;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == "Graphics") {
      values.push_back(trim(line.substr(colon + 1)));
    }
  }
  return values;
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string line(text.substr(0, std::min(text.find('\n'), longest)));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return line;
}

}  // namespace

std::optional<double> parse_voltage(std::string_view text) {
  const auto values = graphics_values(text);
  if (values.size() > 1) throw UsageError("it tells the voltage of several boards; name one with {uuid}");
  const std::string_view value = values.empty() ? trim(text) : values.front();
  if (value == "N/A" || value == "[N/A]" || value == "Not Supported" || value == "[Not Supported]") return std::nullopt;
  const std::string number(value.substr(0, std::min(value.find_first_not_of("0123456789."), value.size())));
  const std::string_view unit = trim(value.substr(number.size()));
  char* end = nullptr;
  const double amount = std::strtod(number.c_str(), &end);
  const bool is_number = !number.empty() && *end == '\0' && std::isfinite(amount);
  if (!is_number || (unit != "mV" && unit != "V")) {
    throw UsageError(fmt::format("'{}' is no voltage in mV or V", shown(value)));
  }
  const double volts = unit == "mV" ? amount * 1e-3 : amount;
  constexpr double most = 5;
  if (!(volts > 0) || volts > most) throw UsageError(fmt::format("'{}' is no GPU's voltage", shown(value)));
  return volts;
}

std::string default_voltage_command(bool simulated) {
  namespace fs = std::filesystem;
  constexpr const char* query = " -q -d VOLTAGE -i {uuid}";
  if (simulated) {
    const fs::path program = fs::path(own_executable()).parent_path() / "wattune-simulated-smi";
    return ::access(program.c_str(), X_OK) == 0 ? "'" + program.string() + "'" + query : "";
  }
  std::string path = environment("PATH");
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    if (::access((fs::path(path.substr(0, end)) / "nvidia-smi").c_str(), X_OK) == 0) {
      return std::string("nvidia-smi") + query;
    }
    path.erase(0, end + 1);
  }
  return {};
}

}  // namespace wattune
