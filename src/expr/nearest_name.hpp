#pragma once
// "Did you mean ...?" for names that are not known.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wattune {

/// The candidate that differs least from `name` (insertions, deletions, replacements and swaps of neighbours; case
/// counts a little), if it is near enough to be a slip.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean 'block_size_x'?", or an empty string.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace wattune
