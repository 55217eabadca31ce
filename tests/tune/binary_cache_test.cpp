#include "tune/binary_cache.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "../temporary_folder.hpp"

namespace wattune {
namespace {

namespace fs = std::filesystem;

class BinaryCacheTest : public ::testing::Test {
 protected:
  static CompileOutcome binary(std::size_t bytes, std::uint8_t fill = 1) {
    CompileResult result;
    result.binary.assign(bytes, fill);
    result.entry = "kernel";
    result.resources["registers"] = 32;
    return result;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path() / "cache";
};

TEST_F(BinaryCacheTest, gives_back_what_was_kept) {
  BinaryCache cache(folder_);
  EXPECT_FALSE(cache.find("abcd"));
  cache.keep("abcd", binary(1000));
  const auto found = BinaryCache(folder_).find("abcd");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->binary, std::vector<std::uint8_t>(1000, 1));
  EXPECT_EQ((*found)->entry, "kernel");
  EXPECT_EQ((*found)->resources.at("registers"), 32);
}

TEST_F(BinaryCacheTest, keeps_the_refusals_of_compilers_too) {
  BinaryCache cache(folder_);
  cache.keep("abcd", tl::unexpected(Failure{Outcome::compile, "line 3: no"}));
  const auto found = cache.find("abcd");
  ASSERT_TRUE(found && !*found);
  EXPECT_EQ(found->error().message, "line 3: no");
}

TEST_F(BinaryCacheTest, takes_no_damaged_file_for_a_binary) {
  BinaryCache cache(folder_);
  cache.keep("abcd", binary(1000));
  const fs::path file = files().at(0);
  const auto size = fs::file_size(file);
  fs::resize_file(file, size - 1);
  EXPECT_FALSE(cache.find("abcd"));
  fs::resize_file(file, 0);
  EXPECT_FALSE(cache.find("abcd"));
  cache.keep("abcd", binary(1000));
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(size / 2))
      .put('x');
  EXPECT_FALSE(cache.find("abcd"));
}

TEST_F(BinaryCacheTest, stays_within_its_size_and_forgets_the_least_recently_used_first) {
  BinaryCache cache(folder_, 20000);
  for (int i = 0; i < 10; ++i) {
    cache.keep("key" + std::to_string(i), binary(1000));
    const auto file = folder_ / "ke" / ("key" + std::to_string(i));
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
  }
  EXPECT_TRUE(cache.find("key0"));  // used now
  for (int i = 10; i < 40; ++i) cache.keep("key" + std::to_string(i), binary(1000));
  std::uint64_t bytes = 0;
  for (const auto& file : files()) bytes += fs::file_size(file);
  EXPECT_LE(bytes, 20000U + 20000U / 16 + 2000U);
  EXPECT_FALSE(cache.find("key1"));
  EXPECT_TRUE(cache.find("key39"));
}

TEST_F(BinaryCacheTest, a_folder_that_cannot_be_written_costs_nothing_but_the_cache) {
  std::ofstream(folder_) << "a file stands here";
  BinaryCache cache(folder_);
  cache.keep("abcd", binary(10));
  EXPECT_FALSE(cache.find("abcd"));
}

TEST(BinaryCacheKey, depends_on_everything_that_a_binary_depends_on) {
  CompileRequest request;
  request.source = "source";
  request.kernel_name = "k";
  request.defines = {{"A", "1"}};
  request.options = {"-O"};
  request.includes_hash = "h";
  const auto key = [&](auto change) {
    CompileRequest changed = request;
    change(changed);
    return BinaryCache::key(changed, "nvrtc 13.0");
  };
  const auto same = key([](CompileRequest&) {});
  EXPECT_EQ(same, BinaryCache::key(request, "nvrtc 13.0"));
  EXPECT_NE(same, BinaryCache::key(request, "nvrtc 13.1"));
  EXPECT_NE(same, key([](CompileRequest& r) { r.source += " "; }));
  EXPECT_NE(same, key([](CompileRequest& r) { r.kernel_name = "k2"; }));
  EXPECT_NE(same, key([](CompileRequest& r) { r.defines[0].second = "2"; }));
  EXPECT_NE(same, key([](CompileRequest& r) { r.options.clear(); }));
  EXPECT_NE(same, key([](CompileRequest& r) { r.includes_hash = "i"; }));
  EXPECT_NE(same, key([](CompileRequest& r) { r.include_paths.emplace_back("/x"); }));
}

}  // namespace
}  // namespace wattune
