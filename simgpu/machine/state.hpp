#pragma once
// What all processes share of the simulated machine: plain data in one memory-mapped file.

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "board/board.hpp"
#include "machine/fault.hpp"

namespace wattune::simgpu {

inline constexpr std::size_t most_boards = 16;
inline constexpr std::size_t most_contexts = 64;
inline constexpr std::size_t most_events = 4096;
inline constexpr std::size_t most_faults = 64;
inline constexpr std::size_t queue_capacity = 2048;
inline constexpr std::uint32_t none = UINT32_MAX;

/// Launches of one kernel in a row.
struct WorkStep {
  Work work;
  std::uint64_t count;
};
/// More steps than this that differ need several entries.
inline constexpr std::size_t most_steps = 8;

/// What waits on a board, in the order of submission: launches, or the record of an event.
struct QueueEntry {
  std::uint32_t context;                   ///< slot
  std::uint32_t event;                     ///< slot of the event that this records; none: this is work
  std::array<WorkStep, most_steps> steps;  ///< run in turn, `repeats` times
  std::uint32_t step_count;                ///< 0: nothing (left, its owner has died)
  std::uint32_t step;                      ///< under way
  double left;                             ///< of it
  std::uint64_t repeats;                   ///< left
  std::int32_t error;                      ///< CUresult that the context is left with once this has run; 0: none
  bool hangs;                              ///< never ends
};

/// A context and the process that owns it.
struct ContextSlot {
  std::int32_t pid;  ///< 0: free
  std::uint32_t board;
  std::uint64_t start_time;  ///< of the process, in ticks since boot: a pid may be used again
  std::uint64_t memory;      ///< bytes allocated
  std::int32_t error;        ///< CUresult by which it is poisoned; 0: none
};

struct EventSlot {
  std::uint32_t context;  ///< slot of the owner; none: free
  double time;            ///< when it was reached, device time
};

/// One board of the machine. Entries of its queue are numbered from 0 ("tickets") and leave it in that order.
struct BoardSlot {
  std::array<char, 64> model;       ///< Description::id
  std::uint32_t number;             ///< among the boards of its model
  bool lost;                        ///< fell off the bus
  bool application_clocks_for_all;  ///< not for root only
  bool foreign_load;                ///< another user's process computes here
  bool power_is_stale;
  bool counter_is_still;
  double stale_average, stale_instant;  ///< W
  double still_counter;                 ///< J
  double counter_offset;                ///< J, subtracted
  std::uint64_t first_ticket;           ///< of the entry at the front
  std::uint64_t next_ticket;            ///< of the entry to come
  BoardState state;
  std::array<QueueEntry, queue_capacity> queue;
};

struct MachineState {
  std::uint64_t magic;    ///< written last, when all else is ready
  std::uint64_t bytes;    ///< sizeof(MachineState): differs between versions
  pthread_mutex_t mutex;  ///< of everything below; robust
  bool real_time;         ///< device time follows the machine's clock
  double real_start;      ///< machine's monotonic clock at device time 0, where real_time
  std::uint32_t board_count;
  std::uint32_t fault_count;
  std::array<Fault, most_faults> faults;
  std::array<ContextSlot, most_contexts> contexts;
  std::array<EventSlot, most_events> events;
  std::array<BoardSlot, most_boards> boards;
};

}  // namespace wattune::simgpu
