#include "problem/json_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace wattune {
namespace {

std::string error_of(std::string_view text) {
  try {
    const JsonDocument document(text, "p.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonDocumentTest, values_know_their_line_and_key) {
  const JsonDocument document("\n{\n \"a\": [\n  1,\n  {\"b\":\n true}],\n \"c\"\n:\n2 }", "p.json");
  const JsonNode root = document.root();
  EXPECT_EQ(root.place(), "p.json:2: the file");
  EXPECT_EQ(root.at("a").place(), "p.json:3: a");
  EXPECT_EQ(root.at("a").items()[0].place(), "p.json:4: a[0]");
  EXPECT_EQ(root.at("a").items()[1].at("b").place(), "p.json:5: a[1].b");
  EXPECT_EQ(root.at("c").place(), "p.json:7: c") << "where the name stands, not the value";
}

TEST(JsonDocumentTest, a_byte_order_mark_and_carriage_returns_are_no_obstacle) {
  const JsonDocument document("\xEF\xBB\xBF{\r\n\"a\":\r\n1}", "p.json");
  EXPECT_EQ(document.root().at("a").place(), "p.json:2: a");
}

TEST(JsonDocumentTest, braces_and_quotes_within_strings_do_not_confuse_lines) {
  const JsonDocument document("{\"a{\\\"]\": \"}\\\\\",\n\"\\u0062\": \"\\\"\"}", "p.json");
  EXPECT_EQ(document.root().at("a{\"]").string(), "}\\");
  EXPECT_EQ(document.root().at("b").place(), "p.json:2: b");
}

TEST(JsonDocumentTest, members_come_in_the_order_of_the_file) {
  const JsonDocument document(R"({"z": 1, "a": 2, "m": 3})", "p.json");
  std::string order;
  for (const auto& [name, node] : document.root().members()) order += name;
  EXPECT_EQ(order, "zam");
}

TEST(JsonDocumentTest, syntax_errors_tell_line_and_column) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\" 2\n}"), testing::StartsWith("p.json:3: column 7: not valid JSON: "));
  EXPECT_THAT(error_of("{\n\"a\": 1,,\n}"), testing::StartsWith("p.json:2: column 8: not valid JSON: "));
  EXPECT_THAT(error_of("{\"a\": [1,\n2"), testing::HasSubstr("p.json:2: "));
  EXPECT_THAT(error_of(""), testing::StartsWith("p.json:1: column 1: not valid JSON: "));
  EXPECT_THAT(error_of("{\"a\": \"\xff\"}"), testing::HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("{\"a\": 1e999}"), testing::StartsWith("p.json:1: "));
  EXPECT_THAT(error_of("{\"a\": 1} x"), testing::HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("{\"a\": \"x\ny\"}"), testing::Not(testing::HasSubstr("\n")));
}

TEST(JsonDocumentTest, a_key_given_twice_is_an_error) {
  EXPECT_EQ(error_of("{\"x\": {\"a\": 1,\n\"a\": {\"b\": 2}}}"), "p.json:2: x.a: given twice; remove one");
  EXPECT_EQ(error_of("{\"a\": {\"b\": [[1, 2], {}]},\n\"a\": {\"c\": 2}}"), "p.json:2: a: given twice; remove one");
  EXPECT_EQ(error_of("{\"a\": {\"b\": [[1, 2], {}]},\n\"a\": {\"b\": [[]]}}"), "p.json:2: a: given twice; remove one");
}

TEST(JsonDocumentTest, messages_are_one_line_whatever_the_names_hold) {
  EXPECT_EQ(error_of("{\"a\\nb\": 1, \"a\\nb\": 2}"), "p.json:1: a b: given twice; remove one");
}

TEST(JsonDocumentTest, deep_nesting_is_an_error) {
  std::string text(100000, '[');
  EXPECT_THAT(error_of(text + std::string(100000, ']')), testing::HasSubstr("nested deeper than"));
  EXPECT_THAT(error_of(text), testing::HasSubstr("not valid JSON"));
}

TEST(JsonDocumentTest, a_wrong_type_is_named_with_the_one_that_is_needed) {
  const JsonDocument document(R"({"a": 1, "s": "x", "n": null, "big": 18446744073709551615, "f": 1.5, "minus": -1})",
                              "p.json");
  const JsonNode root = document.root();
  const auto message = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { (void)root.at("a").string(); }), "p.json:1: a: is a number; give a string");
  EXPECT_EQ(message([&] { (void)root.at("s").number(); }), "p.json:1: s: is a string; give a number");
  EXPECT_EQ(message([&] { (void)root.at("s").find("x"); }), "p.json:1: s: is a string; give an object");
  EXPECT_EQ(message([&] { (void)root.at("n"); }), "p.json:1: n: is missing; add it");
  EXPECT_EQ(message([&] { (void)root.at("x"); }), "p.json:1: x: is missing; add it");
  EXPECT_EQ(message([&] { (void)root.at("big").integer(); }),
            "p.json:1: big: is too large; give an integer below 2^63");
  EXPECT_EQ(message([&] { (void)root.at("f").integer(); }), "p.json:1: f: is a number; give an integer");
  EXPECT_THAT(message([&] { (void)root.at("minus").natural(); }),
              testing::HasSubstr("is -1; give an integer that is not"));
  EXPECT_THAT(message([&] { (void)root.at("s").one_of({"y", "z"}); }), testing::HasSubstr("unknown value 'x'"));
}

}  // namespace
}  // namespace wattune
