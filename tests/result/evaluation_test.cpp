#include "result/evaluation.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace wattune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::vector<std::string> names = {"block_size_x", "use_shared", "layout", "scale", "tile"};

Evaluation full_evaluation() {
  Evaluation evaluation;
  evaluation.configuration = {Value(256), Value(true), Value("row major"), Value(2.0), Value(Value::List{1, 2})};
  evaluation.tier = "final";
  evaluation.trial = 2;
  evaluation.verification = "verified";
  evaluation.quantities["time"] = {1.25e-3, "s", 2e-6, 12, {"power_capped", "few_samples"}};
  evaluation.quantities["energy"] = {0.5, "J", std::numeric_limits<double>::quiet_NaN(), 0, {}};
  evaluation.phases = {{"compile", 1.5}, {"time", 0.25}};
  evaluation.resources = {{"registers", 42}};
  evaluation.board = "GPU-1234";
  evaluation.timestamp = "2026-01-31T12:00:00.000Z";
  evaluation.proposal = 7;
  evaluation.told = 5;
  return evaluation;
}

std::string usage_error(const json& object) {
  try {
    evaluation_from_json(object, names);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EvaluationJson, AnEvaluationComesBackAsItWas) {
  const Evaluation before = full_evaluation();
  const json object = to_json(before, names);
  const Evaluation after = evaluation_from_json(json::parse(object.dump()), names);
  EXPECT_EQ(after.configuration, before.configuration);
  EXPECT_TRUE(after.configuration[1].is_bool());
  EXPECT_TRUE(after.configuration[3].is_float());
  EXPECT_EQ(to_json(after, names), object);
  EXPECT_TRUE(std::isnan(after.quantities.at("energy").stderr_value));
  EXPECT_THAT(after.quantities.at("time").flags, ::testing::ElementsAre("power_capped", "few_samples"));
}

TEST(EvaluationJson, HasTheDocumentedKeys) {
  const json object = to_json(full_evaluation(), names);
  EXPECT_EQ(object["configuration"]["layout"], "row major");
  EXPECT_EQ(object["outcome"], "ok");
  EXPECT_EQ(
      object["quantities"]["time"],
      (json{
          {"value", 1.25e-3}, {"unit", "s"}, {"stderr", 2e-6}, {"n", 12}, {"flags", {"power_capped", "few_samples"}}}));
  for (const char* key :
       {"message", "tier", "trial", "verification", "phases", "resources", "board", "timestamp", "proposal", "told"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
}

TEST(EvaluationJson, WhatIsUnknownBecomesNull) {
  const json object = to_json(full_evaluation(), names);
  EXPECT_TRUE(object["quantities"]["energy"]["stderr"].is_null());
}

TEST(EvaluationJson, KeysThatMayBeAbsentHaveDefaults) {
  const Evaluation evaluation = evaluation_from_json({{"configuration", {{"x", 1}}}, {"outcome", "compile"}}, {"x"});
  EXPECT_EQ(evaluation.outcome, Outcome::compile);
  EXPECT_EQ(evaluation.tier, "screen");
  EXPECT_TRUE(evaluation.quantities.empty());
}

TEST(EvaluationJson, ErrorsNameTheKey) {
  const json good = to_json(full_evaluation(), names);
  auto broken = [&](const char* pointer, const json& value) {
    json object = good;
    object[json::json_pointer(pointer)] = value;
    return usage_error(object);
  };
  EXPECT_THAT(broken("/outcome", "fine"), HasSubstr("unknown outcome 'fine'"));
  EXPECT_THAT(broken("/outcome", 3), HasSubstr("key 'outcome' of an evaluation must be a string, not 3"));
  EXPECT_THAT(broken("/trial", 1.5), HasSubstr("'trial'"));
  EXPECT_THAT(broken("/quantities/time/value", "fast"), HasSubstr("'value'"));
  EXPECT_THAT(broken("/quantities/time", 3), HasSubstr("'quantities'"));
  EXPECT_THAT(broken("/configuration/tile", nullptr), HasSubstr("'configuration'"));
  EXPECT_THAT(broken("/configuration/tile", 18446744073709551615U), HasSubstr("64 bits"));
  EXPECT_THAT(broken("/configuration/other", 1), HasSubstr("6 values was found where there are 5 parameters"));
  json without = good;
  without["configuration"].erase("tile");
  without["configuration"]["tiles"] = 1;
  EXPECT_THAT(usage_error(without), HasSubstr("parameter 'tile' is missing"));
  without = good;
  without.erase("configuration");
  EXPECT_THAT(usage_error(without), HasSubstr("key 'configuration' is missing"));
  EXPECT_THAT(usage_error(json::array()), HasSubstr("must be a JSON object"));
}

TEST(ConfigurationKey, IsEqualWhereValuesAre) {
  auto key = [](const std::vector<Value>& configuration) {
    std::string text;
    append_key(text, configuration);
    return text;
  };
  EXPECT_EQ(key({Value(1), Value(true)}), key({Value(1.0), Value(1)}));
  EXPECT_NE(key({Value(1)}), key({Value("1")}));
  EXPECT_NE(key({Value("a"), Value("b")}), key({Value("a;1'b")}));
  EXPECT_NE(key({Value(0.1)}), key({Value(0.2)}));
  EXPECT_NE(key({Value(1), Value(23)}), key({Value(12), Value(3)}));
}

TEST(OutcomeNames, GoBothWays) {
  for (int i = 0; i <= static_cast<int>(Outcome::lost_device); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(outcome_from(to_string(outcome)), outcome);
  }
  EXPECT_FALSE(outcome_from("nonsense"));
}

}  // namespace
}  // namespace wattune
