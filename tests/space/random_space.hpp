#pragma once
// Random small spaces with random restrictions, for comparison with brute force.

#include <string>
#include <vector>

#include "space/random.hpp"
#include "space/search_space.hpp"

namespace wattune::test {

struct RandomSpace {
  std::vector<Parameter> parameters;
  std::vector<Restriction> restrictions;

  explicit RandomSpace(std::uint64_t seed);
  /// For messages.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  const char* pick(std::initializer_list<const char*> choices) { return choices.begin()[below(choices.size())]; }

  Parameter parameter(std::size_t index);
  std::string number(std::size_t depth);
  std::string leaf();
  std::string list(std::size_t depth);
  std::string truth(std::size_t depth);
  std::string comparison(std::size_t depth);
  /// The shapes that restrictions of kernels have.
  std::string usual();
  std::string name() { return parameters[below(parameters.size())].name; }

  Random random_;
};

}  // namespace wattune::test
