#pragma once
// Plain-text tables.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wattune {

/// The columns of a terminal that a UTF-8 text takes up. What is no UTF-8 counts as one column a byte.
std::size_t display_width(std::string_view text);

/// Cuts the middle out of a text that is wider than `width` columns: "NVIDIA H2..80GB".
std::string shorten(std::string_view text, std::size_t width);

/// On one line and without what moves a terminal's cursor or changes its colours: control characters become spaces.
std::string printable(std::string_view text);

/// Aligned columns under a line of titles.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    Column(std::string column_title, Align alignment = Align::left)  // NOLINT(google-explicit-constructor)
        : title(std::move(column_title)), align(alignment) {}
    Column(const char* column_title, Align alignment = Align::left)  // NOLINT(google-explicit-constructor)
        : title(column_title), align(alignment) {}
    std::string title;
    Align align;
  };

  explicit Table(std::vector<Column> columns);

  /// Cells that are missing at the end are empty; cells beyond the columns are left out.
  void add_row(std::vector<std::string> cells);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }

  /// The table, each line ended by a newline. @param max_width columns of the screen; the widest columns are shortened
  /// to fit where they can be. 0: as wide as it is.
  [[nodiscard]] std::string text(std::size_t max_width = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t max_width) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace wattune
