// Random small spaces with random restrictions: everything must be as going through all points says.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "brute_force.hpp"
#include "random_space.hpp"

namespace wattune::test {
namespace {

/// A space and what brute force says of it. Nothing where building ends with an error, which is right only if there
/// are operands of the wrong type.
struct Compared {
  RandomSpace random;
  BruteForce expected;
  std::optional<SearchSpace> space;

  explicit Compared(std::uint64_t seed) : random(seed), expected(random.parameters, random.restrictions) {
    RC_LOG() << random.text();
    try {
      space = SearchSpace::build(random.parameters, random.restrictions);
    } catch (const UsageError& error) {
      RC_LOG() << error.what();
      RC_ASSERT(expected.has_type_fault);
    }
  }
};

// Most random restrictions leave nothing or everything; so many are needed that the interesting ones are among them.
constexpr int spaces_per_case = 20;

template <typename Check>
void for_random_spaces(std::uint64_t seed, Check check) {
  for (int i = 0; i < spaces_per_case; ++i) {
    const Compared compared(seed + static_cast<std::uint64_t>(i));
    if (compared.space) check(compared);
  }
}

std::uint64_t any_seed() {
  return *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
}

RC_GTEST_PROP(RandomSpaces, EnumerationEqualsBruteForce, ()) {
  for_random_spaces(any_seed(), [](const Compared& c) {
    RC_ASSERT(c.space->size() == Count{c.expected.valid.size()});
    for (std::size_t i = 0; i < c.expected.valid.size(); ++i) {
      const Point point = c.space->point(i);
      RC_ASSERT(c.expected.contains(point));
      if (c.space->is_lexicographic()) RC_ASSERT(point == c.expected.valid[i]);
    }
  });
}

RC_GTEST_PROP(RandomSpaces, IndexIsTheInverseOfPoint, ()) {
  for_random_spaces(any_seed(), [](const Compared& c) {
    for (std::size_t i = 0; i < c.expected.valid.size(); ++i) {
      const auto index = c.space->index(c.space->point(i));
      RC_ASSERT(index.has_value());
      RC_ASSERT(*index == Count{i});
    }
    Point point(c.random.parameters.size(), 0);
    do {
      RC_ASSERT(c.space->contains(point) == c.expected.contains(point));
      RC_ASSERT(c.space->index(point).has_value() == c.expected.contains(point));
    } while (BruteForce::advance(c.random.parameters, point));
  });
}

RC_GTEST_PROP(RandomSpaces, NeighboursEqualBruteForceAlsoOfInvalidPoints, ()) {
  for_random_spaces(any_seed(), [](const Compared& c) {
    Random random(0);
    Point point(c.random.parameters.size(), 0);
    do {
      if (random.below(20) != 0) continue;
      for (const auto kind : {Neighbourhood::hamming, Neighbourhood::adjacent, Neighbourhood::bounded}) {
        RC_ASSERT(c.space->moves(point, kind) == c.expected.moves(c.random.parameters, point, kind));
      }
    } while (BruteForce::advance(c.random.parameters, point));
  });
}

RC_GTEST_PROP(RandomSpaces, FaultsAreCountedAsInEvaluationOneAfterTheOther, ()) {
  for_random_spaces(any_seed(), [](const Compared& c) {
    if (c.expected.has_type_fault) return;
    std::vector<std::uint64_t> divisions(c.random.restrictions.size()), others(c.random.restrictions.size());
    for (const RestrictionFault& fault : c.space->faults()) {
      RC_ASSERT(fault.points.exact.has_value());
      (fault.division_by_zero ? divisions : others)[fault.restriction] =
          static_cast<std::uint64_t>(*fault.points.exact);
    }
    RC_ASSERT(divisions == c.expected.divisions_by_zero);
    RC_ASSERT(others == c.expected.other_faults);
  });
}

RC_GTEST_PROP(RandomSpaces, ExplanationEqualsBruteForce, ()) {
  for_random_spaces(any_seed(), [](const Compared& c) {
    const std::vector<RestrictionEffect> effects = c.space->explain();
    RC_ASSERT(effects.size() == c.random.restrictions.size());
    for (std::size_t i = 0; i < effects.size(); ++i) {
      RC_ASSERT(effects[i].removed_alone.exact == std::optional<Count>(c.expected.removed_alone[i]));
      RC_ASSERT(effects[i].valid_without.exact == std::optional<Count>(c.expected.valid_without[i]));
    }
  });
}

RC_GTEST_PROP(RandomSpaces, SamplesAreDifferentValidConfigurations, ()) {
  for_random_spaces(any_seed(), [](const Compared& c) {
    const std::size_t size = c.expected.valid.size();
    for (const std::size_t n : {std::size_t{1}, size / 2, size, size + 5}) {
      for (const auto& sample :
           {c.space->sample(n, n), c.space->stratified_sample(n, n), c.space->latin_hypercube_sample(n, n)}) {
        RC_ASSERT(sample.size() == std::min(n, size));
        std::vector<Count> sorted = sample;
        std::ranges::sort(sorted);
        RC_ASSERT(std::ranges::adjacent_find(sorted) == sorted.end());
        if (!sorted.empty()) RC_ASSERT(sorted.back() < size);
      }
    }
  });
}

}  // namespace
}  // namespace wattune::test
