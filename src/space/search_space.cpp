#include "space/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <unordered_set>

#include "expr/expression.hpp"

namespace wattune {

std::string to_string(Count count) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(count % 10));
    count /= 10;
  } while (count != 0);
  std::ranges::reverse(digits);
  return digits;
}

struct SearchSpace::Impl {
  std::vector<Parameter> parameters;
  std::vector<Restriction> restrictions;
  Count cartesian = 1;
  std::vector<std::uint32_t> points;  ///< the valid ones, one after the other
  double build_seconds = 0;

  [[nodiscard]] std::size_t width() const { return parameters.size(); }
  [[nodiscard]] std::span<const std::uint32_t> at(std::size_t index) const {
    return {points.data() + index * width(), width()};
  }
};

SearchSpace::SearchSpace(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

SearchSpace SearchSpace::build(std::vector<Parameter> parameters, std::vector<Restriction> restrictions) {
  const auto start = std::chrono::steady_clock::now();
  auto impl = std::make_shared<Impl>();
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) {
    names.push_back(parameter.name);
    impl->cartesian *= parameter.values.size();
  }
  std::vector<std::vector<Program>> programs(parameters.size() + 1);
  for (const Restriction& restriction : restrictions) {
    try {
      const Expression expression = Expression::parse(restriction.expression);
      std::size_t last = 0;
      for (const std::string& name : expression.names()) {
        last = std::max<std::size_t>(last, static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()) + 1);
      }
      const Program program = expression.compile(names);
      programs[last].push_back(program);
    } catch (const ExpressionError& error) {
      throw UsageError(fmt::format("{}: {}", restriction.place, error.what()));
    }
  }
  std::vector<Value> values(parameters.size());
  Point point(parameters.size());
  const auto holds = [&](std::size_t level) {
    return std::ranges::all_of(programs[level], [&](const Program& program) {
      bool truth = false;
      return program.test(values, truth) == Fault::none && truth;
    });
  };
  const auto descend = [&](auto&& self, std::size_t level) -> void {
    if (!holds(level)) return;
    if (level == parameters.size()) {
      impl->points.insert(impl->points.end(), point.begin(), point.end());
      return;
    }
    for (std::uint32_t v = 0; v < parameters[level].values.size(); ++v) {
      point[level] = v;
      values[level] = parameters[level].values[v];
      self(self, level + 1);
    }
  };
  descend(descend, 0);
  impl->parameters = std::move(parameters);
  impl->restrictions = std::move(restrictions);
  impl->build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return SearchSpace(impl);
}

const std::vector<Parameter>& SearchSpace::parameters() const noexcept { return impl_->parameters; }
const std::vector<Restriction>& SearchSpace::restrictions() const noexcept { return impl_->restrictions; }
Count SearchSpace::cartesian() const noexcept { return impl_->cartesian; }
Count SearchSpace::size() const noexcept { return impl_->width() == 0 ? 0 : impl_->points.size() / impl_->width(); }
double SearchSpace::build_seconds() const noexcept { return impl_->build_seconds; }

Point SearchSpace::point(Count index) const {
  const auto found = impl_->at(static_cast<std::size_t>(index));
  return {found.begin(), found.end()};
}

std::optional<Count> SearchSpace::index(std::span<const std::uint32_t> point) const {
  std::size_t low = 0;
  std::size_t high = static_cast<std::size_t>(size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (std::ranges::lexicographical_compare(impl_->at(middle), point)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == static_cast<std::size_t>(size()) || !std::ranges::equal(impl_->at(low), point)) return std::nullopt;
  return low;
}

bool SearchSpace::contains(std::span<const std::uint32_t> point) const { return index(point).has_value(); }

std::vector<Value> SearchSpace::values(std::span<const std::uint32_t> point) const {
  std::vector<Value> result;
  for (std::size_t i = 0; i < point.size(); ++i) result.push_back(impl_->parameters[i].values[point[i]]);
  return result;
}

std::optional<Point> SearchSpace::find(std::span<const Value> values) const {
  Point result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& known = impl_->parameters[i].values;
    const auto found = std::ranges::find(known, values[i]);
    if (found == known.end()) return std::nullopt;
    result.push_back(static_cast<std::uint32_t>(found - known.begin()));
  }
  return result;
}

std::vector<Count> SearchSpace::sample(std::size_t n, std::uint64_t seed) const {
  const auto count = static_cast<std::uint64_t>(size());
  std::vector<std::uint64_t> order(count);
  for (std::uint64_t i = 0; i < count; ++i) order[i] = i;
  std::mt19937_64 random(seed);
  std::vector<Count> result;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(n, count); ++i) {
    std::swap(order[i], order[i + random() % (count - i)]);
    result.push_back(order[i]);
  }
  return result;
}

}  // namespace wattune
