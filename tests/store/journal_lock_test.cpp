#include "store/journal_lock.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "sample.hpp"

namespace wattune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalLockTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder.path() / "journal.lock"; }
  [[nodiscard]] std::string error_of_acquiring() const {
    return message_of<RunError>([&] { JournalLock::acquire(file(), "the journal"); });
  }

  /// A lock of another holder, last touched that long ago.
  void write_lock(const LockHolder& holder, int seconds_ago) const {
    write_to(file(), json{{"host", holder.host},
                          {"pid", holder.pid},
                          {"start_time", holder.start_time},
                          {"boot", holder.boot},
                          {"pid_namespace", holder.pid_namespace},
                          {"token", holder.token}}
                         .dump());
    make_old(seconds_ago);
  }
  void make_old(int seconds_ago) const {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds_ago;
    const timespec times[2] = {now, now};
    ASSERT_EQ(::utimensat(AT_FDCWD, file().c_str(), times, 0), 0);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      result.push_back(entry.path().filename().string());
    }
    return result;
  }

  TemporaryFolder folder;
};

/// The number of a process that has ended.
pid_t dead_process() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  return pid;
}

TEST_F(JournalLockTest, NamesItsHolderAndGoesWithIt) {
  {
    const JournalLock lock = JournalLock::acquire(file(), "the journal");
    const json content = json::parse(content_of(file()));
    EXPECT_EQ(content["pid"], ::getpid());
    EXPECT_THAT(names(), ElementsAre("journal.lock"));
    EXPECT_THAT(error_of_acquiring(), HasSubstr("in use by process " + std::to_string(::getpid())));
  }
  EXPECT_THAT(names(), ::testing::IsEmpty());
}

TEST_F(JournalLockTest, OfADeadProcessIsTakenOver) {
  LockHolder holder = LockHolder::self();
  holder.pid = dead_process();
  write_lock(holder, 0);
  const JournalLock lock = JournalLock::acquire(file(), "the journal");
  EXPECT_EQ(json::parse(content_of(file()))["pid"], ::getpid());
  EXPECT_THAT(names(), ElementsAre("journal.lock"));
}

TEST_F(JournalLockTest, OfAProcessWhoseNumberWasGivenToAnotherIsTakenOver) {
  LockHolder holder = LockHolder::self();
  holder.start_time += 1;
  write_lock(holder, 0);
  const JournalLock lock = JournalLock::acquire(file(), "the journal");
  EXPECT_TRUE(lock.touch());
}

TEST_F(JournalLockTest, OfALiveProcessIsKeptHoweverOldItsHeartbeat) {
  write_lock(LockHolder::self(), 1000000);
  EXPECT_THAT(error_of_acquiring(), HasSubstr("in use by process"));
}

TEST_F(JournalLockTest, OfAnotherMachineIsJudgedByItsHeartbeat) {
  for (const bool same_host_name : {false, true}) {
    LockHolder holder = LockHolder::self();
    if (!same_host_name) holder.host = "elsewhere";
    holder.boot = "another boot";
    holder.pid = dead_process();
    write_lock(holder, 50);
    EXPECT_THAT(error_of_acquiring(), HasSubstr("on host '" + holder.host + "'"));
    write_lock(holder, 70);
    EXPECT_EQ(error_of_acquiring(), "no error");
  }
}

TEST_F(JournalLockTest, OfAnotherMachineIsKeptWhereTheFileServersClockWasPutBack) {
  LockHolder holder = LockHolder::self();
  holder.host = "elsewhere";
  write_lock(holder, -3600);
  EXPECT_THAT(error_of_acquiring(), AllOf(HasSubstr("on host 'elsewhere'"), HasSubstr("if it is surely gone, delete")));
}

TEST_F(JournalLockTest, WithoutSensibleContentIsJudgedByItsAge) {
  for (const char* content : {"", "{", "[]", R"({"host":"h"})"}) {
    write_to(file(), content);
    EXPECT_THAT(error_of_acquiring(), AllOf(HasSubstr("in use by another process"), HasSubstr("delete")));
    make_old(70);
    EXPECT_EQ(error_of_acquiring(), "no error");
  }
}

TEST_F(JournalLockTest, TouchRenewsTheHeartbeat) {
  const JournalLock lock = JournalLock::acquire(file(), "the journal");
  make_old(1000);
  struct stat before {};
  ::stat(file().c_str(), &before);
  EXPECT_TRUE(lock.touch());
  struct stat after {};
  ::stat(file().c_str(), &after);
  EXPECT_GE(after.st_mtim.tv_sec, before.st_mtim.tv_sec + 1000);
}

TEST_F(JournalLockTest, TouchNoticesThatTheLockWasTakenOver) {
  LockHolder other = LockHolder::self();
  other.host = "elsewhere";
  {
    const JournalLock lock = JournalLock::acquire(file(), "the journal");
    write_lock(other, 0);
    EXPECT_FALSE(lock.touch());
  }
  // And what is another's is left alone.
  EXPECT_EQ(json::parse(content_of(file()))["host"], "elsewhere");
  std::filesystem::remove(file());
  const JournalLock lock = JournalLock::acquire(file(), "the journal");
  std::filesystem::remove(file());
  EXPECT_FALSE(lock.touch());
}

TEST_F(JournalLockTest, AClaimLeftByAProcessKilledDuringATakeoverIsOvercome) {
  LockHolder dead = LockHolder::self();
  dead.pid = dead_process();
  write_lock(dead, 0);
  LockHolder dead_claimer = dead;
  dead_claimer.token = "abcd";
  std::filesystem::rename(file(), file().string() + ".aside");
  write_lock(dead_claimer, 0);
  std::filesystem::rename(file(), file().string() + "." + dead.token);
  std::filesystem::rename(file().string() + ".aside", file());
  const JournalLock lock = JournalLock::acquire(file(), "the journal");
  EXPECT_THAT(names(), ElementsAre("journal.lock"));
}

TEST_F(JournalLockTest, HasOneHolderHoweverManyContendAndDie) {
  // Each process takes the lock again and again; a third of the times it dies while it holds it. A file that only the
  // holder has shows whether two ever hold it at once.
  const auto inside = folder.path() / "inside";
  const auto count = folder.path() / "count";
  std::vector<pid_t> children;
  auto contend = [&](unsigned seed) {
    for (int i = 0; i < 60; ++i) {
      try {
        const JournalLock lock = JournalLock::acquire(file(), "the journal");
        const int fd = ::open(inside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0) ::_exit(2);
        const int tally = ::open(count.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (::write(tally, ".", 1) != 1) ::_exit(3);
        ::close(tally);
        ::close(fd);
        ::unlink(inside.c_str());
        seed = seed * 1664525U + 1013904223U;
        if ((seed >> 24) % 3 == 0) ::_exit(1);  // the lock stays behind
      } catch (const RunError&) {
        ::usleep(200);
      }
    }
    ::_exit(0);
  };
  int broken = 0;
  unsigned seed = 1;
  auto start = [&] {
    const pid_t pid = ::fork();
    if (pid == 0) contend(seed);
    ++seed;
    children.push_back(pid);
  };
  for (int i = 0; i < 6; ++i) start();
  int restarts = 60;
  while (!children.empty()) {
    int status = 0;
    const pid_t ended = ::wait(&status);
    std::erase(children, ended);
    if (WEXITSTATUS(status) > 1 || WIFSIGNALED(status)) ++broken;
    if (WEXITSTATUS(status) == 1 && restarts-- > 0) start();
  }
  EXPECT_EQ(broken, 0);
  EXPECT_GE(content_of(count).size(), 60U);
  { const JournalLock last = JournalLock::acquire(file(), "the journal"); }
  EXPECT_THAT(names(), ElementsAre("count"));
}

}  // namespace
}  // namespace wattune
