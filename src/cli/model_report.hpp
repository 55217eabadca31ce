#pragma once
// What `wattune model` and `wattune calibrate` say of a fitted power model.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/clock_choice.hpp"
#include "model/power_fit.hpp"

namespace wattune::cli {

/// "10%" as 0.1. @param option how errors call it
double parse_width(const std::string& text, const std::string& option);

/// The clocks that may be recommended, and where they come from.
struct SupportedClocks {
  std::vector<double> clocks;
  std::string source;
};

struct ModelReport {
  std::string device, kernel, configuration;  ///< of what the model is; may be empty
  std::string clock, power, voltage;          ///< names of the quantities; the last may be empty
  PowerFit fit;
  std::pair<double, double> sampled;  ///< Hz, least and greatest clock
  SupportedClocks supported;
  double width = 0.1;
  double optimum = 0;  ///< Hz
  ClockChoice choice;
  std::vector<std::string> warnings;
};

/// Fills in what follows from the fit: optimum, choice and warnings.
void conclude(ModelReport& report, std::size_t count);

nlohmann::json to_json(const ModelReport& report);
/// All lines but the heading.
void print_model(const ModelReport& report);

}  // namespace wattune::cli
