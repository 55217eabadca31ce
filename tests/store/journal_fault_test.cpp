// What happens to a journal when processes are killed, disks fill up and folders cannot be written.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "sample.hpp"
#include "store/journal.hpp"

namespace wattune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Runs an action in a process of its own, so that its limits and mounts end with it.
class Process {
 public:
  explicit Process(const std::function<void(int report)>& action) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      try {
        action(ends[1]);
      } catch (const std::exception& error) {
        say(ends[1], std::string("exception: ") + error.what() + "\n");
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    kill();
    ::close(output_);
  }

  static void say(int report, const std::string& text) {
    [[maybe_unused]] const auto n = ::write(report, text.data(), text.size());
  }

  /// The next bytes that it said; empty when it has ended.
  std::string hear() const {
    char buffer[4096];
    const ssize_t n = ::read(output_, buffer, sizeof buffer);
    return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
  }
  /// Everything that it says until it ends.
  std::string hear_all() const {
    std::string all;
    for (std::string part = hear(); !part.empty(); part = hear()) all += part;
    return all;
  }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

class JournalFaultTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return Journal::path_for(folder.path(), header); }
  TemporaryFolder folder;
  JournalHeader header = sample_header();
};

TEST_F(JournalFaultTest, KilledWhileItAppendsItLosesNothingThatWasAppended) {
  std::int64_t expected = 0;
  for (int round = 0; round < 5; ++round) {
    Process child([&](int report) {
      Journal journal = Journal::open(folder.path(), header);
      for (int i = static_cast<int>(journal.before().evaluations.size());; ++i) {
        journal.append(sample_evaluation(i));
        Process::say(report, ".");
      }
    });
    std::int64_t appended = 0;
    while (appended < 100 + 37 * round) appended += static_cast<std::int64_t>(child.hear().size());
    child.kill();
    appended += static_cast<std::int64_t>(child.hear_all().size());
    expected += appended;

    // The lock of the dead process is taken over, and what it had said to have appended is there.
    const Journal journal = Journal::open(folder.path(), header);
    const auto& evaluations = journal.before().evaluations;
    ASSERT_GE(evaluations.size(), static_cast<std::size_t>(expected));
    EXPECT_LE(evaluations.size(), static_cast<std::size_t>(expected + 1));
    for (std::size_t i = 0; i < evaluations.size(); ++i) ASSERT_EQ(evaluations[i].proposal, static_cast<int>(i));
    expected = static_cast<std::int64_t>(evaluations.size());
  }
}

TEST_F(JournalFaultTest, KilledWhileItIsMadeThereIsNoJournalOrAWholeHeader) {
  for (int round = 0; round < 30; ++round) {
    std::filesystem::remove(file());
    Process child([&](int report) {
      Process::say(report, ".");
      const Journal journal = Journal::open(folder.path(), header);
      ::pause();
    });
    child.hear();
    ::usleep(static_cast<useconds_t>(round * 100));
    child.kill();
    if (std::filesystem::exists(file())) {
      EXPECT_EQ(read_journal(file()).header.problem_hash, header.problem_hash);
    }
    const Journal journal = Journal::open(folder.path(), header);
    EXPECT_THAT(journal.before().warnings, IsEmpty());
  }
}

TEST_F(JournalFaultTest, BeyondTheLimitOfAFilesSizeNothingIsSpoiled) {
  Process child([&](int report) {
    ::signal(SIGXFSZ, SIG_IGN);
    Journal journal = Journal::open(folder.path(), header);
    journal.append(sample_evaluation(0));
    journal.flush();
    const auto size = std::filesystem::file_size(journal.file());
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    const rlimit limit{size + 50, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Process::say(report, message_of<RunError>([&] { journal.append(sample_evaluation(1)); }) + "\n");
    journal.flush();  // the error has been thrown already
    if (std::filesystem::file_size(journal.file()) != size) Process::say(report, "the file has grown\n");
    ::setrlimit(RLIMIT_FSIZE, &unlimited);
    journal.append(sample_evaluation(2));
    journal.flush();
  });
  EXPECT_THAT(child.hear_all(),
              AllOf(HasSubstr("cannot append to the journal '" + file().string() + "': File too large"),
                    HasSubstr("the results before are kept; raise the limit"), HasSubstr("run the same command again"),
                    ::testing::Not(HasSubstr("grown")), ::testing::Not(HasSubstr("exception"))));
  const JournalContent content = read_journal(file());
  ASSERT_THAT(content.evaluations, SizeIs(2));
  EXPECT_EQ(content.evaluations[1].proposal, 2);
  EXPECT_THAT(content.warnings, IsEmpty());
}

/// Mounts a file system of 64 KiB on a folder, seen by this process alone. @return false where that is not permitted.
bool mount_small(const std::filesystem::path& where) {
  std::filesystem::create_directories(where);
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", where.c_str(), "tmpfs", 0, "size=64k") == 0;
}

TEST_F(JournalFaultTest, OnAFullDiskNothingIsSpoiledAndItGoesOnWhenThereIsRoom) {
  const auto where = folder.path() / "small";
  Process child([&](int report) {
    if (!mount_small(where)) {
      Process::say(report, "not permitted");
      return;
    }
    int kept = 0;
    {
      Journal journal = Journal::open(where, header);
      std::string message = "no error";
      write_to(where / "ballast", std::string(20000, 'x'));
      for (; message == "no error" && kept < 1000; ++kept) {
        message = message_of<RunError>([&] { journal.append(sample_evaluation(kept)); });
      }
      --kept;
      Process::say(report, message + "\n");
      Process::say(report, message_of<RunError>([&] { journal.append(sample_evaluation(kept)); }) + "\n");
      const auto content = read_journal(journal.file());
      if (content.evaluations.size() != static_cast<std::size_t>(kept)) Process::say(report, "lost some\n");
      if (!content.warnings.empty()) Process::say(report, "spoiled\n");
      std::filesystem::remove(where / "ballast");
      journal.append(sample_evaluation(kept));
      journal.flush();
    }
    const Journal again = Journal::open(where, header);
    if (again.before().evaluations.size() != static_cast<std::size_t>(kept + 1))
      Process::say(report, "lost the last\n");
    write_to(where / "ballast", std::string(100000, 'x'));
    Process::say(report, message_of<RunError>([&] { Journal::open(where / "new", header); }) + "\n");
  });
  const std::string said = child.hear_all();
  if (said == "not permitted") GTEST_SKIP() << "mounting a small file system needs root";
  EXPECT_THAT(said, AllOf(HasSubstr("No space left on device; the results before are kept; free space"),
                          HasSubstr("cannot write the lock file"), ::testing::Not(HasSubstr("lost")),
                          ::testing::Not(HasSubstr("spoiled")), ::testing::Not(HasSubstr("exception"))));
}

TEST_F(JournalFaultTest, AFolderThatCannotBeWrittenIsAClearError) {
  Process child([&](int report) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
    // Root may write everywhere; nobody may not.
    if (::geteuid() == 0 && ::seteuid(65534) != 0) {
      Process::say(report, "not permitted");
      return;
    }
    Process::say(report, message_of<RunError>([&] { Journal::open(folder.path(), header); }) + "\n");
    Process::say(report, message_of<RunError>([&] { Journal::open(folder.path() / "new", header); }) + "\n");
  });
  const std::string said = child.hear_all();
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  if (said == "not permitted") GTEST_SKIP() << "cannot give up root";
  EXPECT_THAT(said, AllOf(HasSubstr("cannot write the lock file '" + file().string() + ".lock': Permission denied"),
                          HasSubstr("cannot write to the output folder '" + (folder.path() / "new").string() +
                                    "': Permission denied; name an output folder that this user may write to")));
}

TEST_F(JournalFaultTest, AReadOnlyFileSystemIsAClearError) {
  const auto where = folder.path() / "small";
  Process child([&](int report) {
    if (!mount_small(where) || ::mount("tmpfs", where.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=64k") != 0) {
      Process::say(report, "not permitted");
      return;
    }
    Process::say(report, message_of<RunError>([&] { Journal::open(where, header); }) + "\n");
  });
  const std::string said = child.hear_all();
  if (said == "not permitted") GTEST_SKIP() << "mounting a read-only file system needs root";
  EXPECT_THAT(said, HasSubstr("Read-only file system"));
}

TEST_F(JournalFaultTest, AFileInPlaceOfTheFolderIsAClearError) {
  write_to(folder.path() / "file", "");
  EXPECT_THAT(
      message_of<RunError>([&] { Journal::open(folder.path() / "file", header); }),
      HasSubstr("cannot write to the output folder '" + (folder.path() / "file").string() + "': Not a directory"));
}

TEST_F(JournalFaultTest, AJournalInUseByAnotherProcessIsRefusedAndNamed) {
  Process child([&](int report) {
    const Journal journal = Journal::open(folder.path(), header);
    Process::say(report, std::to_string(::getpid()));
    ::pause();
  });
  const std::string pid = child.hear();
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  EXPECT_THAT(
      message_of<RunError>([&] { Journal::open(folder.path(), header); }),
      AllOf(HasSubstr("the journal '" + file().string() + "' is in use by process " + pid + " on host '" + host),
            HasSubstr("wait until it ends or stop it"), HasSubstr("delete '" + file().string() + ".lock'")));
  child.kill();
  EXPECT_NO_THROW(Journal::open(folder.path(), header));
}

}  // namespace
}  // namespace wattune
