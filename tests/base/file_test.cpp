#include "base/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"

namespace wattune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

std::string error_of_reading(const std::filesystem::path& path) {
  try {
    read_file(path, "the kernel's source");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FileDescriptorOwner, ClosesOnceWhoeverHoldsItInTheEnd) {
  FileDescriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_TRUE(is_open(fd));
  FileDescriptor third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_EQ(third.get(), fd);
  third.reset();
  EXPECT_FALSE(is_open(fd));
  EXPECT_FALSE(third);
  EXPECT_EQ(third.release(), -1);
}

TEST(ReadFile, GivesEveryByte) {
  const auto path = std::filesystem::temp_directory_path() / ("wattune-file-test-" + std::to_string(::getpid()));
  std::string content(200'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(read_file(path, "the test's file"), content);
  std::filesystem::remove(path);
  EXPECT_EQ(read_file("/dev/null", "nothing"), "");
  EXPECT_THAT(read_file("/proc/self/status", "a file that has no size"), HasSubstr("Pid:"));
}

TEST(ReadFile, ErrorsSayWhatWhichWhyAndWhatToDo) {
  EXPECT_THAT(error_of_reading("/no/such.cu"),
              AllOf(HasSubstr("cannot read the kernel's source '/no/such.cu': No such file or directory"),
                    HasSubstr("check the path")));
  EXPECT_THAT(error_of_reading("/tmp"), AllOf(HasSubstr("Is a directory"), HasSubstr("name a file, not a folder")));
}

TEST(ReadFile, AFileThatMayNotBeReadIsAnError) {
  const auto path = std::filesystem::temp_directory_path() / ("wattune-secret-test-" + std::to_string(::getpid()));
  std::ofstream(path) << "secret";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(77);
    const bool right =
        error_of_reading(path).find("Permission denied; make it readable for this user") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  std::filesystem::remove(path);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "cannot give up root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Errors, CarryTheExitCodeOfTheCommand) {
  EXPECT_EQ(UsageError("").code(), ExitCode::usage);
  EXPECT_EQ(DeviceError("").code(), ExitCode::device);
  EXPECT_EQ(RunError("").code(), ExitCode::run_failed);
}

TEST(Hash, IsStableAcrossRunsAndMachines) {
  // Journals and compile caches live by these.
  EXPECT_EQ(Hasher().add("abc").add(std::uint64_t{7}).hex(), Hasher().add("abc").add(std::uint64_t{7}).hex());
  EXPECT_EQ(Hasher().hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_THAT(Hasher().add("abc").hex(), ::testing::MatchesRegex("[0-9a-f]{32}"));
}

TEST(Hash, TellsFieldsApart) {
  EXPECT_NE(Hasher().add("ab").add("c").hex(), Hasher().add("a").add("bc").hex());
  EXPECT_NE(Hasher().add("").hex(), Hasher().hex());
  EXPECT_NE(Hasher().add("").hex(), Hasher().add(std::uint64_t{0}).hex());
  EXPECT_NE(Hasher().add(std::uint64_t{1}).hex(), Hasher().add(std::uint64_t{2}).hex());
}

TEST(Clock, TimestampsAreUtcWithMilliseconds) {
  EXPECT_THAT(utc_timestamp(),
              ::testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"));
}

TEST(Clock, MonotonicSecondsNeverGoBack) {
  const double before = monotonic_seconds();
  EXPECT_GE(monotonic_seconds(), before);
}

}  // namespace
}  // namespace wattune
