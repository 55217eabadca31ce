#include "cuda/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>

#include "base/error.hpp"
#include "store/formats/results.hpp"

namespace wattune::simgpu {

namespace {

constexpr const char* variable = "WATTUNE_SIM_RECORDED";
/// The parameters that a launch tells by its shape.
constexpr const char* block_sizes[] = {"block_size_x", "block_size_y", "block_size_z"};

bool is_setting(const std::string& name) {
  return name == "nvml_gr_clock" || name == "nvml_mem_clock" || name == "nvml_pwr_limit";
}

bool is_block_size(const std::string& name) {
  return std::find(std::begin(block_sizes), std::end(block_sizes), name) != std::end(block_sizes);
}

double number_of(const Value& value) {
  return value.is_number() ? value.as_double() : std::numeric_limits<double>::quiet_NaN();
}

/// The name under which a quantity is recorded; empty where it is not.
std::string recorded_name(const Results& results, const char* quantity) {
  try {
    return quantity_named(results, quantity);
  } catch (const UsageError&) {
    return {};
  }
}

/// 0 where it was not recorded.
double value_in(const Evaluation& evaluation, const std::string& name) {
  const auto found = evaluation.quantities.find(name);
  return found != evaluation.quantities.end() && std::isfinite(found->second.value) ? found->second.value : 0;
}

struct Names {
  std::string time, power, energy, sm_clock;
};

Record record_of(const Evaluation& evaluation, const Names& names, const std::vector<std::string>& parameters) {
  Record record{value_in(evaluation, names.time), value_in(evaluation, names.power),
                value_in(evaluation, names.sm_clock)};
  const double joules = value_in(evaluation, names.energy);
  if (record.watts <= 0 && record.seconds > 0) record.watts = joules / record.seconds;
  // What was measured says more than what was set.
  for (std::size_t i = 0; i < parameters.size() && record.sm_clock <= 0; ++i) {
    const double megahertz = parameters[i] == "nvml_gr_clock" ? number_of(evaluation.configuration[i]) : 0;
    if (megahertz > 0) record.sm_clock = megahertz * 1e6;
  }
  return record;
}

}  // namespace

const RecordedKernel* RecordedKernel::instance() {
  static const std::unique_ptr<const RecordedKernel> kernel = [] {
    const char* file = std::getenv(variable);
    return file == nullptr || *file == '\0' ? nullptr : std::make_unique<const RecordedKernel>(file);
  }();
  return kernel.get();
}

RecordedKernel::RecordedKernel(const std::filesystem::path& file) {
  std::optional<Results> read;
  try {
    read = read_results(file);
  } catch (const Error& error) {
    throw std::invalid_argument(fmt::format("{}: {}", variable, error.what()));
  }
  const Results& results = *read;
  const auto& parameters = results.header.parameter_names;
  const Names names{recorded_name(results, "time"), recorded_name(results, "power"), recorded_name(results, "energy"),
                    recorded_name(results, "sm_clock")};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (is_setting(parameters[i])) continue;
    kept.push_back(i);
    names_.push_back(parameters[i]);
  }
  for (const auto& evaluation : results.evaluations) {
    Row row{{}, false, record_of(evaluation, names, parameters)};
    for (const std::size_t i : kept) row.values.push_back(number_of(evaluation.configuration[i]));
    row.ok = evaluation.ok() && row.record.seconds > 0;
    rows_.push_back(std::move(row));
  }
  if (std::none_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.ok; })) {
    throw std::invalid_argument(
        fmt::format("{}: '{}' has no configuration with a time; name a file of results", variable, file.string()));
  }
}

std::vector<RecordedKernel::Told> RecordedKernel::told_by(const Variant& variant) const {
  std::vector<Told> told;
  for (const auto& define : variant.defines) {
    const auto found = std::find(names_.begin(), names_.end(), define.name);
    if (found != names_.end()) told.push_back({static_cast<std::size_t>(found - names_.begin()), define.value});
  }
  return told;
}

bool RecordedKernel::is_of(const Variant& variant) const {
  return !told_by(variant).empty() || std::all_of(names_.begin(), names_.end(), is_block_size);
}

RecordedKernel::Answer RecordedKernel::find(const Variant& variant, const std::array<unsigned, 3>& block) const {
  auto told = told_by(variant);
  const bool by_defines = !told.empty();
  if (!is_of(variant)) return {Answer::Kind::another_kernel, {}};
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    const auto found = std::find(names_.begin(), names_.end(), block_sizes[axis]);
    if (found == names_.end()) continue;
    const auto parameter = static_cast<std::size_t>(found - names_.begin());
    // A define says what is meant; kernels may be launched with other blocks than that.
    const bool known =
        std::any_of(told.begin(), told.end(), [&](const Told& each) { return each.parameter == parameter; });
    if (!known) told.push_back({parameter, static_cast<double>(block[axis])});
  }
  // Without defines there is no telling the reference from what is tuned.
  Answer answer{by_defines ? Answer::Kind::missing : Answer::Kind::another_kernel, {}};
  for (const Row& row : rows_) {
    const bool agrees = std::all_of(told.begin(), told.end(), [&](const Told& each) {
      return std::isnan(row.values[each.parameter]) || row.values[each.parameter] == each.value;
    });
    if (!agrees) continue;
    if (row.ok) {
      answer.kind = Answer::Kind::found;
      answer.records.push_back(row.record);
    } else if (answer.kind != Answer::Kind::found) {
      answer.kind = Answer::Kind::failed;
    }
  }
  return answer;
}

}  // namespace wattune::simgpu
