#include "space/search_space.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "space/space_impl.hpp"

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

SearchSpace::SearchSpace(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

SearchSpace SearchSpace::build(std::vector<Parameter> parameters, std::vector<Restriction> restrictions) {
  const auto start = std::chrono::steady_clock::now();
  auto impl = std::make_shared<Impl>();
  impl->definition = Definition::parse(std::move(parameters), std::move(restrictions));
  for (const Parameter& parameter : impl->definition.parameters) impl->cartesian *= parameter.values.size();
  impl->counted = count_valid(impl->definition);
  impl->build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return SearchSpace(std::move(impl));
}

const std::vector<Parameter>& SearchSpace::parameters() const noexcept {
  return impl_->definition.parameters;
}
const std::vector<Restriction>& SearchSpace::restrictions() const noexcept {
  return impl_->definition.restrictions;
}
Count SearchSpace::cartesian() const noexcept {
  return impl_->cartesian;
}
Count SearchSpace::size() const noexcept {
  return impl_->counted.ranking.size();
}
bool SearchSpace::is_lexicographic() const noexcept {
  return impl_->counted.lexicographic;
}
double SearchSpace::build_seconds() const noexcept {
  return impl_->build_seconds;
}

Point SearchSpace::point(Count index) const {
  return impl_->counted.ranking.point(index);
}

std::optional<Count> SearchSpace::index(std::span<const std::uint32_t> point) const {
  return impl_->counted.ranking.index(point);
}

bool SearchSpace::contains(std::span<const std::uint32_t> point) const {
  return impl_->counted.ranking.contains(point);
}

std::vector<Value> SearchSpace::values(std::span<const std::uint32_t> point) const {
  std::vector<Value> result;
  result.reserve(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) result.push_back(parameters()[i].values[point[i]]);
  return result;
}

std::optional<Point> SearchSpace::find(std::span<const Value> values) const {
  Point result;
  if (values.size() != parameters().size()) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<Value>& known = parameters()[i].values;
    const auto found = std::ranges::find(known, values[i]);
    if (found == known.end()) return std::nullopt;
    result.push_back(static_cast<std::uint32_t>(found - known.begin()));
  }
  return result;
}

std::vector<Move> SearchSpace::moves(std::span<const std::uint32_t> point, Neighbourhood kind) const {
  std::vector<Move> result;
  moves(point, kind, result);
  return result;
}

void SearchSpace::moves(std::span<const std::uint32_t> point, Neighbourhood kind, std::vector<Move>& result) const {
  impl_->counted.ranking.moves(point, kind, result);
}

std::vector<Count> SearchSpace::neighbours(std::span<const std::uint32_t> point, Neighbourhood kind) const {
  std::vector<Count> result;
  Point neighbour(point.begin(), point.end());
  for (const Move& move : moves(point, kind)) {
    const std::uint32_t own = std::exchange(neighbour[move.parameter], move.position);
    result.push_back(*index(neighbour));
    neighbour[move.parameter] = own;
  }
  return result;
}

}  // namespace wattune
