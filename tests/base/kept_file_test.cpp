#include "base/kept_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {
namespace {

namespace fs = std::filesystem;

constexpr KeptKind kind = {"thing", "WATTUNE_THING_DIR", "things", "wattune thing"};

class KeptFileTest : public ::testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(KeptFileTest, NamesHoldNothingThatLeadsOutOfTheFolder) {
  EXPECT_EQ(kept_file(folder_, "../GPU-1", "a b/c").parent_path(), folder_);
  EXPECT_EQ(kept_file(folder_, "GPU-1", "550.1").filename(), "GPU-1_550.1.json");
}

TEST_F(KeptFileTest, IsReplacedAsAWholeAndLeavesNothingBeside) {
  const fs::path file = folder_ / "made" / "a.json";
  EXPECT_FALSE(replace_file(file, "one"));
  EXPECT_FALSE(replace_file(file, "two"));
  EXPECT_EQ(read_file(file, "it"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()), 1);
}

TEST_F(KeptFileTest, WhatCannotBeWrittenIsTold) {
  std::ofstream(folder_ / "plain") << "no folder";
  EXPECT_TRUE(replace_file(folder_ / "plain" / "a.json", "text"));
}

TEST_F(KeptFileTest, JsonIsKeptForABoardAndDriverAndReadBack) {
  const nlohmann::json object = {{"a", 1}};
  const fs::path file = keep_json(kind, folder_, "GPU-1", "550", object);
  EXPECT_EQ(file, kept_file(folder_, "GPU-1", "550"));
  EXPECT_EQ(read_kept_json(kind, file), object);
  EXPECT_EQ(passed_over_text(kind, "a.json", "it is odd"),
            "the thing 'a.json' is not used: it is odd; 'wattune thing' makes it anew");
}

TEST_F(KeptFileTest, WhatCannotBeKeptNamesFileAndVariable) {
  std::ofstream(folder_ / "plain") << "no folder";
  for (const fs::path& folder : {folder_ / "plain", fs::path()}) {
    try {
      keep_json(kind, folder, "GPU-1", "550", {});
      FAIL();
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find("WATTUNE_THING_DIR"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(folder.string()), std::string::npos) << error.what();
    }
  }
}

TEST_F(KeptFileTest, WhatIsNoJsonOrNoFileIsRefused) {
  std::ofstream(folder_ / "torn.json") << "{\"a\": ";
  EXPECT_THROW(read_kept_json(kind, folder_ / "torn.json"), UsageError);
  EXPECT_THROW(read_kept_json(kind, folder_), UsageError);
}

TEST_F(KeptFileTest, TheFolderIsTheOneThatAVariableNames) {
  ::setenv("WATTUNE_KEPT_TEST_DIR", "/some/where", 1);
  EXPECT_EQ(kept_folder("WATTUNE_KEPT_TEST_DIR", "things"), "/some/where");
  ::unsetenv("WATTUNE_KEPT_TEST_DIR");
  ::setenv("WATTUNE_CACHE_DIR", "/cache", 1);
  EXPECT_EQ(kept_folder("WATTUNE_KEPT_TEST_DIR", "things"), "/cache/things");
  ::unsetenv("WATTUNE_CACHE_DIR");
}

}  // namespace
}  // namespace wattune
