#include "model/power_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace wattune {

std::string_view to_string(PowerForm form) {
  switch (form) {
    case PowerForm::free:
      return "free";
    case PowerForm::paper:
      return "paper";
    case PowerForm::leakage:
      return "leakage";
  }
  return "";
}

PowerForm power_form_from(std::string_view text) {
  for (const PowerForm form : {PowerForm::free, PowerForm::paper, PowerForm::leakage}) {
    if (to_string(form) == text) return form;
  }
  throw UsageError(fmt::format("there is no form '{}' of the power model; there are free, paper and leakage", text));
}

double PowerModel::uncapped_power(double clock) const {
  const double v = voltage.at(clock);
  return base_w + leakage_w * v + slope_w_per_hz * (clock - origin_hz) * v * v;
}

double PowerModel::power(double clock) const {
  return std::min(limit_w, uncapped_power(clock));
}

}  // namespace wattune
