#include "result/metrics.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace wattune {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Metric metric(const std::string& name, const std::string& expression, const std::string& unit = "") {
  return {name, Expression::parse(expression), unit, std::nullopt};
}

Evaluation evaluation_with(std::map<std::string, Quantity> quantities) {
  Evaluation evaluation;
  evaluation.configuration = {Value(128), Value(4)};
  evaluation.quantities = std::move(quantities);
  return evaluation;
}

const std::vector<std::string> parameters = {"block", "tile"};
const Quantity time_2ms{2e-3, "s", 1e-5, 9, {"few_samples"}};
const Quantity power_100w{100, "W", 1, 3, {"power_capped"}};

TEST(Metrics, UseParametersQuantitiesAndEarlierMetrics) {
  const MetricSet metrics(
      std::vector<Metric>{metric("flop", "block * tile * 1000"), metric("rate", "flop / time", "FLOP/s"),
                          metric("FLOP/J", "rate / power", "FLOP/J")},
      parameters);
  Evaluation evaluation = evaluation_with({{"time", time_2ms}, {"power", power_100w}});
  metrics.apply(evaluation);
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("flop").value, 512000);
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("rate").value, 256e6);
  EXPECT_EQ(evaluation.quantities.at("rate").unit, "FLOP/s");
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("FLOP/J").value, 2.56e6);
  EXPECT_THAT(metrics.inputs(), ElementsAre("power", "time"));
}

TEST(Metrics, StandardErrorsPropagateToFirstOrder) {
  const MetricSet metrics(std::vector<Metric>{metric("constant", "block * 2"), metric("rate", "1 / time"),
                                              metric("product", "time * power")},
                          parameters);
  Evaluation evaluation = evaluation_with({{"time", time_2ms}, {"power", power_100w}});
  metrics.apply(evaluation);
  EXPECT_EQ(evaluation.quantities.at("constant").stderr_value, 0);
  EXPECT_NEAR(evaluation.quantities.at("rate").stderr_value, 500 * 1e-5 / 2e-3, 1e-6);
  const Quantity& product = evaluation.quantities.at("product");
  EXPECT_NEAR(product.stderr_value, 0.2 * std::hypot(1e-5 / 2e-3, 1.0 / 100), 1e-9);
  EXPECT_EQ(product.n, 3);
  EXPECT_THAT(product.flags, ::testing::UnorderedElementsAre("few_samples", "power_capped"));
}

TEST(Metrics, AQuantityThatEntersTwiceCountsOnce) {
  const MetricSet metrics(std::vector<Metric>{metric("rate", "1 / time"), metric("one", "rate * time")}, parameters);
  Evaluation evaluation = evaluation_with({{"time", time_2ms}});
  metrics.apply(evaluation);
  EXPECT_NEAR(evaluation.quantities.at("one").stderr_value, 0, 1e-9);
}

TEST(Metrics, AnUnknownErrorStaysUnknown) {
  const MetricSet metrics(std::vector<Metric>{metric("rate", "1 / time")}, parameters);
  Quantity time = time_2ms;
  time.stderr_value = std::numeric_limits<double>::quiet_NaN();
  Evaluation evaluation = evaluation_with({{"time", time}});
  metrics.apply(evaluation);
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("rate").value, 500);
  EXPECT_TRUE(std::isnan(evaluation.quantities.at("rate").stderr_value));
}

TEST(Metrics, WhatCannotBeComputedIsAbsent) {
  const MetricSet metrics(std::vector<Metric>{metric("needs_energy", "1 / energy"), metric("then", "needs_energy + 1"),
                                              metric("by_zero", "1 / (block - 128)"), metric("text", "'fast'"),
                                              metric("not_finite", "time * 1e308 * 1e308"), metric("fine", "time * 2")},
                          parameters);
  Evaluation evaluation = evaluation_with({{"time", time_2ms}});
  metrics.apply(evaluation);
  EXPECT_THAT(evaluation.quantities, ::testing::UnorderedElementsAre(::testing::Key("time"), ::testing::Key("fine")));
}

TEST(Metrics, ApplyingTwiceReplacesWhatWasThere) {
  const MetricSet old_metrics(std::vector<Metric>{metric("score", "time * 2"), metric("gone", "time")}, parameters);
  const MetricSet new_metrics(std::vector<Metric>{metric("score", "time * 3"), metric("gone", "energy")}, parameters);
  Evaluation evaluation = evaluation_with({{"time", time_2ms}});
  old_metrics.apply(evaluation);
  new_metrics.apply(evaluation);
  EXPECT_DOUBLE_EQ(evaluation.quantities.at("score").value, 6e-3);
  EXPECT_FALSE(evaluation.quantities.contains("gone"));
}

TEST(Metrics, AFailedEvaluationHasNone) {
  const MetricSet metrics(std::vector<Metric>{metric("constant", "block * 2")}, parameters);
  Evaluation evaluation = evaluation_with({});
  evaluation.outcome = Outcome::timeout;
  metrics.apply(evaluation);
  EXPECT_TRUE(evaluation.quantities.empty());
}

TEST(Metrics, OneThatUsesItsOwnNameIsRefused) {
  try {
    const MetricSet metrics(std::vector<Metric>{metric("time", "time * 1000")}, parameters);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("metric 'time' = time * 1000 uses its own name"));
  }
}

}  // namespace
}  // namespace wattune
