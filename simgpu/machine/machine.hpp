#pragma once
// The simulated machine as one process sees it: boards, their queues of work, contexts, faults. All of it lies in
// memory shared by processes; every public function takes the machine's lock for as long as it runs.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/board.hpp"
#include "machine/state.hpp"

namespace wattune::simgpu {

/// Work to queue. See QueueEntry.
struct Submission {
  std::array<WorkStep, most_steps> steps{};
  std::uint32_t step_count = 0;
  std::uint64_t repeats = 1;
  std::uint32_t event = none;
  std::int32_t error = 0;
  bool hangs = false;
};

/// What a process may do: WATTUNE_SIM_USER.
enum class User { root, ordinary };

class Machine {
 public:
  /// The machine that WATTUNE_SIM_STATE names; without it, one of this process's own. Made by whoever comes first, from
  /// WATTUNE_SIM_GPUS, WATTUNE_SIM_FAULTS and WATTUNE_SIM_REAL_TIME.
  /// @throws std::runtime_error, std::invalid_argument: one line that says what is wrong with file or variables.
  static Machine& instance();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] std::uint32_t board_count() const noexcept { return state_->board_count; }
  [[nodiscard]] const Description& description(std::uint32_t board) const noexcept { return *descriptions_[board]; }
  /// "h200", "h200:1" for the second of its model.
  [[nodiscard]] std::string board_name(std::uint32_t board) const;
  [[nodiscard]] std::uint32_t board_number(std::uint32_t board) const noexcept { return state_->boards[board].number; }
  [[nodiscard]] User user() const noexcept { return user_; }
  [[nodiscard]] bool lost(std::uint32_t board);

  // Device time.
  [[nodiscard]] double now(std::uint32_t board);
  /// A call that takes so long: what is queued goes on meanwhile.
  void spend(std::uint32_t board, double seconds);
  void sleep_until(std::uint32_t board, double time);

  // Contexts. Those of dead processes vanish.
  std::optional<std::uint32_t> open_context(std::uint32_t board);
  void close_context(std::uint32_t context);
  [[nodiscard]] std::int32_t context_error(std::uint32_t context);
  void poison_context(std::uint32_t context, std::int32_t error);
  void count_memory(std::uint32_t context, std::int64_t bytes);
  struct Process {
    std::int32_t pid;
    std::uint64_t memory;
  };
  [[nodiscard]] std::vector<Process> processes(std::uint32_t board);
  [[nodiscard]] std::uint64_t used_memory(std::uint32_t board);

  // Work.
  /// Queues; waits for room where the queue is full. @return the ticket by which to ask for it.
  std::uint64_t submit(std::uint32_t context, const Submission& submission);
  [[nodiscard]] bool finished(std::uint32_t board, std::uint64_t ticket);
  /// Until that has finished, or the context is poisoned. Never returns where it hangs.
  void wait(std::uint32_t context, std::uint64_t ticket);
  std::optional<std::uint32_t> open_event(std::uint32_t context);
  void close_event(std::uint32_t event);
  [[nodiscard]] double event_time(std::uint32_t event);

  /// The board and its slot, under the lock.
  template <typename Function>
  auto with_board(std::uint32_t board, Function function) {
    const Guard guard(*this);
    BoardSlot& slot = state_->boards[board];
    Board physics(*descriptions_[board], slot.state);
    return function(physics, slot);
  }

  // Faults.
  /// Counts that a call passes a point, and gives what is to go wrong, if anything. Crashes and losses happen here.
  std::optional<Fault> pass(std::string_view point, std::optional<std::uint32_t> board = std::nullopt);
  /// @throws std::invalid_argument as parse_faults(), or where there are too many.
  void add_faults(std::string_view text);

 private:
  /// Holds the machine's lock; repairs what a process left that died holding it.
  class Guard {
   public:
    explicit Guard(Machine& machine);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Machine& machine_;
  };

  Machine();
  void map(const std::string& file);
  void create();
  void find_descriptions();
  void apply_conditions(const Fault& fault);

  // The rest runs under the lock.
  [[nodiscard]] bool matches(const Fault& fault, std::optional<std::uint32_t> board) const;
  void advance(std::uint32_t board, double until, std::uint64_t until_ticket = UINT64_MAX);
  bool run_front(Board& physics, QueueEntry& entry, double until);
  void finish_front(Board& physics, BoardSlot& slot);
  void follow_real_time(std::uint32_t board);
  void remove_dead();
  void remove_dead_at_times();
  void close(std::uint32_t context);
  void update_context_count(std::uint32_t board);

  MachineState* state_ = nullptr;
  std::vector<const Description*> descriptions_;  ///< by board
  User user_ = User::root;
  std::int32_t pid_;
  std::uint64_t start_time_;
  double looked_for_dead_ = 0;
};

}  // namespace wattune::simgpu
