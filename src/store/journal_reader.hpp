#pragma once
// Reading journals: whole lines, quickly, whatever has happened to the file.

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "store/journal.hpp"

namespace wattune {

struct JournalText {
  JournalContent content;
  /// Bytes of the file that stay: up to the end of the last line that is whole.
  std::uint64_t whole_bytes = 0;
  /// The last line is whole but for its newline.
  bool newline_missing = false;
};

/// @throws UsageError for a file that is no journal or cannot be read.
JournalText read_journal_text(const std::filesystem::path& file);

/// The header alone. @throws UsageError as above.
JournalHeader read_journal_header(const std::filesystem::path& file);

/// A journal from bytes in memory; `file` stands for them in messages.
JournalText parse_journal_text(std::string_view text, const std::filesystem::path& file);

}  // namespace wattune
