#include "machine/machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "machine/process.hpp"

namespace wattune::simgpu {

namespace {

constexpr std::uint64_t magic = 0x5747'5349'4d30'3031;  // "WGSIM001"

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

[[noreturn]] void fail_for_file(const std::string& file, const std::string& what) {
  throw std::runtime_error(
      fmt::format("WATTUNE_SIM_STATE: cannot use '{}' as the state of simulated GPUs: {}", file, what));
}

std::vector<std::string> all_models() {
  std::vector<std::string> names;
  for (const auto& description : descriptions()) names.push_back(description.id);
  return names;
}

/// The models of WATTUNE_SIM_GPUS; all where it is not set.
std::vector<const Description*> wanted_boards() {
  const std::string text = variable("WATTUNE_SIM_GPUS");
  std::vector<const Description*> boards;
  if (text.empty()) {
    for (const auto& description : descriptions()) boards.push_back(&description);
    return boards;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const Description* found = find_description(name);
    if (found == nullptr) {
      throw std::invalid_argument(fmt::format("WATTUNE_SIM_GPUS: there is no simulated GPU '{}'; there are: {}", name,
                                              fmt::join(all_models(), ", ")));
    }
    boards.push_back(found);
    begin = end + 1;
  }
  if (boards.size() > most_boards) {
    throw std::invalid_argument(
        fmt::format("WATTUNE_SIM_GPUS: {} GPUs are too many; at most {} are possible", boards.size(), most_boards));
  }
  return boards;
}

User wanted_user() {
  const std::string text = variable("WATTUNE_SIM_USER");
  if (text.empty() || text == "root") return User::root;
  if (text == "user") return User::ordinary;
  throw std::invalid_argument(fmt::format("WATTUNE_SIM_USER is '{}'; set it to root or user", text));
}

bool wanted_real_time() {
  const std::string text = variable("WATTUNE_SIM_REAL_TIME");
  if (text.empty() || text == "0") return false;
  if (text == "1") return true;
  throw std::invalid_argument(fmt::format("WATTUNE_SIM_REAL_TIME is '{}'; set it to 0 or 1", text));
}

}  // namespace

// ---- the lock

Machine::Guard::Guard(Machine& machine) : machine_(machine) {
  if (::pthread_mutex_lock(&machine_.state_->mutex) == EOWNERDEAD) {
    // Each update of the state leaves it usable at any instant; what the dead process had queued goes with it.
    ::pthread_mutex_consistent(&machine_.state_->mutex);
    machine_.remove_dead();
  }
}

Machine::Guard::~Guard() {
  ::pthread_mutex_unlock(&machine_.state_->mutex);
}

// ---- making and finding the state

Machine& Machine::instance() {
  static Machine machine;
  return machine;
}

Machine::Machine() : user_(wanted_user()), pid_(::getpid()), start_time_(process_start_time(pid_).value_or(0)) {
  const std::string file = variable("WATTUNE_SIM_STATE");
  if (file.empty()) {
    void* memory = ::mmap(nullptr, sizeof(MachineState), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("there is no memory for the state of simulated GPUs");
    state_ = static_cast<MachineState*>(memory);
    create();
  } else {
    map(file);
  }
  find_descriptions();
}

Machine::~Machine() {
  ::munmap(state_, sizeof(MachineState));
}

void Machine::map(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) fail_for_file(file, std::strerror(errno));
  struct Closer {
    int fd;
    ~Closer() {
      // The mapping keeps the open file, and with it the lock, beyond this descriptor.
      ::flock(fd, LOCK_UN);
      ::close(fd);
    }
  } const closer{fd};
  if (::flock(fd, LOCK_EX) != 0) fail_for_file(file, std::strerror(errno));
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail_for_file(file, std::strerror(errno));
  const bool fresh = status.st_size == 0;
  if (fresh && ::ftruncate(fd, sizeof(MachineState)) != 0) fail_for_file(file, std::strerror(errno));
  if (!fresh && status.st_size != static_cast<off_t>(sizeof(MachineState))) {
    fail_for_file(file, "it is no such file, or one of another version; remove it or name another");
  }
  void* memory = ::mmap(nullptr, sizeof(MachineState), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) fail_for_file(file, std::strerror(errno));
  state_ = static_cast<MachineState*>(memory);
  // A process that died while it made the state has left no magic number: it is made anew.
  const bool blank = state_->magic == 0 && state_->bytes == 0;
  if (!fresh && !blank && (state_->magic != magic || state_->bytes != sizeof(MachineState))) {
    ::munmap(memory, sizeof(MachineState));
    fail_for_file(file, "it is no such file, or one of another version; remove it or name another");
  }
  if (state_->magic == magic) return;
  try {
    create();
  } catch (...) {
    ::munmap(memory, sizeof(MachineState));
    if (::ftruncate(fd, 0) != 0) ::unlink(file.c_str());
    throw;
  }
}

void Machine::create() {
  const auto boards = wanted_boards();
  const auto faults = parse_faults(variable("WATTUNE_SIM_FAULTS"));
  if (faults.size() > most_faults) throw std::invalid_argument("WATTUNE_SIM_FAULTS: these are too many faults");
  MachineState& state = *state_;
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&state.mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  state.real_time = wanted_real_time();
  state.real_start = monotonic_seconds();
  state.board_count = static_cast<std::uint32_t>(boards.size());
  state.fault_count = 0;
  for (auto& context : state.contexts) context = {};
  for (auto& event : state.events) event = {none, 0};
  for (std::uint32_t i = 0; i < state.board_count; ++i) {
    BoardSlot& slot = state.boards[i];
    // The queue, which is large, needs no clearing.
    std::memset(static_cast<void*>(&slot), 0, offsetof(BoardSlot, queue));
    std::strncpy(slot.model.data(), boards[i]->id.c_str(), slot.model.size() - 1);
    for (std::uint32_t other = 0; other < i; ++other) slot.number += boards[other] == boards[i] ? 1 : 0;
    Board(*boards[i], slot.state).reset(slot.number);
  }
  find_descriptions();
  for (const Fault& fault : faults) {
    state.faults[state.fault_count++] = fault;
    apply_conditions(fault);
  }
  state.bytes = sizeof(MachineState);
  state.magic = magic;
}

void Machine::find_descriptions() {
  descriptions_.clear();
  for (std::uint32_t i = 0; i < state_->board_count && i < most_boards; ++i) {
    const Description* found = find_description(state_->boards[i].model.data());
    if (found == nullptr)
      fail_for_file(variable("WATTUNE_SIM_STATE"), "it holds a GPU that this version does not know");
    descriptions_.push_back(found);
  }
}

std::string Machine::board_name(std::uint32_t board) const {
  const BoardSlot& slot = state_->boards[board];
  return slot.number == 0 ? std::string(slot.model.data()) : fmt::format("{}:{}", slot.model.data(), slot.number);
}

bool Machine::lost(std::uint32_t board) {
  return with_board(board, [](Board&, const BoardSlot& slot) { return slot.lost; });
}

// ---- faults

bool Machine::matches(const Fault& fault, std::optional<std::uint32_t> board) const {
  return fault.board[0] == '\0' || (board && board_name(*board) == fault.board.data());
}

void Machine::apply_conditions(const Fault& fault) {
  for (std::uint32_t i = 0; i < state_->board_count; ++i) {
    if (!matches(fault, i)) continue;
    BoardSlot& slot = state_->boards[i];
    Board physics(*descriptions_[i], slot.state);
    const std::string_view point = fault.point.data();
    if (point == "foreign_lock") physics.lock_sm_clock(fault.value * 1e6, fault.value * 1e6);
    if (point == "application_clocks") slot.application_clocks_for_all = true;
    if (point == "clock_lock") physics.set_clock_stuck(true);
    if (point == "foreign_load") {
      slot.foreign_load = fault.value > 0;
      Work work;
      work.sm_cycles = fault.value * descriptions_[i]->default_clock;
      work.memory_seconds = fault.value / 2;
      work.core_activity = 0.6;
      work.memory_activity = 0.5;
      physics.set_foreign_load(work);
    }
  }
}

std::optional<Fault> Machine::pass(std::string_view point, std::optional<std::uint32_t> board) {
  // Most machines have none, and every call passes here.
  if (std::atomic_ref(state_->fault_count).load() == 0) return std::nullopt;
  const Guard guard(*this);
  std::optional<Fault> due;
  for (std::uint32_t i = 0; i < state_->fault_count; ++i) {
    Fault& fault = state_->faults[i];
    if (point != fault.point.data() || !matches(fault, board)) continue;
    ++fault.seen;
    if (!due && fault.seen >= fault.first && fault.seen <= fault.last) due = fault;
  }
  if (!due) return due;
  if (due->action == Action::crash) ::abort();
  if (due->action == Action::lost && board) state_->boards[*board].lost = true;
  return due;
}

void Machine::add_faults(std::string_view text) {
  const auto faults = parse_faults(text);
  const Guard guard(*this);
  std::uint32_t count = state_->fault_count;
  if (faults.size() > most_faults - count) throw std::invalid_argument("these are too many faults");
  for (const Fault& fault : faults) {
    state_->faults[count++] = fault;
    apply_conditions(fault);
  }
  std::atomic_ref(state_->fault_count).store(count);
}

}  // namespace wattune::simgpu
