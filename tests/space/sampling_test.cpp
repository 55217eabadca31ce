#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "space/search_space.hpp"

namespace wattune {
namespace {

SearchSpace triangle() {
  std::vector<Value> values;
  for (int i = 1; i <= 12; ++i) values.emplace_back(i);
  return SearchSpace::build({{"x", values}, {"clock", {1, 2, 3, 4}}, {"y", values}}, {{"x + y <= 13", "triangle"}});
}

/// sum (observed - expected)^2 / expected.
double chi_squared(const std::vector<std::uint64_t>& observed, double expected) {
  double sum = 0;
  for (const std::uint64_t count : observed) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// Beyond mean + 5 standard deviations of the chi-squared distribution lies far less than one in a million.
double unlikely(std::size_t categories) {
  const double freedom = static_cast<double>(categories) - 1;
  return freedom + 5 * std::sqrt(2 * freedom);
}

TEST(Sampling, IsUniform) {
  const SearchSpace space = triangle();
  ASSERT_EQ(space.size(), Count{312});
  for (int kind = 0; kind < 3; ++kind) {
    std::vector<std::uint64_t> hits(312, 0);
    constexpr std::uint64_t repetitions = 4000;
    constexpr std::size_t each = 5;
    for (std::uint64_t seed = 0; seed < repetitions; ++seed) {
      const auto sample = kind == 0   ? space.sample(each, seed)
                          : kind == 1 ? space.stratified_sample(each, seed)
                                      : space.latin_hypercube_sample(each, seed);
      for (const Count index : sample) ++hits[static_cast<std::size_t>(index)];
    }
    EXPECT_LT(chi_squared(hits, static_cast<double>(repetitions * each) / 312), unlikely(312)) << "kind " << kind;
  }
}

TEST(Sampling, EveryPairOfPlacesIsUniformToo) {
  // Index and place in the sample are independent: the order is random.
  const SearchSpace space = SearchSpace::build({{"x", {1, 2, 3, 4, 5}}}, {});
  std::vector<std::uint64_t> hits(20, 0);
  constexpr std::uint64_t repetitions = 20000;
  for (std::uint64_t seed = 0; seed < repetitions; ++seed) {
    const auto sample = space.sample(2, seed);
    const auto second = static_cast<std::size_t>(sample[1]);
    const auto first = static_cast<std::size_t>(sample[0]);
    ++hits[first * 4 + (second > first ? second - 1 : second)];
  }
  EXPECT_LT(chi_squared(hits, repetitions / 20.0), unlikely(20));
}

TEST(Sampling, IsTheSameOnEveryMachineAndASmallerOneIsItsBeginning) {
  const SearchSpace space = triangle();
  const std::vector<Count> sample = space.sample(8, 42);
  EXPECT_EQ(sample, (std::vector<Count>{231, 50, 88, 109, 15, 271, 72, 251}));
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(space.sample(n, 42), std::vector<Count>(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(n)));
  }
  EXPECT_NE(space.sample(8, 43), sample);
}

TEST(Sampling, OfEverythingIsAPermutation) {
  const SearchSpace space = triangle();
  std::vector<Count> sample = space.sample(1000, 7);
  EXPECT_FALSE(std::ranges::is_sorted(sample));
  std::ranges::sort(sample);
  ASSERT_EQ(sample.size(), 312U);
  for (std::size_t i = 0; i < sample.size(); ++i) EXPECT_EQ(sample[i], Count{i});
}

TEST(Sampling, OfAHugeSpaceIsUniformOverItsHalves) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 25; ++i) parameters.push_back({"p" + std::to_string(i), std::vector<Value>(16)});
  for (Parameter& parameter : parameters) {
    for (int v = 0; v < 16; ++v) parameter.values[static_cast<std::size_t>(v)] = v;
  }
  const SearchSpace space = SearchSpace::build(parameters, {{"p0 + p24 <= 15", "sum"}});
  std::vector<std::uint64_t> hits(64, 0);
  for (const Count index : space.sample(20000, 9)) ++hits[static_cast<std::size_t>(index / (space.size() / 64 + 1))];
  EXPECT_LT(chi_squared(hits, 20000 / 64.0), unlikely(64));
}

TEST(Sampling, StratifiedTakesOneFromEachPart) {
  const SearchSpace space = triangle();
  const auto sample = space.stratified_sample(12, 3);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    EXPECT_GE(sample[i], Count{i * 26});
    EXPECT_LT(sample[i], Count{(i + 1) * 26});
  }
}

TEST(Sampling, LatinHypercubeBalancesFreeParametersExactly) {
  const SearchSpace space = triangle();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int> clocks(4, 0);
    for (const Count index : space.latin_hypercube_sample(8, seed)) ++clocks[space.point(index)[1]];
    // A configuration that came twice may have moved.
    EXPECT_LE(*std::ranges::max_element(clocks), 3);
    EXPECT_GE(*std::ranges::min_element(clocks), 1);
  }
}

TEST(Sampling, LatinHypercubeSpreadsRestrictedParametersMoreEvenlyThanChance) {
  const SearchSpace space = triangle();
  const auto spread = [&](auto sample_of) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      double mean = 0;
      for (const Count index : sample_of(seed)) mean += space.point(index)[2] / 12.0;
      // Under the triangle the mean position of y is 11/3.
      sum += (mean - 11.0 / 3) * (mean - 11.0 / 3);
    }
    return sum;
  };
  const double latin = spread([&](std::uint64_t seed) { return space.latin_hypercube_sample(12, seed); });
  const double plain = spread([&](std::uint64_t seed) { return space.sample(12, seed); });
  EXPECT_LT(latin, 0.5 * plain);
}

}  // namespace
}  // namespace wattune
