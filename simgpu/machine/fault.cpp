#include "machine/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "board/description.hpp"
#include "driver/cuda_driver.hpp"
#include "driver/nvml.hpp"

namespace wattune::simgpu {

namespace {

/// What may be written after the = of a point.
enum class Actions { cuda, compile, nvml, counter, readings, lock, identity, clocks, load, restriction };

struct Point {
  const char* name;
  Actions actions;
};

constexpr Point points[] = {
    {"init", Actions::cuda},
    {"context", Actions::cuda},
    {"allocate", Actions::cuda},
    {"load", Actions::cuda},
    {"launch", Actions::cuda},
    {"copy", Actions::cuda},
    {"compile", Actions::compile},
    {"energy_counter", Actions::counter},
    {"power_sensor", Actions::readings},
    {"clock_lock", Actions::lock},
    {"cuda_uuid", Actions::identity},
    {"nvml_uuid", Actions::identity},
    {"cuda_pci", Actions::identity},
    {"foreign_lock", Actions::clocks},
    {"foreign_load", Actions::load},
    {"application_clocks", Actions::restriction},
};

/// Calls of NVML, as nvml.NAME.
constexpr const char* calls[] = {
    "init",
    "by_uuid",
    "by_pci",
    "uuid",
    "total_energy",
    "power_usage",
    "clock_info",
    "temperature",
    "reasons",
    "field_values",
    "samples",
    "processes",
    "power_limit",
    "supported_clocks",
    "api_restriction",
    "set_sm_clock",
    "reset_sm_clock",
    "set_memory_clock",
    "reset_memory_clock",
    "set_application_clocks",
    "reset_application_clocks",
    "set_power_limit",
};

struct NamedResult {
  const char* name;
  int result;
};

constexpr int value_of(CudaResult result) {
  return static_cast<int>(result);
}
constexpr int value_of(NvmlResult result) {
  return static_cast<int>(result);
}

constexpr NamedResult cuda_results[] = {
    {"illegal_address", value_of(CudaResult::illegal_address)},
    {"misaligned_address", value_of(CudaResult::misaligned_address)},
    {"illegal_instruction", value_of(CudaResult::illegal_instruction)},
    {"launch_failed", value_of(CudaResult::launch_failed)},
    {"launch_timeout", value_of(CudaResult::launch_timeout)},
    {"out_of_resources", value_of(CudaResult::launch_out_of_resources)},
    {"out_of_memory", value_of(CudaResult::out_of_memory)},
    {"ecc_uncorrectable", value_of(CudaResult::ecc_uncorrectable)},
    {"invalid_image", value_of(CudaResult::invalid_image)},
    {"invalid_value", value_of(CudaResult::invalid_value)},
    {"no_device", value_of(CudaResult::no_device)},
    {"device_unavailable", value_of(CudaResult::device_unavailable)},
    {"unknown", value_of(CudaResult::unknown)},
};

constexpr NamedResult nvml_results[] = {
    {"uninitialized", value_of(NvmlResult::uninitialized)},
    {"invalid_argument", value_of(NvmlResult::invalid_argument)},
    {"not_supported", value_of(NvmlResult::not_supported)},
    {"no_permission", value_of(NvmlResult::no_permission)},
    {"not_found", value_of(NvmlResult::not_found)},
    {"driver_not_loaded", value_of(NvmlResult::driver_not_loaded)},
    {"gpu_is_lost", value_of(NvmlResult::gpu_is_lost)},
    {"reset_required", value_of(NvmlResult::reset_required)},
    {"unknown", value_of(NvmlResult::unknown)},
};

struct NamedAction {
  const char* name;
  Action action;
};

std::vector<NamedAction> named_actions(Actions actions) {
  switch (actions) {
    case Actions::cuda:
      return {{"hang", Action::hang}, {"crash", Action::crash}, {"lost", Action::lost}};
    case Actions::compile:
      return {{"error", Action::compile_error}, {"hang", Action::hang}, {"crash", Action::crash}};
    case Actions::nvml:
      return {{"hang", Action::hang}, {"slow", Action::slow}, {"crash", Action::crash}, {"lost", Action::lost}};
    case Actions::counter:
      return {{"still", Action::still}, {"back", Action::back}, {"wrap", Action::wrap}};
    case Actions::readings:
      return {{"stale", Action::stale}};
    case Actions::lock:
      return {{"ignored", Action::ignored}};
    case Actions::identity:
      return {{"wrong", Action::wrong}};
    case Actions::restriction:
      return {{"unrestricted", Action::unrestricted}};
    case Actions::clocks:
    case Actions::load:
      break;
  }
  return {};
}

std::vector<std::string> action_names(Actions actions) {
  std::vector<std::string> names;
  for (const auto& action : named_actions(actions)) names.emplace_back(action.name);
  if (actions == Actions::cuda) {
    for (const auto& result : cuda_results) names.emplace_back(result.name);
  }
  if (actions == Actions::nvml) {
    for (const auto& result : nvml_results) names.emplace_back(result.name);
  }
  if (actions == Actions::clocks) names.emplace_back("a clock in MHz");
  if (actions == Actions::load) names.emplace_back("a share from 0 to 1");
  return names;
}

[[noreturn]] void refuse(std::string_view part, const std::string& what) {
  throw std::invalid_argument(
      fmt::format("WATTUNE_SIM_FAULTS: '{}': {}; faults are written POINT[:N][@BOARD]=ACTION; ..., for example "
                  "launch:3=illegal_address",
                  part, what));
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

template <std::size_t size>
void store(std::array<char, size>& target, std::string_view text) {
  target = {};
  std::memcpy(target.data(), text.data(), std::min(text.size(), size - 1));
}

Actions actions_of(std::string_view part, std::string_view name) {
  for (const auto& point : points) {
    if (name == point.name) return point.actions;
  }
  std::vector<std::string> known;
  for (const auto& point : points) known.emplace_back(point.name);
  for (const char* call : calls) known.push_back(fmt::format("nvml.{}", call));
  if (std::find(known.begin(), known.end(), name) != known.end()) return Actions::nvml;
  refuse(part, fmt::format("there is no point '{}'; there are: {}", name, fmt::join(known, ", ")));
}

/// "3", "3+", "3-7".
void read_times(std::string_view part, std::string_view text, Fault& fault) {
  const bool onwards = text.ends_with('+');
  const std::size_t dash = text.find('-');
  const auto first = number<std::uint64_t>(onwards ? text.substr(0, text.size() - 1) : text.substr(0, dash));
  const auto last = dash == std::string_view::npos || onwards ? first : number<std::uint64_t>(text.substr(dash + 1));
  if (!first || !last || *first == 0 || *last < *first) {
    refuse(part, fmt::format("'{}' is no number of a call; write 3, 3-5 or 3+ (from the third on)", text));
  }
  fault.first = *first;
  fault.last = onwards ? UINT64_MAX : *last;
}

void read_action(std::string_view part, std::string_view text, Actions actions, Fault& fault) {
  if (actions == Actions::clocks || actions == Actions::load) {
    const auto value = number<double>(text);
    const double most = actions == Actions::load ? 1 : 1e5;
    if (value && *value > 0 && *value <= most) {
      fault.action = Action::value;
      fault.value = *value;
      return;
    }
  }
  for (const auto& known : named_actions(actions)) {
    if (text != known.name) continue;
    fault.action = known.action;
    return;
  }
  fault.action = Action::result;
  const auto take = [&](const auto& results) {
    for (const NamedResult& known : results) {
      if (text != known.name) continue;
      fault.result = known.result;
      return true;
    }
    return false;
  };
  if (actions == Actions::cuda && take(cuda_results)) return;
  if (actions == Actions::nvml && take(nvml_results)) return;
  refuse(part, fmt::format("'{}' is nothing that can happen there; there are: {}", text,
                           fmt::join(action_names(actions), ", ")));
}

void check_board(std::string_view part, std::string_view name) {
  if (find_description(std::string(name.substr(0, name.find(':')))) != nullptr) return;
  std::vector<std::string> known;
  for (const auto& description : descriptions()) known.push_back(description.id);
  refuse(part, fmt::format("there is no simulated GPU '{}'; there are: {}", name, fmt::join(known, ", ")));
}

Fault parse_fault(std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) refuse(part, "there is no = in it");
  std::string_view left = trimmed(part.substr(0, equals));
  Fault fault{};
  fault.first = fault.last = 1;
  if (const std::size_t at = left.find('@'); at != std::string_view::npos) {
    const std::string_view board = trimmed(left.substr(at + 1));
    check_board(part, board);
    store(fault.board, board);
    left = trimmed(left.substr(0, at));
  }
  const std::size_t colon = left.find(':');
  const bool timed = colon != std::string_view::npos;
  if (timed) {
    read_times(part, trimmed(left.substr(colon + 1)), fault);
    left = trimmed(left.substr(0, colon));
  }
  const Actions actions = actions_of(part, left);
  store(fault.point, left);
  // Who a board says it is stays the same, however often it is asked.
  if (actions == Actions::identity && !timed) fault.last = UINT64_MAX;
  read_action(part, trimmed(part.substr(equals + 1)), actions, fault);
  return fault;
}

}  // namespace

std::vector<Fault> parse_faults(std::string_view text) {
  std::vector<Fault> faults;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string_view part = trimmed(text.substr(begin, end - begin));
    if (!part.empty()) faults.push_back(parse_fault(part));
    begin = end + 1;
  }
  return faults;
}

}  // namespace wattune::simgpu
