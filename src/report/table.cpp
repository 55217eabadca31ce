#include "report/table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace wattune {

namespace {

constexpr std::string_view gap = "  ";
/// No column is cut below this.
constexpr std::size_t least_width = 8;

struct Character {
  std::size_t bytes;
  std::size_t columns;
};

struct Range {
  std::uint32_t first, last;
};
// Marks that are put onto the character before, and characters of no width.
constexpr std::array no_width = {Range{0x300, 0x36f},   Range{0x483, 0x489},   Range{0x591, 0x5bd},
                                 Range{0x610, 0x61a},   Range{0x64b, 0x65f},   Range{0x1ab0, 0x1aff},
                                 Range{0x1dc0, 0x1dff}, Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff},
                                 Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}, Range{0xfeff, 0xfeff}};
// East Asian wide characters and emoji.
constexpr std::array double_width = {Range{0x1100, 0x115f},   Range{0x2e80, 0x303e},   Range{0x3041, 0xa4cf},
                                     Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},
                                     Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f},
                                     Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1f9ff}, Range{0x20000, 0x3fffd}};

std::size_t columns_of(std::uint32_t code) {
  auto within = [code](const Range& range) { return code >= range.first && code <= range.last; };
  if (std::any_of(no_width.begin(), no_width.end(), within)) return 0;
  return std::any_of(double_width.begin(), double_width.end(), within) ? 2 : 1;
}

/// The first character of a text that is not empty.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (bytes == 1 || lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return {1, 1};
  std::uint32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return {1, 1};
    code = code << 6 | (next & 0x3fU);
  }
  return {bytes, columns_of(code)};
}

/// The bytes of the longest beginning that fits into a width.
std::size_t fitting_bytes(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    if (character.columns > width) break;
    width -= character.columns;
    bytes += character.bytes;
  }
  return bytes;
}

void append_cell(std::string& line, std::string_view text, std::size_t width, Table::Align align) {
  const std::string shown = shorten(text, width);
  const std::string space(width - display_width(shown), ' ');
  if (align == Table::Align::right) line += space;
  line += shown;
  if (align == Table::Align::left) line += space;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.columns;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, std::size_t width) {
  const std::size_t full = display_width(text);
  if (full <= width) return std::string(text);
  if (width < 5) return std::string(text.substr(0, fitting_bytes(text, width)));
  const std::size_t tail = (width - 2) / 2;
  const std::size_t head = width - 2 - tail;
  std::size_t cut = fitting_bytes(text, full - tail);
  // A wide character that straddles the cut goes, and so do marks that belong to it.
  while (cut < text.size() &&
         (display_width(text.substr(cut)) > tail || first_character(text.substr(cut)).columns == 0)) {
    cut += first_character(text.substr(cut)).bytes;
  }
  return std::string(text.substr(0, fitting_bytes(text, head))).append("..").append(text.substr(cut));
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = ' ';
  }
  return result;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (auto& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t max_width) const {
  std::vector<std::size_t> result;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    result.push_back(width);
  }
  if (max_width == 0 || result.empty()) return result;
  const std::size_t gaps = gap.size() * (result.size() - 1);
  auto total = [&] { return std::accumulate(result.begin(), result.end(), gaps); };
  while (total() > max_width) {
    const auto widest = std::max_element(result.begin(), result.end());
    if (*widest <= least_width) break;
    --*widest;
  }
  return result;
}

std::string Table::text(std::size_t max_width) const {
  const auto width = widths(max_width);
  std::string result;
  auto add_line = [&](auto cell) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line += gap;
      append_cell(line, cell(c), width[c], columns_[c].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result.append(line).append(1, '\n');
  };
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) add_line([&](std::size_t c) -> const std::string& { return row[c]; });
  return result;
}

}  // namespace wattune
