#include "tune/compile_pool.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.hpp"
#include "tune/backends.hpp"

namespace wattune {
namespace {

/// Compiles through the first OpenCL device; skipped where there is none.
class CompilePoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = make_backend("opencl")->devices().at(0).id;
    } catch (const std::exception& error) {
      GTEST_SKIP() << "no OpenCL device: " << error.what();
    }
  }

  CompileRequest request(const std::string& source) const {
    CompileRequest result;
    result.device = device_;
    result.source = source;
    result.file = "test.cl";
    result.kernel_name = "k";
    return result;
  }

  static std::shared_ptr<const CompileOutcome> wait_for(CompilePool& pool, const std::string& key) {
    const double deadline = monotonic_seconds() + 120;
    while (monotonic_seconds() < deadline) {
      pool.pump();
      if (auto outcome = pool.find(key)) return outcome;
      std::vector<pollfd> entries;
      pool.add_poll_entries(entries);
      ::poll(entries.data(), entries.size(), 100);
    }
    return nullptr;
  }

  std::string device_;
};

constexpr const char* good = "__kernel void k(__global int* x) { x[get_global_id(0)] = 1; }";

TEST_F(CompilePoolTest, compiles_each_key_once) {
  CompilePool pool({});
  const auto wanted = request(good);
  const auto key = CompilePool::key(wanted);
  pool.add(key, wanted);
  pool.add(key, wanted);
  const auto outcome = wait_for(pool, key);
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_FALSE((*outcome)->binary.empty());
  pool.add(key, wanted);
  pool.pump();
  EXPECT_FALSE(pool.busy());
  EXPECT_EQ(pool.compiled(), 1U);
}

TEST_F(CompilePoolTest, gives_the_compilers_message_for_a_source_that_does_not_build) {
  CompilePool pool({});
  const auto wanted = request("__kernel void k() { this_is_unknown(); }");
  pool.add("bad", wanted);
  const auto outcome = wait_for(pool, "bad");
  ASSERT_TRUE(outcome && !*outcome);
  EXPECT_EQ(outcome->error().outcome, Outcome::compile);
  EXPECT_NE(outcome->error().message.find("this_is_unknown"), std::string::npos);
}

TEST_F(CompilePoolTest, a_compilation_past_its_deadline_is_a_failure_of_that_variant_only) {
  const auto pipe = std::filesystem::path(::testing::TempDir()) / ("never_written_" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  CompilePoolOptions options;
  options.timeout_seconds = 5;
  CompilePool pool(options);
  pool.add("endless", request("#include \"" + pipe.string() + "\"\n" + good));  // waits for somebody who writes
  pool.add("good", request(good));
  const auto endless = wait_for(pool, "endless");
  const auto outcome = wait_for(pool, "good");
  std::filesystem::remove(pipe);
  ASSERT_TRUE(endless && !*endless);
  EXPECT_NE(endless->error().message.find("longer than"), std::string::npos);
  ASSERT_TRUE(outcome && *outcome);
}

TEST_F(CompilePoolTest, a_process_without_memory_costs_its_variant_only) {
  CompilePoolOptions options;
  options.memory_limit = 1 << 20;  // too little even to start
  CompilePool pool(options);
  pool.add("large", request(good));
  const auto outcome = wait_for(pool, "large");
  ASSERT_TRUE(outcome && !*outcome);
  EXPECT_EQ(outcome->error().outcome, Outcome::compile);
  EXPECT_NE(outcome->error().message.find("2 compiler processes died"), std::string::npos) << outcome->error().message;
}

TEST_F(CompilePoolTest, a_pause_does_not_count_against_the_deadline) {
  CompilePool pool({});
  pool.add("k", request(good));
  pool.pump();
  pool.pause();
  EXPECT_FALSE(pool.seconds_to_deadline());
  pool.pump();
  EXPECT_FALSE(pool.find("k"));
  pool.resume();
  const auto outcome = wait_for(pool, "k");
  ASSERT_TRUE(outcome && *outcome);
}

TEST_F(CompilePoolTest, makes_room_for_new_binaries_by_dropping_the_least_recently_used) {
  CompilePoolOptions options;
  options.kept_bytes = 1;
  CompilePool pool(options);
  pool.add("a", request(good));
  const auto a = wait_for(pool, "a");
  ASSERT_TRUE(a);
  pool.add("b", request(good));
  ASSERT_TRUE(wait_for(pool, "b"));
  EXPECT_FALSE(pool.find("a"));
  EXPECT_TRUE(*a);  // who holds it keeps it
}

}  // namespace
}  // namespace wattune
