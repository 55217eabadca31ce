#include "random_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wattune::test {

RandomSpace::RandomSpace(std::uint64_t seed) : random_(seed) {
  const std::size_t count = 1 + below(6);
  std::size_t points = 1;
  for (std::size_t i = 0; i < count; ++i) {
    parameters.push_back(parameter(i));
    points *= parameters.back().values.size();
    if (points > 3000) {
      points /= parameters.back().values.size();
      parameters.back().values.resize(1);
    }
  }
  const std::size_t restrictions_wanted = below(5);
  for (std::size_t i = 0; i < restrictions_wanted; ++i) {
    restrictions.push_back({below(2) == 0 ? usual() : truth(3), fmt::format("restriction {}", i)});
  }
}

std::string RandomSpace::text() const {
  std::string result;
  for (const Parameter& parameter : parameters) {
    result += parameter.name + " in " + Value(parameter.values).str() + "\n";
  }
  for (const Restriction& restriction : restrictions) result += restriction.expression + "\n";
  return result;
}

Parameter RandomSpace::parameter(std::size_t index) {
  const std::vector<std::vector<Value>> lists = {
      {1, 2, 3, 4, 5, 6, 7},
      {1, 2, 4, 8, 16, 32},
      {0, 1},
      {0, 1, 2, 3},
      {-3, -1, 0, 2, 5},
      {32, 64, 128, 256},
      {0.5, 1.5, 2.0, 4.0},
      {1, 1.5, 2, 3},
      {true, false},
      {"a", "b", "abc"},
      {std::int64_t{1} << 40, std::int64_t{1} << 61, (std::int64_t{1} << 53) + 1},
      {7},
      {0},
      {"a"},
      {1024, 512, 256, 1},
      {0, "a", 2.5},
  };
  // The odd ones at the end are rarer.
  const std::size_t choice = below(3) == 0 ? below(lists.size()) : below(7);
  Parameter result{std::string(1, static_cast<char>('p' + index)), lists[choice]};
  if (below(2) == 0) result.values.resize(1 + below(result.values.size()));
  return result;
}

std::string RandomSpace::leaf() {
  if (below(3) != 0) return name();
  return pick({"0", "1", "2", "3", "4", "32", "1024", "0.5", "2.0", "-1", "True", "1e3", "9007199254740993",
               "4611686018427387904"});
}

std::string RandomSpace::number(std::size_t depth) {
  if (depth == 0) return leaf();
  switch (below(14)) {
    case 0:
    case 1:
      return leaf();
    case 2:
    case 3:
    case 4:
      return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*"}), number(depth - 1));
    case 5:
    case 6:
      return fmt::format("({} {} {})", number(depth - 1), pick({"/", "//", "%", "%"}), number(depth - 1));
    case 7:
      return fmt::format("({} ** {})", number(depth - 1), pick({"2", "3", "0.5", "-1", name().c_str()}));
    case 8:
      return fmt::format("(-{})", number(depth - 1));
    case 9:
      return fmt::format("{}({})", pick({"abs", "int", "float", "round", "ceil", "floor", "sqrt", "log2", "log"}),
                         number(depth - 1));
    case 10:
      return fmt::format("{}({}, {})", pick({"min", "max"}), number(depth - 1), number(depth - 1));
    case 11:
      return fmt::format("({} if {} else {})", number(depth - 1), truth(depth - 1), number(depth - 1));
    case 12:
      return fmt::format("({} {} {})", number(depth - 1), pick({"and", "or"}), number(depth - 1));
    default:
      return fmt::format("{}({})", pick({"sum", "max", "min", "len"}), list(depth - 1));
  }
}

std::string RandomSpace::list(std::size_t depth) {
  if (below(3) == 0) return fmt::format("[i * {} for i in range(3)]", number(depth / 2));
  std::string result = "[" + number(depth / 2);
  for (std::size_t i = below(3); i > 0; --i) result += ", " + number(depth / 2);
  return result + "]";
}

std::string RandomSpace::comparison(std::size_t depth) {
  std::string result = number(depth) + " " + pick({"==", "!=", "<", "<=", ">", ">="}) + " " + number(depth);
  if (below(4) == 0) result += fmt::format(" {} {}", pick({"<", "<=", "=="}), number(depth));
  return "(" + result + ")";
}

std::string RandomSpace::truth(std::size_t depth) {
  if (depth == 0) return comparison(0);
  switch (below(10)) {
    case 0:
      return fmt::format("(not {})", truth(depth - 1));
    case 1:
    case 2:
      return fmt::format("({} {} {})", truth(depth - 1), pick({"and", "or"}), truth(depth - 1));
    case 3:
      return fmt::format("({} in {})", number(depth - 1), list(depth - 1));
    case 4:
      return fmt::format("{}({})", pick({"any", "all"}), list(depth - 1));
    case 5:
      return fmt::format("({} == {})", name(), pick({"'a'", "'abc'", "1", "0"}));
    case 6:
      return fmt::format("({} if {} else {})", truth(depth - 1), truth(depth - 1), truth(depth - 1));
    default:
      return comparison(depth - 1);
  }
}

std::string RandomSpace::usual() {
  const std::string a = name(), b = name(), c = name(), d = name();
  switch (below(10)) {
    case 0:
      return fmt::format("{} * {} <= {}", a, b, pick({"8", "64", "1024"}));
    case 1:
      return fmt::format("{} <= {} * {} <= {}", pick({"2", "32"}), a, b, pick({"16", "512"}));
    case 2:
      return fmt::format("{} % {} == 0", a, b);
    case 3:
      return fmt::format("{} % ({} * {}) == 0", a, b, c);
    case 4:
      return fmt::format("{} == 0 or {} % {} == 0", a, b, a);
    case 5:
      return fmt::format("({} * {} + {} * 2) * ({} + 2) <= {}", a, b, c, d, pick({"20", "100", "3000"}));
    case 6:
      return fmt::format("{} + {} + {} == {}", a, b, c, pick({"5", "9", "12"}));
    case 7:
      return fmt::format("{} % (({} * {}) / {}) == 0", a, b, c, d);
    case 8:
      return fmt::format("{} != {} or {} < {} - {}", a, pick({"0", "1"}), b, c, d);
    default:
      return fmt::format("not ({} == {} and {} == {}) and {} <= {}", a, b, c, d, d, a);
  }
}

}  // namespace wattune::test
