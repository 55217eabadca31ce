// Journals from anywhere: whatever a file holds, it is read or refused with a UsageError, and what was read can be
// written and read again.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "store/journal_header.hpp"
#include "store/journal_line.hpp"
#include "store/journal_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  wattune::JournalText journal;
  try {
    journal = wattune::parse_journal_text(text, "fuzz.jsonl");
  } catch (const wattune::UsageError&) {
    return 0;
  }
  if (journal.whole_bytes > size) std::abort();
  const auto& content = journal.content;
  std::string again = wattune::header_line(content.header);
  for (const auto& evaluation : content.evaluations) {
    again += wattune::evaluation_line(evaluation, content.header.parameter_names);
  }
  const auto second = wattune::parse_journal_text(again, "fuzz.jsonl").content;
  if (second.evaluations.size() != content.evaluations.size() || !second.warnings.empty()) std::abort();
  for (std::size_t i = 0; i < second.evaluations.size(); ++i) {
    if (wattune::evaluation_line(second.evaluations[i], second.header.parameter_names) !=
        wattune::evaluation_line(content.evaluations[i], content.header.parameter_names)) {
      std::abort();
    }
  }
  return 0;
}
