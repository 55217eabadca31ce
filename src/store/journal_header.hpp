#pragma once
// The header line of a journal.

#include <optional>
#include <string>
#include <string_view>

#include "store/journal.hpp"

namespace wattune {

/// The line, with its newline.
std::string header_line(const JournalHeader& header);

/// The inverse. @param file for messages.
/// @throws UsageError where the line is no header, is damaged, or is of a format that this version does not know.
JournalHeader parse_header(std::string_view line, const std::filesystem::path& file);

}  // namespace wattune
