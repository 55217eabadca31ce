#include "method/model_steered.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "model/clock_choice.hpp"
#include "model/power_fit.hpp"
#include "settings/device_settings.hpp"

namespace wattune {

namespace {

constexpr std::size_t probed_variants = 6;
constexpr std::size_t fewest_probed = 3;
/// Of the variant that the model is made from, the maximum among them.
constexpr std::size_t modelled_clocks = 10;
constexpr double hz_per_mhz = 1e6;

class ModelSteered : public StagedMethod {
 public:
  ModelSteered(MethodInputs inputs, std::size_t clock_axis)
      : StagedMethod(std::move(inputs), true), axes_(inputs_.axes), clock_axis_(clock_axis) {}

 private:
  enum class Step { begin, probe, clocks, search };

  std::shared_ptr<Stage> next_stage() override {
    switch (step_) {
      case Step::begin:
        step_ = Step::probe;
        if (axes_.values(clock_axis_).size() > least_clocks(PowerForm::free, false)) return probe();
        [[fallthrough]];
      case Step::probe:
        step_ = Step::clocks;
        if (auto stage = more_clocks()) return stage;
        [[fallthrough]];
      case Step::clocks:
        step_ = Step::search;
        return recommended();
      case Step::search:
        return nullptr;
    }
    return nullptr;
  }

  std::shared_ptr<Stage> probe() const {
    const auto budget = left();
    const std::size_t count =
        budget ? std::clamp(static_cast<std::size_t>(std::max(0.0, *budget) / 15), fewest_probed, probed_variants)
               : probed_variants;
    const auto maximum = Subspace::at_settings(inputs_.space, axes_, {top()});
    std::vector<Point> points;
    for (const Count index : maximum.space().latin_hypercube_sample(count, inputs_.seed)) {
      points.push_back(maximum.to_whole(maximum.space().point(index)));
    }
    return std::make_shared<ListStage>(std::move(points));
  }

  /// The variant of highest power at clocks spread over the axis.
  std::shared_ptr<Stage> more_clocks() {
    double most = 0;
    for (const auto& [point, evaluation] : history().entries()) {
      const auto sample = power_sample_of(evaluation, clock_of(point));
      if (sample && sample->power_w > most) most = sample->power_w, variant_ = point;
    }
    if (!variant_) return nullptr;
    const auto& ascending = axes_.ascending(clock_axis_);
    std::vector<Point> points;
    for (std::size_t i = 0; i + 1 < modelled_clocks; ++i) {
      Point point = *variant_;
      point[axes_.places()[clock_axis_]] = ascending[i * (ascending.size() - 1) / (modelled_clocks - 1)];
      if (inputs_.space.contains(point)) points.push_back(std::move(point));
    }
    return std::make_shared<ListStage>(std::move(points));
  }

  std::shared_ptr<Stage> recommended() const {
    std::vector<PowerSample> samples;
    for (const auto& [point, evaluation] : history().entries()) {
      if (!variant_ || axes_.with(point, axes_.of(*variant_)) != *variant_) continue;
      if (const auto sample = power_sample_of(evaluation, clock_of(point))) samples.push_back(*sample);
    }
    const auto& values = axes_.values(clock_axis_);
    std::vector<double> reached;
    std::ranges::copy_if(values, std::back_inserter(reached),
                         [&](double mhz) { return mhz <= values[top()[clock_axis_]]; });
    const auto clocks = recommended_clocks(samples, reached);
    std::vector<SettingPoint> settings;
    for (auto& each : all_settings_of(axes_)) {
      if (std::ranges::find(clocks, values[each[clock_axis_]]) != clocks.end()) settings.push_back(std::move(each));
    }
    return search(Subspace::at_settings(inputs_.space, axes_, settings), inputs_.setup.efficiency);
  }

  [[nodiscard]] double clock_of(const Point& point) const {
    return axes_.values(clock_axis_)[point[axes_.places()[clock_axis_]]];
  }

  const SettingAxes& axes_;
  std::size_t clock_axis_;
  Step step_ = Step::begin;
  std::optional<Point> variant_;  ///< whose power is modelled
};

/// A quantity in SI units.
std::optional<double> quantity(const Evaluation& evaluation, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = evaluation.quantities.find(name);
    if (found == evaluation.quantities.end() || !(found->second.value > 0)) continue;
    return found->second.value * (found->second.unit == "MHz" ? hz_per_mhz : 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<PowerSample> power_sample_of(const Evaluation& evaluation, double requested_mhz) {
  if (!evaluation.ok()) return std::nullopt;
  auto power = quantity(evaluation, {"power", "nvml_power", "ps_power"});
  const auto energy = quantity(evaluation, {"energy", "nvml_energy", "ps_energy"});
  const auto time = quantity(evaluation, {"time"});
  if (!power && energy && time) power = *energy / *time;
  if (!power) return std::nullopt;
  PowerSample sample;
  sample.requested_hz = requested_mhz * hz_per_mhz;
  sample.clock_hz = quantity(evaluation, {"sm_clock", "core_freq"}).value_or(sample.requested_hz);
  sample.power_w = *power;
  return sample;
}

std::vector<double> recommended_clocks(const std::vector<PowerSample>& samples,
                                       const std::vector<double>& requested_mhz) {
  std::set<double> distinct;
  for (const auto& sample : samples) distinct.insert(sample.clock_hz);
  if (distinct.size() < least_clocks(PowerForm::free, false)) return requested_mhz;
  std::vector<double> supported;
  for (const double clock : requested_mhz) supported.push_back(clock * hz_per_mhz);
  std::ranges::sort(supported);
  const PowerFit fit = fit_power_model(samples, PowerForm::free);
  const double optimum = most_efficient_clock(fit.model, supported);
  std::vector<double> clocks;
  for (const double clock : choose_clocks(supported, optimum, steered_width, steered_count).clocks) {
    const auto same =
        std::ranges::min_element(requested_mhz, {}, [&](double each) { return std::abs(each * hz_per_mhz - clock); });
    clocks.push_back(*same);
  }
  return clocks;
}

std::unique_ptr<Strategy> make_model_steered(MethodInputs inputs) {
  const auto axis = inputs.axes.axis_named(parameter_of(Setting::sm_clock));
  if (!axis) throw UsageError("method model-steered: the space has no nvml_gr_clock to steer");
  return std::make_unique<ModelSteered>(std::move(inputs), *axis);
}

}  // namespace wattune
