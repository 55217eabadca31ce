#include "expr/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

namespace wattune {

namespace {

// Costs are in quarters of an edit, so that a difference of case can count less than a difference of letters.
constexpr std::uint32_t edit_cost = 4;
constexpr std::uint32_t case_cost = 1;

std::uint32_t replacement_cost(char a, char b) {
  if (a == b) return 0;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) ? case_cost : edit_cost;
}

/// Damerau-Levenshtein distance (optimal string alignment).
std::uint32_t distance(std::string_view a, std::string_view b) {
  std::vector<std::uint32_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<std::uint32_t>(j) * edit_cost;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<std::uint32_t>(i) * edit_cost;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + edit_cost, row[j - 1] + edit_cost, last[j - 1] + replacement_cost(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + edit_cost);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

constexpr std::size_t longest_compared = 200;

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > longest_compared) return std::nullopt;
  // A third of the letters may be wrong; of short names, one.
  std::uint32_t best = edit_cost * std::max<std::uint32_t>(1, static_cast<std::uint32_t>(name.size()) / 3) + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_compared) continue;
    const std::uint32_t d = distance(name, candidate);
    // A candidate of which every letter was replaced is no slip.
    if (d < best && d < edit_cost * std::max(name.size(), candidate.size())) {
      best = d;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

}  // namespace wattune
