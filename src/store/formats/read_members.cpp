#include <fmt/format.h>

#include "store/formats/formats.hpp"

namespace wattune {

namespace {
/// A file that is damaged throughout is told of once, not once a line.
constexpr std::size_t most_notes = 5;
}  // namespace

std::vector<std::string> Drops::notes() const {
  std::vector<std::string> result;
  for (const std::string& what : order_) {
    const auto& [count, example] = counts_.at(what);
    result.push_back(count == 1 ? fmt::format("{} ({})", what, example)
                                : fmt::format("{} ({} times; the first: {})", what, count, example));
  }
  return result;
}

void read_members(JsonStream& stream, bool keyed, std::vector<std::string>& notes,
                  const std::function<bool(const std::string&, std::string_view)>& add) {
  std::size_t damaged = 0;
  for (;;) {
    if (stream.take(keyed ? '}' : ']')) break;
    if (stream.at_end()) {
      notes.emplace_back(
          "the file is not closed, as a run leaves it that was cut off or is still going on; nothing of it was "
          "dropped");
      break;
    }
    stream.mark();
    const std::uint64_t offset = stream.offset();
    const auto key = keyed ? stream.key() : std::optional<std::string>(std::in_place);
    const auto text = key ? stream.value() : std::nullopt;
    if (text && add(*key, *text)) {
      stream.release();
      stream.comma();
      continue;
    }
    const bool resumed = keyed ? stream.resume_after_mark() : text.has_value() && (stream.comma() || !stream.at_end());
    stream.release();
    if (!resumed) {
      notes.push_back(fmt::format("the last entry is torn (at byte {}); dropped", offset));
      break;
    }
    if (++damaged <= most_notes) notes.push_back(fmt::format("the entry at byte {} is damaged; dropped", offset));
  }
  if (damaged > most_notes) notes.push_back(fmt::format("{} damaged entries were dropped in all", damaged));
}

}  // namespace wattune
