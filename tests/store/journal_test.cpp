#include "store/journal.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "sample.hpp"

namespace wattune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return Journal::path_for(folder.path(), header); }

  /// A journal of evaluations 0 to count - 1.
  void make(int count) const {
    Journal journal = Journal::open(folder.path(), header);
    for (int i = 0; i < count; ++i) journal.append(sample_evaluation(i));
    journal.flush();
  }

  [[nodiscard]] std::vector<std::int64_t> proposals() const { return proposals_of(read_journal(file())); }
  static std::vector<std::int64_t> proposals_of(const JournalContent& content) {
    std::vector<std::int64_t> result;
    for (const auto& evaluation : content.evaluations) result.push_back(evaluation.proposal);
    return result;
  }

  TemporaryFolder folder;
  JournalHeader header = sample_header();
};

TEST_F(JournalTest, WhatWasAppendedIsReadBack) {
  make(3);
  const JournalContent content = read_journal(file());
  EXPECT_THAT(content.warnings, IsEmpty());
  ASSERT_THAT(content.evaluations, SizeIs(3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(to_json(content.evaluations[static_cast<std::size_t>(i)], header.parameter_names),
              to_json(sample_evaluation(i), header.parameter_names));
  }
}

TEST_F(JournalTest, TheHeaderIsReadBack) {
  make(0);
  const JournalHeader read = read_journal(file()).header;
  EXPECT_EQ(read.problem_hash, header.problem_hash);
  EXPECT_EQ(read.problem_name, header.problem_name);
  EXPECT_EQ(read.problem_file, header.problem_file);
  EXPECT_EQ(read.parameter_names, header.parameter_names);
  EXPECT_EQ(read.parameter_values, header.parameter_values);
  EXPECT_EQ(read.parameter_kinds, header.parameter_kinds);
  EXPECT_EQ(read.restrictions, header.restrictions);
  EXPECT_EQ(read.problem_size, header.problem_size);
  EXPECT_EQ(read.device_name, header.device_name);
  EXPECT_EQ(read.device_id, header.device_id);
  EXPECT_EQ(read.board, header.board);
  EXPECT_EQ(read.backend, header.backend);
  EXPECT_EQ(read.driver, header.driver);
  EXPECT_EQ(read.compiler, header.compiler);
  EXPECT_EQ(read.meter, header.meter);
  EXPECT_EQ(read.host, header.host);
  EXPECT_EQ(read.seed, header.seed);
  EXPECT_EQ(read.strategy, header.strategy);
  EXPECT_EQ(read.version, header.version);
  EXPECT_EQ(read.created, header.created);
}

TEST_F(JournalTest, EveryLineIsJsonWithTheDocumentedKeys) {
  make(2);
  std::istringstream lines(content_of(file()));
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, ::testing::StartsWith(R"({"wattune_journal":1,"problem":)"));
  while (std::getline(lines, line)) {
    const json object = json::parse(line);
    EXPECT_EQ(object["configuration"]["block"], 32);
    EXPECT_EQ(object["quantities"]["energy"]["flags"], json::array({"power_capped"}));
  }
}

TEST_F(JournalTest, TheNameOfTheFileIsSafeAndTellsProblemsApart) {
  header.problem_name = "../a b/ü";
  EXPECT_THAT(file().filename().string(), ::testing::MatchesRegex("_._a_b___-[0-9a-f]+\\.jsonl"));
  const auto before = file();
  header.device_name = "Other GPU";
  EXPECT_NE(file(), before);
}

TEST_F(JournalTest, OpenedAgainItKnowsWhatItHeldAndGoesOn) {
  make(2);
  {
    Journal journal = Journal::open(folder.path(), header);
    EXPECT_THAT(proposals_of(journal.before()), ElementsAre(0, 1));
    EXPECT_THAT(journal.notes(), IsEmpty());
    journal.append(sample_evaluation(2));
  }
  EXPECT_THAT(proposals(), ElementsAre(0, 1, 2));
}

TEST_F(JournalTest, MakesTheFolder) {
  const auto nested = folder.path() / "a" / "b";
  const Journal journal = Journal::open(nested, header);
  EXPECT_TRUE(std::filesystem::exists(journal.file()));
}

TEST_F(JournalTest, LeavesNothingBesideTheJournal) {
  make(2);
  make(0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ElementsAre(file().filename().string()));
}

TEST_F(JournalTest, ATornLastLineIsCutOffWithAWarning) {
  make(2);
  const std::string whole = content_of(file());
  const std::size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (const std::size_t length : {last_line + 1, last_line + 20, whole.size() - 2}) {
    write_to(file(), whole.substr(0, length));
    const Journal journal = Journal::open(folder.path(), header);
    EXPECT_THAT(proposals_of(journal.before()), ElementsAre(0));
    EXPECT_THAT(journal.before().warnings,
                ElementsAre(AllOf(HasSubstr("last line (3) is incomplete"), HasSubstr(".jsonl"))));
    EXPECT_EQ(content_of(file()), whole.substr(0, last_line));
  }
}

TEST_F(JournalTest, ALastLineThatLacksOnlyItsNewlineCounts) {
  make(2);
  const std::string whole = content_of(file());
  write_to(file(), whole.substr(0, whole.size() - 1));
  Journal journal = Journal::open(folder.path(), header);
  EXPECT_THAT(proposals_of(journal.before()), ElementsAre(0, 1));
  EXPECT_THAT(journal.before().warnings, IsEmpty());
  journal.append(sample_evaluation(2));
  EXPECT_THAT(proposals(), ElementsAre(0, 1, 2));
}

TEST_F(JournalTest, AHeaderThatLacksOnlyItsNewlineCounts) {
  make(0);
  const std::string whole = content_of(file());
  write_to(file(), whole.substr(0, whole.size() - 1));
  Journal journal = Journal::open(folder.path(), header);
  journal.append(sample_evaluation(0));
  EXPECT_THAT(proposals(), ElementsAre(0));
}

TEST_F(JournalTest, DamagedLinesAreSkippedWithTheirNumbers) {
  make(1);
  const std::string good = content_of(file());
  const std::string line = good.substr(good.find('\n') + 1);
  auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = line;
    const auto place = copy.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return copy.replace(place, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {std::string(200, '\0') + "\n", "line 2"},
      {line.substr(0, 50) + line, "line 2"},
      {"[1,2]\n", "key 'line' is not an object"},
      {changed("\"outcome\":\"ok\"", "\"outcome\":\"fine\""), "'outcome' is no known outcome"},
      {changed("\"outcome\":\"ok\"", "\"outcomes\":\"ok\""), "'outcome' is missing"},
      {changed("\"configuration\":", "\"configurations\":"), "'configuration' is missing"},
      {changed("\"block\":32", "\"blick\":32"), "'blick' is no parameter"},
      {changed("\"block\":32", "\"block\":null"), "'block' is no value of a parameter"},
      {changed("\"block\":32,", ""), "does not have every parameter"},
      {changed("\"block\":32", "\"block\":32,\"block\":64"), "'block' stands twice"},
      {changed("\"trial\":0", "\"trial\":\"0\""), "'trial' is not an integer"},
      {changed("\"value\":0.25", "\"value\":NaN"), "line 2"},
      {changed(",\"value\":0.25", ""), "key 'energy' has no value"},
  };
  for (const auto& [text, reason] : cases) {
    write_to(file(), good.substr(0, good.find('\n') + 1) + text + line);
    const Journal journal = Journal::open(folder.path(), header);
    EXPECT_THAT(proposals_of(journal.before()), ElementsAre(0)) << text;
    EXPECT_THAT(journal.before().warnings, ElementsAre(AllOf(HasSubstr("line 2 is damaged"), HasSubstr(reason))));
  }
}

TEST_F(JournalTest, AValueThatWasChangedInALineIsFoundOut) {
  make(3);
  const std::string good = content_of(file());
  const std::string from = R"("value":0.001001)";  // the time of evaluation 1, in line 3
  ASSERT_NE(good.find(from), std::string::npos);
  std::string text = good;
  write_to(file(), text.replace(text.find(from), from.size(), R"("value":0.000001)"));
  const JournalContent content = read_journal(file());
  EXPECT_THAT(proposals_of(content), ElementsAre(0, 2));
  EXPECT_THAT(content.warnings, ElementsAre(AllOf(HasSubstr(file().string()), HasSubstr("line 3"),
                                                  HasSubstr("does not count"), HasSubstr("checksum"))));
}

TEST_F(JournalTest, ALineThatAnotherProgramHasWrittenAnewDoesNotCount) {
  make(1);
  const std::string good = content_of(file());
  const auto begin = good.find('\n') + 1;
  json line = json::parse(good.substr(begin));
  write_to(file(), good.substr(0, begin) + line.dump() + "\n");  // sorts the keys
  EXPECT_THAT(read_journal(file()).warnings, ElementsAre(HasSubstr("checksum")));
  line.erase("check");
  write_to(file(), good.substr(0, begin) + line.dump() + "\n");
  EXPECT_THAT(read_journal(file()).warnings, IsEmpty());
  EXPECT_THAT(proposals(), ElementsAre(0));
}

TEST_F(JournalTest, ManyDamagedLinesAreCounted) {
  make(1);
  std::string text = content_of(file());
  for (int i = 0; i < 100; ++i) text += "{]\n";
  write_to(file(), text);
  const JournalContent content = read_journal(file());
  EXPECT_THAT(content.warnings, SizeIs(21));
  EXPECT_THAT(content.warnings.back(), HasSubstr("80 more damaged lines"));
}

TEST_F(JournalTest, EmptyLinesAndUnknownKeysAreNoDamage) {
  make(1);
  std::string text = content_of(file());
  // As an earlier version wrote it, without a checksum, or as a later one might.
  const auto check = text.rfind(R"(,"check":)");
  text.replace(check, text.size() - 2 - check, R"(,"from_a_later_version":{"a":[1]})");
  write_to(file(), text + "\n\r\n");
  const JournalContent content = read_journal(file());
  EXPECT_THAT(content.evaluations, SizeIs(1));
  EXPECT_THAT(content.warnings, IsEmpty());
}

TEST_F(JournalTest, ADamagedHeaderIsAClearError) {
  make(1);
  const std::string text = content_of(file());
  auto error = [&](const std::string& content) {
    write_to(file(), content);
    return message_of<UsageError>([&] { read_journal(file()); });
  };
  EXPECT_THAT(error(""), AllOf(HasSubstr(file().string()), HasSubstr("line 1 is no journal header")));
  EXPECT_THAT(error(text.substr(10)), HasSubstr("no journal header"));
  EXPECT_THAT(error(text.substr(0, 100)), HasSubstr("no journal header"));
  EXPECT_THAT(error("{\"wattune_journal\":1}\n"), HasSubstr("header in line 1 is damaged"));
  EXPECT_THAT(error("{\"wattune_journal\":7}\n"),
              AllOf(HasSubstr("format 7"), HasSubstr("use the version that wrote it")));
  EXPECT_THAT(message_of<UsageError>([&] { Journal::open(folder.path(), header); }), HasSubstr("format 7"));
  std::string changed = text;
  EXPECT_THAT(error(changed.replace(changed.find("\"block\""), 7, "\"tile\"")), HasSubstr("'tile' stands twice"));
  changed = text;
  EXPECT_THAT(error(changed.replace(changed.find("18446744073709551615"), 20, "1e300")), HasSubstr("'seed'"));
}

TEST_F(JournalTest, WhatCannotBeReadIsNamed) {
  EXPECT_THAT(message_of<UsageError>([&] { read_journal(folder.path() / "none.jsonl"); }),
              AllOf(HasSubstr("none.jsonl"), HasSubstr("No such file"), HasSubstr("check the path")));
  EXPECT_THAT(message_of<UsageError>([&] { read_journal(folder.path()); }), HasSubstr("Is a directory"));
}

TEST_F(JournalTest, OfEvaluationsWithOneKeyTheLastCounts) {
  {
    Journal journal = Journal::open(folder.path(), header);
    for (int i = 0; i < 3; ++i) journal.append(sample_evaluation(i));
    Evaluation again = sample_evaluation(1);
    again.proposal = 10;
    again.board = "GPU-2";  // another board of the same model
    journal.append(again);
    again.proposal = 11;
    again.trial = 1;
    journal.append(again);
    again.proposal = 12;
    again.tier = "final";
    journal.append(again);
  }
  EXPECT_THAT(proposals(), ElementsAre(0, 2, 10, 11, 12));
}

TEST_F(JournalTest, ReferencesCountPerBoard) {
  {
    Journal journal = Journal::open(folder.path(), header);
    for (const char* tier : {"reference", "calibration"}) {
      Evaluation evaluation = sample_evaluation(0);
      evaluation.tier = tier;
      journal.append(evaluation);
      evaluation.board = "GPU-2";
      journal.append(evaluation);
    }
  }
  EXPECT_THAT(read_journal(file()).evaluations, SizeIs(4));
}

TEST_F(JournalTest, AMessageThatIsNoUtf8IsKeptReadable) {
  Evaluation evaluation = sample_evaluation(0);
  evaluation.outcome = Outcome::compile;
  evaluation.message = "error: \xff\xfe line 1\nline 2 \"quoted\" \x01";
  {
    Journal journal = Journal::open(folder.path(), header);
    journal.append(evaluation);
  }
  const JournalContent content = read_journal(file());
  ASSERT_THAT(content.evaluations, SizeIs(1));
  EXPECT_THAT(content.evaluations[0].message, AllOf(HasSubstr("\nline 2 \"quoted\" \x01"), HasSubstr("error: ")));
}

TEST_F(JournalTest, ThreadsMayAppendAtOnce) {
  {
    Journal journal = Journal::open(folder.path(), header);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) journal.append(sample_evaluation(100 * t + i));
        journal.flush();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_THAT(proposals(), SizeIs(200));
}

TEST_F(JournalTest, ManyLinesAreReadInTheirOrder) {
  // Enough for several threads to read.
  make(1);
  const std::string start = content_of(file());
  const json line = to_json(sample_evaluation(0), header.parameter_names);
  std::string text = start.substr(0, start.find('\n') + 1);
  constexpr int count = 30000;
  for (int i = 0; i < count; ++i) {
    json copy = line;
    copy["configuration"]["tile"] = i;
    copy["proposal"] = i;
    text += i == 20000 ? std::string("{damaged\n") : copy.dump() + "\n";
  }
  write_to(file(), text);
  const JournalContent content = read_journal(file());
  ASSERT_THAT(content.evaluations, SizeIs(count - 1));
  EXPECT_THAT(content.warnings, ElementsAre(HasSubstr("line 20002 is damaged")));
  EXPECT_TRUE(std::is_sorted(content.evaluations.begin(), content.evaluations.end(),
                             [](const auto& a, const auto& b) { return a.proposal < b.proposal; }));
}

TEST_F(JournalTest, OnlyTheSameProblemDeviceModelAndParametersAreResumed) {
  auto conflict = [&](auto change) {
    JournalHeader other = header;
    change(other);
    return header.conflict_with(other).value_or("none");
  };
  EXPECT_EQ(conflict([](auto&) {}), "none");
  EXPECT_EQ(conflict([](auto& h) { h.board = "GPU-2", h.driver = "551", h.seed = 3, h.host = "node2"; }), "none");
  EXPECT_THAT(conflict([](auto& h) { h.problem_hash = "ff"; }),
              AllOf(HasSubstr("another version of the problem"), HasSubstr("ff")));
  EXPECT_THAT(conflict([](auto& h) { h.device_name = "Other GPU"; }),
              HasSubstr("device 'Example GPU', not 'Other GPU'"));
  EXPECT_THAT(conflict([](auto& h) { h.backend = "opencl"; }), HasSubstr("backend cuda, not opencl"));
  EXPECT_THAT(conflict([](auto& h) { h.simulated = true; }), HasSubstr("not a simulated one"));
  EXPECT_THAT(conflict([](auto& h) { h.parameter_names[0] = "tiles"; }), HasSubstr("tile, block, unroll, not tiles"));
  EXPECT_THAT(conflict([](auto& h) { h.parameter_values[1].pop_back(); }),
              HasSubstr("parameter block takes [32, 64], not [32]"));
}

TEST_F(JournalTest, AJournalOfAnotherDeviceUnderItsNameIsRefused) {
  make(1);
  JournalHeader other = header;
  other.device_name = "Other GPU";
  std::filesystem::rename(file(), Journal::path_for(folder.path(), other));
  const std::string before = content_of(Journal::path_for(folder.path(), other));
  EXPECT_THAT(message_of<UsageError>([&] { Journal::open(folder.path(), other); }),
              AllOf(HasSubstr("cannot go on with the journal"), HasSubstr("'Example GPU'"), HasSubstr("move it away")));
  EXPECT_EQ(content_of(Journal::path_for(folder.path(), other)), before);
}

TEST_F(JournalTest, AnEditedKernelOpensANewJournalAndSaysSo) {
  make(1);
  const auto old_file = file();
  header.problem_hash = "ffff456789abcdef0123456789abcdef";
  const Journal journal = Journal::open(folder.path(), header);
  EXPECT_NE(journal.file(), old_file);
  EXPECT_THAT(journal.before().evaluations, IsEmpty());
  EXPECT_THAT(journal.notes(), ElementsAre(AllOf(HasSubstr("a new journal"), HasSubstr(old_file.string()),
                                                 HasSubstr("another version of the problem"))));
}

TEST_F(JournalTest, AnotherBoardOrDriverOfTheSameModelGoesOn) {
  make(1);
  header.board = "GPU-2";
  header.driver = "551.0";
  const Journal journal = Journal::open(folder.path(), header);
  EXPECT_THAT(journal.before().evaluations, SizeIs(1));
  EXPECT_EQ(journal.before().header.board, "GPU-1");
  EXPECT_THAT(journal.notes(), ElementsAre(AllOf(HasSubstr("driver '550.1'"), HasSubstr("'551.0'"))));
}

}  // namespace
}  // namespace wattune
