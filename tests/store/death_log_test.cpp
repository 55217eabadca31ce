#include "store/death_log.hpp"

#include <gtest/gtest.h>

#include "../temporary_folder.hpp"
#include "sample.hpp"

namespace wattune {
namespace {

class DeathLogTest : public ::testing::Test {
 protected:
  [[nodiscard]] DeathLog open() const { return {folder.path() / "run.jsonl", {"tile", "block", "unroll"}}; }
  [[nodiscard]] std::filesystem::path file() const { return folder.path() / "run.jsonl.deaths"; }

  TemporaryFolder folder;
  const std::vector<Value> bad = sample_evaluation(1).configuration;
  const std::vector<Value> other = sample_evaluation(2).configuration;
};

TEST_F(DeathLogTest, there_is_no_file_while_there_is_nothing_to_say) {
  DeathLog log = open();
  EXPECT_EQ(log.count(bad), 0);
  log.forget(bad);
  EXPECT_FALSE(std::filesystem::exists(file()));
  log.add(bad);
  EXPECT_TRUE(std::filesystem::exists(file()));
  log.forget(bad);
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(DeathLogTest, counts_over_the_end_of_a_process) {
  open().add(bad);
  open().add(other);
  open().add(bad);
  EXPECT_EQ(open().count(bad), 2);
  EXPECT_EQ(open().count(other), 1);
  open().forget(bad);
  EXPECT_EQ(open().count(bad), 0);
  EXPECT_EQ(open().count(other), 1);
}

TEST_F(DeathLogTest, what_cannot_be_read_is_as_if_it_were_not_there) {
  open().add(bad);
  write_to(file(), "no JSON\n{\"configuration\":{\"tile\":1},\"workers\":1}\n" + content_of(file()) + "{\"conf");
  EXPECT_EQ(open().count(bad), 1);
  EXPECT_EQ(open().count(other), 0);
}

TEST_F(DeathLogTest, what_cannot_be_written_is_known_all_the_same) {
  DeathLog log(folder.path() / "missing" / "run.jsonl", {"tile", "block", "unroll"});
  log.add(bad);
  EXPECT_EQ(log.count(bad), 1);
}

}  // namespace
}  // namespace wattune
