// The host references against the formulas, term by term.

#include "kernels/fma_chain/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/gemm/reference.hpp"

namespace wattune {
namespace {

std::vector<float> random_floats(int rows, int columns, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (float& value : result) value = uniform(engine);
  return result;
}

class GemmReference : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(GemmReference, agrees_with_three_loops_in_double) {
  const auto [M, N, K] = GetParam();
  const std::vector<float> a = random_floats(K, M, 1);
  const std::vector<float> b = random_floats(K, N, 2);
  const std::vector<float> c = random_floats(N, M, 3);
  std::vector<float> result = c;
  gemm_reference(M, N, K, 1.5F, a.data(), b.data(), 0.5F, result.data());

  const auto at = [](const std::vector<float>& matrix, int row, int columns, int column) {
    return double{
        matrix[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)]};
  };
  double worst = 0;
  for (int n = 0; n < N; ++n) {
    for (int m = 0; m < M; ++m) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += at(a, k, M, m) * at(b, k, N, n);
      const double expected = 1.5 * sum + 0.5 * at(c, n, M, m);
      worst = std::max(worst, std::abs(at(result, n, M, m) - expected));
    }
  }
  EXPECT_LT(worst, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(sizes_that_fill_and_do_not_fill_the_blocks, GemmReference,
                         testing::Values(std::tuple{1, 1, 1}, std::tuple{128, 64, 512}, std::tuple{65, 130, 257},
                                         std::tuple{3, 200, 1000}));

TEST(FmaChainReference, runs_the_map_from_the_start_of_each_chain) {
  constexpr std::size_t chains = 600;
  std::vector<float> one(chains);
  fma_chain_reference(chains, 1, 1.92F, one.data());
  for (std::size_t i = 0; i < chains; ++i) {
    const float start = 0.25F + static_cast<float>(i % 256) / 512;
    // The exact value has at most 48 bits, so double holds it and the result is rounded once.
    EXPECT_EQ(one[i], static_cast<float>(double{start} * double{start} - double{1.92F})) << "chain " << i;
  }
}

TEST(FmaChainReference, rounds_every_step_once) {
  std::vector<float> result(256);
  fma_chain_reference(256, 64, 1.92F, result.data());
  for (std::size_t i = 0; i < result.size(); ++i) {
    float x = 0.25F + static_cast<float>(i) / 512;
    for (int step = 0; step < 64; ++step) x = static_cast<float>(double{x} * double{x} - double{1.92F});
    EXPECT_EQ(result[i], x) << "chain " << i;
  }
}

TEST(FmaChainReference, keeps_values_finite_and_moving) {
  std::vector<float> before(256);
  std::vector<float> after(256);
  fma_chain_reference(256, 32768, 1.92F, before.data());
  fma_chain_reference(256, 32769, 1.92F, after.data());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_LE(std::abs(before[i]), 1.92F);
    EXPECT_TRUE(std::isnormal(before[i]));
    EXPECT_NE(before[i], after[i]);
  }
}

TEST(FmaChainReference, takes_fewer_chains_than_there_are_different_ones) {
  std::vector<float> some(10, -7.0F);
  std::vector<float> all(256);
  fma_chain_reference(9, 128, 1.92F, some.data());
  fma_chain_reference(256, 128, 1.92F, all.data());
  EXPECT_TRUE(std::equal(some.begin(), some.begin() + 9, all.begin()));
  EXPECT_EQ(some[9], -7.0F) << "written past the last chain";
}

}  // namespace
}  // namespace wattune
