#include "base/subprocess.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../temporary_folder.hpp"
#include "base/error.hpp"

namespace wattune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double plenty = 60;  // seconds that no test needs

class SubprocessTest : public ::testing::Test {
 protected:
  SubprocessTest() { options.stderr_file = (folder / "output").string(); }

  Child shell(const std::string& script) const { return Child::start("/bin/sh", {"-c", script}, options); }
  /// What a script prints until it ends.
  std::string output_of(const std::string& script) const {
    Child child = shell(script);
    child.wait(plenty);
    return output();
  }
  [[nodiscard]] std::string output() const {
    std::ifstream stream(options.stderr_file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  ChildOptions options;
};

std::string error_of_starting(const std::string& program, const ChildOptions& options = {}) {
  try {
    Child::start(program, {}, options);
  } catch (const RunError& error) {
    return error.what();
  }
  return "no error";
}

/// Whether a process is gone or only waits to be reaped.
bool has_ended(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto close = line.rfind(") ");
  return close == std::string::npos || line[close + 2] == 'Z' || line[close + 2] == 'X';
}

TEST_F(SubprocessTest, FindsItsChannelAsDescriptorThree) {
  // The frame of the CBOR text "hi".
  Child child = shell("printf '\\003\\000\\000\\000\\142hi' >&3");
  EXPECT_EQ(child.channel().receive(), json("hi"));
  EXPECT_EQ(child.channel().receive(), std::nullopt);
  EXPECT_EQ(child.wait(plenty).text(), "exited with code 0");
}

TEST_F(SubprocessTest, WhatIsSentArrivesThere) {
  Child child = shell("head -c 7 <&3 | od -An -tx1");
  EXPECT_TRUE(child.channel().send("hi"));
  child.wait(plenty);
  EXPECT_THAT(output(), HasSubstr("03 00 00 00 62 68 69"));
}

TEST_F(SubprocessTest, AProgramThatCannotBeStartedIsNamed) {
  EXPECT_THAT(error_of_starting("/no/such/program"),
              AllOf(HasSubstr("cannot start the child process '/no/such/program'"), HasSubstr("No such file")));
  EXPECT_THAT(error_of_starting("/etc/passwd"), HasSubstr("Permission denied"));
  ChildOptions bad_output;
  bad_output.stderr_file = "/no/such/folder/output";
  EXPECT_THAT(error_of_starting("/bin/true", bad_output),
              AllOf(HasSubstr("its output file '/no/such/folder/output'"), HasSubstr("No such file")));
}

TEST_F(SubprocessTest, TheTextOfAnExitSaysHowItEnded) {
  EXPECT_EQ(shell("exit 0").wait(plenty).text(), "exited with code 0");
  EXPECT_EQ(shell("exit 3").wait(plenty).text(), "exited with code 3");
  EXPECT_EQ(shell("kill -SEGV $$").wait(plenty).text(), "was killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(shell("exec sleep 1000").wait(0).text(), "was killed by signal 9 (Killed)");
  EXPECT_EQ(shell("exec sleep 1000").kill().text(), "was killed by signal 9 (Killed)");
}

TEST_F(SubprocessTest, HowItEndedStaysKnown) {
  Child child = shell("exit 7");
  child.wait(plenty);
  EXPECT_EQ(child.kill().text(), "exited with code 7");
  EXPECT_EQ(child.wait(0).text(), "exited with code 7");
  const Child moved = std::move(child);
}

TEST_F(SubprocessTest, IsKilledTogetherWithWhatItStarted) {
  for (const bool by_destructor : {false, true}) {
    pid_t grandchild = 0;
    {
      // The CBOR of a 32-bit number: its process's.
      Child child = shell(
          "sleep 1000 & p=$!; printf '\\005\\000\\000\\000\\032' >&3; "
          "for s in 24 16 8 0; do printf \"\\\\$(printf %o $((p >> s & 255)))\" >&3; done; wait");
      const auto message = child.channel().receive();
      ASSERT_TRUE(message);
      grandchild = message->get<pid_t>();
      EXPECT_FALSE(has_ended(grandchild));
      if (!by_destructor) child.kill();
    }
    // SIGKILL has been sent; the process is only not gone yet.
    for (int i = 0; i < 10000 && !has_ended(grandchild); ++i) ::usleep(1000);
    EXPECT_TRUE(has_ended(grandchild));
  }
}

TEST_F(SubprocessTest, WhatItLeavesBehindEndsWithIt) {
  Child child = shell("sleep 1000 & echo $!");
  EXPECT_EQ(child.wait(plenty).text(), "exited with code 0");
  const auto left_behind = static_cast<pid_t>(std::stol(output()));
  for (int i = 0; i < 10000 && !has_ended(left_behind); ++i) ::usleep(1000);
  EXPECT_TRUE(has_ended(left_behind));
}

TEST_F(SubprocessTest, InheritsNoDescriptorButTheNamedOnes) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // as a careless library would
  const int high = ::fcntl(leaked, F_DUPFD, 200);
  // One by one: who lists the folder holds a descriptor of it.
  const std::string list =
      output_of("i=0; while [ $i -lt 300 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done");
  ::close(leaked);
  ::close(high);
  EXPECT_EQ(list, "0\n1\n2\n3\n");
}

TEST_F(SubprocessTest, ReadsNothingFromTheTerminal) {
  EXPECT_EQ(output_of("readlink /proc/$$/fd/0"), "/dev/null\n");
}

TEST_F(SubprocessTest, StartsWhereTheParentsOwnDescriptorsAreClosed) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Then the lowest free descriptors, which the channel and the pipe get, are those that a child has in fixed places.
    for (int fd = 0; fd < 10; ++fd) ::close(fd);
    int status = 1;
    try {
      Child child = shell("echo out; echo err >&2; printf '\\003\\000\\000\\000\\142hi' >&3");
      status = child.channel().receive() == json("hi") && child.wait(plenty).status == 0 ? 0 : 2;
    } catch (const std::exception&) {
      status = 3;
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(output(), "out\nerr\n");
}

TEST_F(SubprocessTest, OutputAndErrorsGoToTheFile) {
  EXPECT_EQ(output_of("echo out; echo err >&2"), "out\nerr\n");
}

TEST_F(SubprocessTest, TheLimitOfMemoryHolds) {
  options.memory_limit = 64U << 20;
  EXPECT_EQ(output_of("ulimit -d"), "65536\n");
}

TEST_F(SubprocessTest, AMemoryLimitBeyondTheParentsOwnIsThatOfTheParent) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    int status = 1;
    try {
      rlimit limit{};
      ::getrlimit(RLIMIT_DATA, &limit);
      limit.rlim_cur = limit.rlim_max = 1ULL << 46;
      ::setrlimit(RLIMIT_DATA, &limit);
      options.memory_limit = 1ULL << 50;
      status = output_of("ulimit -d") == std::to_string((1ULL << 46) / 1024) + "\n" ? 0 : 2;
    } catch (const std::exception&) {
      status = 3;
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SubprocessTest, NicenessIsAdded) {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  if (own > 15) GTEST_SKIP() << "this process is too nice already";
  options.niceness = 2;
  EXPECT_EQ(output_of("nice"), std::to_string(own + 2) + "\n");
  options.stderr_file += "2";
  options.niceness = 0;
  EXPECT_EQ(output_of("nice"), std::to_string(own) + "\n");
}

TEST_F(SubprocessTest, TheEnvironmentIsAddedToAndOverridden) {
  ::setenv("WATTUNE_TEST_KEPT", "kept", 1);
  ::setenv("WATTUNE_TEST_CHANGED", "before", 1);
  options.environment = {"WATTUNE_TEST_CHANGED=after", "WATTUNE_TEST_NEW=a=b"};
  EXPECT_EQ(output_of("echo $WATTUNE_TEST_KEPT $WATTUNE_TEST_CHANGED $WATTUNE_TEST_NEW"), "kept after a=b\n");
}

TEST_F(SubprocessTest, IsInAProcessGroupOfItsOwn) {
  Child child = shell("exec sleep 1000");
  EXPECT_EQ(::getpgid(child.pid()), child.pid());
}

TEST_F(SubprocessTest, ASignalThatTheParentBlocksReachesTheChild) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  Child child = shell("kill -TERM $$; exit 0");
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(child.wait(plenty).text(), HasSubstr("signal 15"));
}

TEST(OwnExecutable, IsThisTest) {
  EXPECT_EQ(std::filesystem::path(own_executable()).filename(), "wattune_base_test");
}

TEST(AvailableCores, AreAtLeastOneAndNoMoreThanThisProcessMayUse) {
  EXPECT_GE(available_cores(), 1U);
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_LE(available_cores(), static_cast<unsigned>(CPU_COUNT(&all)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cores(), 1U);
  ::sched_setaffinity(0, sizeof all, &all);
}

}  // namespace
}  // namespace wattune
