// Journals are read by two readers of one format, the fast one and evaluation_from_json(). They must agree.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/error.hpp"
#include "sample.hpp"
#include "store/journal_header.hpp"
#include "store/journal_reader.hpp"

namespace wattune {
namespace {

using nlohmann::json;

/// A line with some of its bytes changed, or parts of it taken out or doubled.
std::string mutated(std::string line, std::mt19937& random) {
  static constexpr std::string_view pieces = "{}[]\",:0123456789-+.eEtrufalsn\\ \x01\x80\xc3";
  for (auto changes = random() % 3; changes > 0 && !line.empty(); --changes) {
    const std::size_t place = random() % line.size();
    const std::size_t length = std::min<std::size_t>(line.size() - place, random() % 12);
    switch (random() % 3) {
      case 0:
        line[place] = pieces[random() % pieces.size()];
        break;
      case 1:
        line.erase(place, length);
        break;
      default:
        line.insert(random() % line.size(), line.substr(place, length));
        break;
    }
  }
  std::erase(line, '\n');
  return line;
}

TEST(ReaderAgreement, OnLinesWholeAndDamaged) {
  const JournalHeader header = sample_header();
  const auto& names = header.parameter_names;
  const std::string first_line = header_line(header);
  std::mt19937 random(42);
  int read = 0;
  constexpr int rounds = 4000;
  for (int i = 0; i < rounds; ++i) {
    const std::string line = mutated(to_json(sample_evaluation(i), names).dump(), random);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const JournalContent content = parse_journal_text(first_line + line + "\n", "journal").content;
    ASSERT_EQ(content.evaluations.size() + content.warnings.size(), 1U) << line;
    std::string other = "none";
    try {
      other = to_json(evaluation_from_json(json::parse(line), names), names).dump();
    } catch (const json::exception&) {
    } catch (const UsageError&) {
    }
    if (content.evaluations.empty()) {
      // The fast one is stricter with keys that stand twice and with numbers out of range, and may not be laxer.
      continue;
    }
    ++read;
    ASSERT_EQ(to_json(content.evaluations[0], names).dump(), other) << line;
  }
  EXPECT_GT(read, rounds / 4);
}

}  // namespace
}  // namespace wattune
