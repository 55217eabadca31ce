#pragma once
// Messages on stderr.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace wattune::cli {

/// Whatever has become of the terminal or the file behind stderr, what is being done goes on.
template <typename... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace wattune::cli
