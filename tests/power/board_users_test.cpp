#include "power/nvml/board_users.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.hpp"

namespace wattune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* uuid = "GPU-11111111-1111-1111-1111-111111111111";
constexpr unsigned no_such_process = 4'194'000;  // more than there can be by default

class BoardUsersTest : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = {};
    fake_.boards.push_back({uuid, "0000:01:00.0"});
  }
  void put_on_board(std::vector<unsigned> pids) {
    fake_.boards[0].processes.clear();
    for (const unsigned pid : pids) fake_.boards[0].processes.push_back({pid});
  }
  static BoardUsers open(const std::string& of = uuid, const std::string& pci = "") {
    return BoardUsers(of, pci, fake_library("fake_nvml").string());
  }
  static unsigned self() { return static_cast<unsigned>(::getpid()); }

  FakeNvml& fake_ = fake_state<FakeNvml>(fake_library("fake_nvml"));
};

TEST_F(BoardUsersTest, are_none_where_only_this_process_computes) {
  put_on_board({self()});
  const auto others = open().others();
  ASSERT_TRUE(others);
  EXPECT_THAT(*others, IsEmpty());
}

TEST_F(BoardUsersTest, are_told_by_name_and_number) {
  put_on_board({self(), static_cast<unsigned>(::getppid()), no_such_process});
  const auto others = open("", "0000:01:00.0").others();
  ASSERT_TRUE(others);
  EXPECT_THAT(*others, ElementsAre(HasSubstr("(pid " + std::to_string(::getppid()) + ")"), "pid 4194000"));
}

TEST_F(BoardUsersTest, are_told_however_many_they_are) {
  std::vector<unsigned> pids = {self()};
  for (unsigned i = 0; i < 100; ++i) pids.push_back(no_such_process + i);
  put_on_board(pids);
  EXPECT_EQ(open().others().value().size(), 100U);
}

TEST_F(BoardUsersTest, that_this_process_started_are_others_unless_it_coordinates_them) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  put_on_board({self(), static_cast<unsigned>(child)});
  const auto others = open().others();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(others);
  EXPECT_EQ(others->size(), 1U);
}

TEST_F(BoardUsersTest, are_not_known_where_this_process_is_not_listed_itself) {
  put_on_board({});
  EXPECT_FALSE(open().others());
  put_on_board({no_such_process});
  EXPECT_FALSE(open().others());
}

TEST_F(BoardUsersTest, are_not_known_where_nvml_does_not_say) {
  put_on_board({self()});
  fake_.failures["nvmlDeviceGetComputeRunningProcesses_v3"] = NvmlResult::no_permission;
  EXPECT_FALSE(open().others());
  EXPECT_FALSE(open("GPU-99999999-0000-0000-0000-000000000000", "").others());
  EXPECT_FALSE(BoardUsers(uuid, "", "/no/such/library.so").others());
}

/// A coordinator and its workers are the same program: what one of them asks does not take the other for a stranger.
TEST_F(BoardUsersTest, are_not_the_other_children_of_the_same_coordinator) {
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t compiler = ::fork();
  if (compiler == 0) {
    ::pause();
    ::_exit(0);
  }
  const pid_t worker = ::fork();
  if (worker == 0) {
    put_on_board({self(), static_cast<unsigned>(compiler)});
    const auto others = open().others();
    const char answer = others && others->empty() ? 'y' : 'n';
    ::_exit(::write(channel[1], &answer, 1) == 1 ? 0 : 1);
  }
  char answer = '?';
  EXPECT_EQ(::read(channel[0], &answer, 1), 1);
  ::kill(compiler, SIGKILL);
  ::waitpid(compiler, nullptr, 0);
  ::waitpid(worker, nullptr, 0);
  ::close(channel[0]);
  ::close(channel[1]);
  EXPECT_EQ(answer, 'y');
}

}  // namespace
}  // namespace wattune
