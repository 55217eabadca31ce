#include "recorded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"

namespace wattune::bench {

namespace {

using Json = nlohmann::json;
using Numbers = std::vector<std::int64_t>;
constexpr double failed = std::numeric_limits<double>::quiet_NaN();

/// zlib reads plain files as they are.
std::string read_text(const std::string& file) {
  gzFile input = gzopen(file.c_str(), "rb");
  if (input == nullptr) throw UsageError("cannot open '" + file + "'");
  std::string text;
  std::string block(1U << 20U, '\0');
  int read = 0;
  while ((read = gzread(input, block.data(), static_cast<unsigned>(block.size()))) > 0) {
    text.append(block, 0, static_cast<std::size_t>(read));
  }
  gzclose(input);
  if (read < 0) throw UsageError("cannot read '" + file + "'");
  return text;
}

/// The results of a file: names of the parameters, and a value for each configuration.
struct Results {
  std::vector<std::string> names;
  std::map<Numbers, double> values;
};

double value_in_cache(const Json& entry, const std::string& quantity) {
  const auto found = entry.find(quantity);
  if (entry.contains("__error__") || found == entry.end() || !found->is_number()) return failed;
  return found->get<double>();
}

double value_in_t4(const Json& result, const std::string& quantity) {
  if (result.value("invalidity", "correct") != "correct") return failed;
  for (const auto& measurement : result.at("measurements")) {
    if (measurement.at("name") == quantity && measurement.at("value").is_number()) return measurement.at("value");
  }
  return failed;
}

Results results_of(const Json& json, const std::string& quantity) {
  Results results;
  const bool is_cache = json.contains("cache");
  if (is_cache) {
    results.names = json.at("tune_params_keys").get<std::vector<std::string>>();
  } else {
    for (const auto& [name, value] : json.at("results").at(0).at("configuration").items()) results.names.push_back(name);
  }
  for (const auto& entry : is_cache ? json.at("cache") : json.at("results")) {
    const Json& configuration = is_cache ? entry : entry.at("configuration");
    Numbers numbers;
    for (const auto& name : results.names) numbers.push_back(configuration.at(name).get<std::int64_t>());
    results.values[numbers] = is_cache ? value_in_cache(entry, quantity) : value_in_t4(entry, quantity);
  }
  return results;
}

/// Parameters that occur with every combination of the others need no place in the restriction.
bool is_independent(const Results& results, std::size_t parameter, std::size_t values) {
  std::set<Numbers> others;
  for (const auto& [numbers, value] : results.values) {
    Numbers rest = numbers;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(parameter));
    others.insert(std::move(rest));
  }
  return others.size() * values == results.values.size();
}

/// The space of exactly the configurations of the file: they are numbered, and one restriction lists the numbers.
SearchSpace space_of(const Results& results) {
  std::vector<Parameter> parameters;
  std::vector<std::int64_t> factors;
  std::vector<std::string> terms;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i < results.names.size(); ++i) {
    std::set<std::int64_t> values;
    for (const auto& [numbers, value] : results.values) values.insert(numbers[i]);
    parameters.push_back({results.names[i], {values.begin(), values.end()}});
    if (is_independent(results, i, values.size())) {
      factors.push_back(0);
      continue;
    }
    factors.push_back(factor);
    terms.push_back(fmt::format("{} * {}", results.names[i], factor));
    factor *= *values.rbegin() + 1;
  }
  if (terms.empty()) return SearchSpace::build(std::move(parameters), {});
  std::set<std::int64_t> keys;
  for (const auto& [numbers, value] : results.values) {
    std::int64_t key = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) key += numbers[i] * factors[i];
    keys.insert(key);
  }
  return SearchSpace::build(std::move(parameters),
                            {{fmt::format("{} in [{}]", fmt::join(terms, " + "), fmt::join(keys, ", ")), "the file"}});
}

}  // namespace

Recorded read_recorded(const std::string& file, const std::string& quantity, bool maximize) {
  const Results results = results_of(Json::parse(read_text(file)), quantity);
  Recorded recorded{std::filesystem::path(file).filename().string(), space_of(results), maximize, {}, failed};
  if (recorded.space.size() != results.values.size()) throw RunError("the space of '" + file + "' is not that of its results");
  recorded.values.assign(results.values.size(), failed);
  for (const auto& [numbers, value] : results.values) {
    const auto point = recorded.space.find(std::vector<Value>(numbers.begin(), numbers.end()));
    recorded.values[static_cast<std::size_t>(*recorded.space.index(*point))] = value;
    const bool is_better = maximize ? value > recorded.optimum : value < recorded.optimum;
    if (std::isnan(recorded.optimum) || is_better) recorded.optimum = std::isnan(value) ? recorded.optimum : value;
  }
  return recorded;
}

}  // namespace wattune::bench
