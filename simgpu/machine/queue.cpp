// Device time: what is queued on a board runs while somebody waits, sleeps or calls.

#include <unistd.h>

#include <algorithm>

#include "machine/machine.hpp"
#include "machine/process.hpp"

namespace wattune::simgpu {

namespace {

/// Seconds that a launch is let run in one go. More than anything takes that ends.
constexpr double long_time = 1e6;
/// While a kernel hangs, device time follows real time in such steps: the processes that wait for it are ended from
/// outside, by watchdogs that count in real time.
constexpr double hanging_step = 0.01;
/// How often to look for processes that have died without closing their contexts.
constexpr double look_for_dead_seconds = 0.05;

}  // namespace

// ---- the queue

bool Machine::run_front(Board& physics, QueueEntry& entry, double until) {
  if (entry.hangs) {
    Work nothing;
    nothing.fixed_seconds = std::max(until - physics.now(), 1e-9);
    physics.run(nothing, 1, until);
    return false;
  }
  while (entry.repeats > 0 && entry.step_count > 0) {
    entry.left = physics.run(entry.steps[entry.step].work, entry.left, until);
    if (entry.left > 0) return false;
    if (++entry.step == entry.step_count) {
      entry.step = 0;
      --entry.repeats;
    }
    entry.left = static_cast<double>(entry.steps[entry.step].count);
  }
  return true;
}

void Machine::finish_front(Board& physics, BoardSlot& slot) {
  QueueEntry& entry = slot.queue[slot.first_ticket % queue_capacity];
  if (entry.event != none) state_->events[entry.event].time = physics.now();
  if (entry.error != 0 && entry.context != none && state_->contexts[entry.context].error == 0) {
    state_->contexts[entry.context].error = entry.error;
  }
  ++slot.first_ticket;
}

void Machine::advance(std::uint32_t board, double until, std::uint64_t until_ticket) {
  BoardSlot& slot = state_->boards[board];
  Board physics(*descriptions_[board], slot.state);
  remove_dead_at_times();
  while (slot.first_ticket != slot.next_ticket && slot.first_ticket <= until_ticket) {
    QueueEntry& entry = slot.queue[slot.first_ticket % queue_capacity];
    const bool nothing_to_do = entry.step_count == 0 && !entry.hangs;
    const bool waited_for = until_ticket != UINT64_MAX;
    const double limit = entry.hangs && waited_for ? std::min(until, physics.now() + hanging_step) : until;
    if (!nothing_to_do && (physics.now() >= limit || !run_front(physics, entry, limit))) return;
    finish_front(physics, slot);
  }
  if (slot.first_ticket == slot.next_ticket && until_ticket == UINT64_MAX) physics.idle_until(until);
}

// ---- time

void Machine::follow_real_time(std::uint32_t board) {
  if (state_->real_time) advance(board, monotonic_seconds() - state_->real_start);
}

double Machine::now(std::uint32_t board) {
  const Guard guard(*this);
  follow_real_time(board);
  return state_->boards[board].state.now;
}

void Machine::spend(std::uint32_t board, double seconds) {
  if (state_->real_time) {
    real_sleep(seconds);
    const Guard guard(*this);
    follow_real_time(board);
    return;
  }
  const Guard guard(*this);
  advance(board, state_->boards[board].state.now + seconds);
}

void Machine::sleep_until(std::uint32_t board, double time) {
  if (state_->real_time) real_sleep(time - (monotonic_seconds() - state_->real_start));
  const Guard guard(*this);
  advance(board, time);
}

bool Machine::finished(std::uint32_t board, std::uint64_t ticket) {
  const Guard guard(*this);
  follow_real_time(board);
  return ticket < state_->boards[board].first_ticket;
}

void Machine::wait(std::uint32_t context, std::uint64_t ticket) {
  const std::uint32_t board = state_->contexts[context].board;
  while (true) {
    double pause = hanging_step;
    {
      const Guard guard(*this);
      BoardSlot& slot = state_->boards[board];
      if (state_->real_time) {
        follow_real_time(board);
        pause = 1e-4;
      } else {
        advance(board, slot.state.now + long_time, ticket);
      }
      if (ticket < slot.first_ticket || state_->contexts[context].error != 0 || slot.lost) return;
    }
    real_sleep(pause);
  }
}

std::uint64_t Machine::submit(std::uint32_t context, const Submission& submission) {
  const std::uint32_t board = state_->contexts[context].board;
  std::optional<std::uint64_t> full_until;
  while (true) {
    if (full_until) wait(context, *full_until);
    const Guard guard(*this);
    BoardSlot& slot = state_->boards[board];
    follow_real_time(board);
    if (slot.next_ticket - slot.first_ticket >= queue_capacity) {
      full_until = slot.first_ticket;
      // What is lost or poisoned takes no work, and nothing will make room.
      if (state_->contexts[context].error != 0 || slot.lost) return slot.next_ticket;
      continue;
    }
    QueueEntry& entry = slot.queue[slot.next_ticket % queue_capacity];
    entry.context = context;
    entry.event = submission.event;
    entry.steps = submission.steps;
    entry.step_count = submission.step_count;
    entry.step = 0;
    entry.repeats = submission.repeats;
    entry.left = static_cast<double>(submission.steps[0].count);
    entry.error = submission.error;
    entry.hangs = submission.hangs;
    return slot.next_ticket++;
  }
}

// ---- contexts

std::optional<std::uint32_t> Machine::open_context(std::uint32_t board) {
  const Guard guard(*this);
  remove_dead();
  for (std::uint32_t i = 0; i < most_contexts; ++i) {
    ContextSlot& slot = state_->contexts[i];
    if (slot.pid != 0) continue;
    slot.board = board;
    slot.start_time = start_time_;
    slot.memory = 0;
    slot.error = 0;
    slot.pid = pid_;
    follow_real_time(board);
    update_context_count(board);
    return i;
  }
  return std::nullopt;
}

void Machine::close_context(std::uint32_t context) {
  const Guard guard(*this);
  close(context);
}

void Machine::close(std::uint32_t context) {
  const std::uint32_t board = state_->contexts[context].board;
  BoardSlot& slot = state_->boards[board];
  for (std::uint64_t ticket = slot.first_ticket; ticket != slot.next_ticket; ++ticket) {
    QueueEntry& entry = slot.queue[ticket % queue_capacity];
    if (entry.context != context) continue;
    entry.step_count = 0;
    entry.hangs = false;
    entry.event = none;
    entry.error = 0;
    entry.context = none;
  }
  for (auto& event : state_->events) {
    if (event.context == context) event.context = none;
  }
  state_->contexts[context].pid = 0;
  update_context_count(board);
}

void Machine::update_context_count(std::uint32_t board) {
  unsigned count = state_->boards[board].foreign_load ? 1 : 0;
  for (const auto& context : state_->contexts) count += context.pid != 0 && context.board == board ? 1 : 0;
  Board(*descriptions_[board], state_->boards[board].state).set_contexts(count);
}

void Machine::remove_dead() {
  for (std::uint32_t i = 0; i < most_contexts; ++i) {
    const ContextSlot& slot = state_->contexts[i];
    if (slot.pid == 0 || slot.pid == pid_) continue;
    if (process_start_time(slot.pid) != slot.start_time) close(i);
  }
}

void Machine::remove_dead_at_times() {
  const double time = monotonic_seconds();
  if (time < looked_for_dead_ + look_for_dead_seconds) return;
  looked_for_dead_ = time;
  remove_dead();
}

std::int32_t Machine::context_error(std::uint32_t context) {
  const Guard guard(*this);
  return state_->contexts[context].error;
}

void Machine::poison_context(std::uint32_t context, std::int32_t error) {
  const Guard guard(*this);
  if (state_->contexts[context].error == 0) state_->contexts[context].error = error;
}

void Machine::count_memory(std::uint32_t context, std::int64_t bytes) {
  const Guard guard(*this);
  state_->contexts[context].memory += static_cast<std::uint64_t>(bytes);
}

std::vector<Machine::Process> Machine::processes(std::uint32_t board) {
  const Guard guard(*this);
  remove_dead();
  std::vector<Process> result;
  for (const auto& context : state_->contexts) {
    if (context.pid != 0 && context.board == board) result.push_back({context.pid, context.memory});
  }
  // The process of another user; its number means nothing on this machine.
  constexpr std::int32_t foreign_pid = 4194000;
  if (state_->boards[board].foreign_load) result.push_back({foreign_pid, 1ULL << 30});
  return result;
}

std::uint64_t Machine::used_memory(std::uint32_t board) {
  std::uint64_t used = 0;
  for (const auto& process : processes(board)) used += process.memory;
  return used;
}

// ---- events

std::optional<std::uint32_t> Machine::open_event(std::uint32_t context) {
  const Guard guard(*this);
  for (std::uint32_t i = 0; i < most_events; ++i) {
    if (state_->events[i].context != none) continue;
    state_->events[i] = {context, 0};
    return i;
  }
  return std::nullopt;
}

void Machine::close_event(std::uint32_t event) {
  const Guard guard(*this);
  EventSlot& slot = state_->events[event];
  if (slot.context == none) return;
  // What still waits in a queue to record it must not write to whoever gets the slot next.
  BoardSlot& board = state_->boards[state_->contexts[slot.context].board];
  for (std::uint64_t ticket = board.first_ticket; ticket != board.next_ticket; ++ticket) {
    QueueEntry& entry = board.queue[ticket % queue_capacity];
    if (entry.event == event) entry.event = none;
  }
  slot.context = none;
}

double Machine::event_time(std::uint32_t event) {
  const Guard guard(*this);
  return state_->events[event].time;
}

}  // namespace wattune::simgpu
