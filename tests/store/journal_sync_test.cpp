// The thread that puts a journal on disk, with a disk that does what the test says.

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "../temporary_folder.hpp"
#include "base/error.hpp"
#include "sample.hpp"
#include "store/journal.hpp"

namespace wattune {
namespace {

struct Disk {
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;  ///< syncs wait
  int waiting = 0;
  int failure = 0;  ///< errno of the next sync
} disk;

int sync_on_disk(int fd) {
  std::unique_lock lock(disk.mutex);
  ++disk.waiting;
  disk.changed.notify_all();
  disk.changed.wait(lock, [] { return !disk.held; });
  --disk.waiting;
  if (const int failure = std::exchange(disk.failure, 0)) {
    errno = failure;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

}  // namespace
}  // namespace wattune

// Stands before the C library's.
extern "C" int fdatasync(int fd) {
  return wattune::sync_on_disk(fd);
}

namespace wattune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(JournalSync, NeverHoldsWhoAppends) {
  const TemporaryFolder folder;
  Journal journal = Journal::open(folder.path(), sample_header());
  {
    std::unique_lock lock(disk.mutex);
    disk.held = true;
  }
  journal.append(sample_evaluation(0));
  {
    std::unique_lock lock(disk.mutex);
    disk.changed.wait(lock, [] { return disk.waiting > 0; });
  }
  // A sync is under way and does not end; these return all the same, and what they wrote can be read.
  for (int i = 1; i < 10; ++i) journal.append(sample_evaluation(i));
  EXPECT_THAT(read_journal(journal.file()).evaluations, SizeIs(10));
  {
    std::unique_lock lock(disk.mutex);
    disk.held = false;
  }
  disk.changed.notify_all();
  journal.flush();
}

TEST(JournalSync, AFailureSurfacesOnceFromFlush) {
  const TemporaryFolder folder;
  Journal journal = Journal::open(folder.path(), sample_header());
  {
    std::unique_lock lock(disk.mutex);
    disk.failure = EIO;
  }
  journal.append(sample_evaluation(0));
  EXPECT_THAT(message_of<RunError>([&] { journal.flush(); }),
              AllOf(HasSubstr("cannot put the journal '" + journal.file().string() + "' on disk: Input/output error"),
                    HasSubstr("check the disk"), HasSubstr("run the same command again")));
  EXPECT_NO_THROW(journal.flush());
  EXPECT_NO_THROW(journal.append(sample_evaluation(1)));
  EXPECT_NO_THROW(journal.flush());
}

TEST(JournalSync, AFailureSurfacesOnceFromTheNextAppendWhichIsWritten) {
  const TemporaryFolder folder;
  Journal journal = Journal::open(folder.path(), sample_header());
  {
    std::unique_lock lock(disk.mutex);
    disk.failure = EDQUOT;
    disk.held = true;
  }
  journal.append(sample_evaluation(0));
  {
    std::unique_lock lock(disk.mutex);
    disk.changed.wait(lock, [] { return disk.waiting > 0; });
    disk.held = false;
  }
  disk.changed.notify_all();
  // The thread reports the failure when it gets to it: appends succeed until then.
  std::string message = "no error";
  int appended = 1;
  for (; message == "no error"; ++appended) {
    message = message_of<RunError>([&] { journal.append(sample_evaluation(appended)); });
  }
  EXPECT_THAT(message, HasSubstr("quota"));
  EXPECT_NO_THROW(journal.flush());
  EXPECT_THAT(read_journal(journal.file()).evaluations, SizeIs(appended));
}

TEST(JournalSync, ClosingPutsEverythingOnDisk) {
  const TemporaryFolder folder;
  {
    Journal journal = Journal::open(folder.path(), sample_header());
    std::unique_lock lock(disk.mutex);
    disk.failure = EIO;
    lock.unlock();
    journal.append(sample_evaluation(0));
  }
  // The one sync has been made by then.
  std::unique_lock lock(disk.mutex);
  EXPECT_EQ(disk.failure, 0);
}

}  // namespace
}  // namespace wattune
