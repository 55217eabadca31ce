// A space whose valid configurations are given as a list.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "space/space_impl.hpp"

namespace wattune {

namespace {

void check_points(const std::vector<Parameter>& parameters, const std::vector<Point>& points) {
  for (const Point& point : points) {
    if (point.size() != parameters.size()) {
      throw UsageError(fmt::format("a point of {} positions was given where there are {} parameters", point.size(),
                                   parameters.size()));
    }
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (point[i] < parameters[i].values.size()) continue;
      throw UsageError(fmt::format("position {} was given for parameter '{}', which has {} values", point[i],
                                   parameters[i].name, parameters[i].values.size()));
    }
  }
}

/// By parameter: the positions that occur, ascending.
std::vector<std::vector<std::uint32_t>> domains_of(const std::vector<Parameter>& parameters,
                                                   const std::vector<Point>& points) {
  std::vector<std::vector<std::uint32_t>> domains;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<bool> occurs(parameters[i].values.size(), false);
    for (const Point& point : points) occurs[point[i]] = true;
    auto& domain = domains.emplace_back();
    for (std::uint32_t position = 0; position < occurs.size(); ++position) {
      if (occurs[position]) domain.push_back(position);
    }
  }
  return domains;
}

/// The tree of all beginnings of the sorted points; the diagram merges what continues alike.
Diagram diagram_of(const std::vector<Point>& points, const std::vector<std::vector<std::uint32_t>>& domains) {
  std::vector<Diagram::Draft> drafts;
  std::vector<std::vector<std::uint32_t>> ranks;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (domains[i].size() < 2) continue;
    drafts.push_back({i, domains[i].size(), {}});
    auto& rank = ranks.emplace_back(domains[i].back() + 1);
    for (std::uint32_t r = 0; r < domains[i].size(); ++r) rank[domains[i][r]] = r;
  }
  drafts.front().next.assign(drafts.front().width, Diagram::dead);
  std::vector<std::uint32_t> nodes(drafts.size(), 0);
  for (const Point& point : points) {
    for (std::size_t level = 0; level < drafts.size(); ++level) {
      Diagram::Draft& draft = drafts[level];
      std::uint32_t& edge = draft.next[nodes[level] * draft.width + ranks[level][point[draft.variable]]];
      if (level + 1 == drafts.size()) {
        edge = 0;
        break;
      }
      Diagram::Draft& below = drafts[level + 1];
      if (edge == Diagram::dead) {
        edge = static_cast<std::uint32_t>(below.next.size() / below.width);
        below.next.resize(below.next.size() + below.width, Diagram::dead);
      }
      nodes[level + 1] = edge;
    }
  }
  return {std::move(drafts), false};
}

}  // namespace

SearchSpace SearchSpace::of_points(std::vector<Parameter> parameters, std::vector<Point> points) {
  const auto start = std::chrono::steady_clock::now();
  auto impl = std::make_shared<Impl>();
  impl->definition = Definition::parse(std::move(parameters), {});
  for (const Parameter& parameter : impl->definition.parameters) impl->cartesian *= parameter.values.size();
  check_points(impl->definition.parameters, points);
  if (!points.empty() && !impl->definition.parameters.empty()) {
    std::ranges::sort(points);
    auto domains = domains_of(impl->definition.parameters, points);
    std::vector<Diagram> diagrams;
    const bool varies = std::ranges::any_of(domains, [](const auto& domain) { return domain.size() > 1; });
    if (varies) diagrams.push_back(diagram_of(points, domains));
    impl->counted.ranking = Ranking(std::move(diagrams), std::move(domains), impl->definition.parameters);
  }
  impl->build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return SearchSpace(std::move(impl));
}

}  // namespace wattune
