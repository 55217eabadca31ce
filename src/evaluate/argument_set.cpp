#include "evaluate/argument_set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problem/argument_data.hpp"

namespace wattune {

namespace {

/// Neither zero nor a likely result, and a number of ordinary size as float or double, so that reading it by mistake
/// gives a wrong answer but not one that hides among NaN.
constexpr std::byte guard_pattern{0xC5};
/// A stray write is mostly off by one or by a row.
constexpr std::size_t min_guard_bytes = 16384;
/// Reading larger inputs back would cost more than it tells.
constexpr std::size_t max_checked_input_bytes = std::size_t{16} << 20;
constexpr std::size_t max_finite_check_bytes = std::size_t{256} << 20;

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

std::size_t total_bytes(std::size_t guard, std::size_t bytes) {
  return guard + round_up(bytes, guard) + guard;
}

/// NaN for floating-point; for others a value that is rarely right by chance.
std::byte poison_of(const ElementType& type) {
  const bool floating =
      type.scalar == ScalarType::half || type.scalar == ScalarType::float32 || type.scalar == ScalarType::float64;
  return floating ? std::byte{0xFF} : std::byte{0xA5};
}

bool is_poisoned(const Argument& argument) {
  return argument.access == Access::write_only && argument.reset == Reset::none;
}

}  // namespace

ArgumentSet::ArgumentSet(const Problem& problem, Device& device)
    : problem_(problem), device_(device), guard_(round_up(min_guard_bytes, device.buffer_alignment())) {
  for (const Argument& argument : problem.arguments) {
    State& state = states_.emplace_back();
    state.argument = &argument;
    if (argument.memory == MemoryKind::local) continue;
    state.initial = argument_data(problem, argument);
    // A launch of such an argument always begins with zeros, so the verified one must too.
    if (argument.reset == Reset::zero) std::fill(state.initial.begin(), state.initial.end(), std::byte{0});
    if (argument.memory != MemoryKind::scalar && !is_symbol(argument)) allocate(state);
    if (argument.output && state.buffer) outputs_.push_back(states_.size() - 1);
  }
}

bool ArgumentSet::is_symbol(const Argument& argument) const {
  return argument.memory == MemoryKind::symbol ||
         (argument.memory == MemoryKind::constant && device_.constant_arguments_are_symbols());
}

void ArgumentSet::allocate(State& state) {
  const std::size_t bytes = total_bytes(guard_, state.initial.size());
  state.buffer = device_.allocate(bytes);
  device_.fill(*state.buffer, 0, bytes, guard_pattern);
  device_.write(*state.buffer, guard_, state.initial);
  const bool restored = state.argument->reset == Reset::restore;
  if (!restored && state.argument->access != Access::read_write) return;
  try {
    state.pristine = device_.allocate(bytes);
  } catch (const DeviceError&) {
    // Without room for a copy on the device the host's serves, except for resets within a batch.
    if (restored) throw;
    return;
  }
  device_.write(*state.pristine, guard_, state.initial);
}

std::vector<KernelArgument> ArgumentSet::kernel_arguments(const std::vector<Value>& configuration) const {
  std::vector<KernelArgument> result;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (auto argument = kernel_argument(i, configuration)) result.push_back(std::move(*argument));
  }
  return result;
}

std::optional<KernelArgument> ArgumentSet::kernel_argument(std::size_t index,
                                                           const std::vector<Value>& configuration) const {
  const State& state = states_[index];
  if (state.argument->memory == MemoryKind::local) {
    const std::uint64_t elements = local_elements(problem_, *state.argument, configuration);
    return LocalArgument{elements * state.argument->type.bytes};
  }
  if (state.argument->memory == MemoryKind::scalar) return ScalarArgument{state.initial};
  if (state.buffer) return BufferArgument{state.buffer.get(), guard_, state.initial.size()};
  return std::nullopt;
}

std::optional<Failure> ArgumentSet::write_symbols(Kernel& kernel) {
  for (const State& state : states_) {
    if (!is_symbol(*state.argument)) continue;
    if (auto failed = device_.write_symbol(kernel, state.argument->name, state.initial)) return failed;
  }
  return std::nullopt;
}

void ArgumentSet::put_initial(State& state) {
  if (state.pristine) {
    device_.copy(*state.buffer, guard_, *state.pristine, guard_, state.initial.size());
  } else {
    device_.write(*state.buffer, guard_, state.initial);
  }
}

void ArgumentSet::prepare_for_verification() {
  if (device_.info().simulated) return;  // no kernel has changed anything
  for (State& state : states_) {
    if (!state.buffer || state.argument->access == Access::read_only) continue;
    if (is_poisoned(*state.argument)) {
      device_.fill(*state.buffer, guard_, state.initial.size(), poison_of(state.argument->type));
    } else {
      put_initial(state);
    }
  }
}

void ArgumentSet::restore() {
  if (device_.info().simulated) return;
  for (State& state : states_) {
    if (state.buffer && state.argument->access == Access::read_write) put_initial(state);
  }
}

std::vector<ResetCopy> ArgumentSet::resets() const {
  std::vector<ResetCopy> result;
  for (const State& state : states_) {
    if (!state.buffer || state.argument->reset == Reset::none) continue;
    Buffer* source = state.argument->reset == Reset::restore ? state.pristine.get() : nullptr;
    result.push_back({state.buffer.get(), source, guard_, state.initial.size()});
  }
  return result;
}

std::optional<Failure> ArgumentSet::check_untouched() {
  if (device_.info().simulated) return std::nullopt;
  std::optional<Failure> first;
  for (State& state : states_) {
    if (!state.buffer) continue;
    for (auto&& failed : {check_guards(state), check_input(state)}) {
      if (failed && !first) first = failed;
    }
  }
  return first;
}

std::optional<Failure> ArgumentSet::check_guards(State& state) {
  const std::size_t bytes = state.initial.size();
  const std::size_t end = guard_ + bytes;
  std::vector<std::byte> before(guard_);
  std::vector<std::byte> after(state.buffer->bytes() - end);
  device_.read(*state.buffer, 0, before);
  device_.read(*state.buffer, end, after);
  const auto spoilt = [](std::byte b) { return b != guard_pattern; };
  const auto low = std::find_if(before.begin(), before.end(), spoilt);
  const auto high = std::find_if(after.begin(), after.end(), spoilt);
  if (low == before.end() && high == after.end()) return std::nullopt;
  device_.fill(*state.buffer, 0, guard_, guard_pattern);
  device_.fill(*state.buffer, end, after.size(), guard_pattern);
  const std::string& name = state.argument->name;
  if (low != before.end()) {
    return Failure{Outcome::correctness,
                   fmt::format("the kernel wrote out of bounds, before argument {}: first at byte "
                               "-{} from its beginning",
                               name, before.end() - low)};
  }
  return Failure{Outcome::correctness,
                 fmt::format("the kernel wrote out of bounds, after argument {}: first at byte {}, the argument has {}",
                             name, bytes + static_cast<std::size_t>(high - after.begin()), bytes)};
}

std::optional<Failure> ArgumentSet::check_input(State& state) {
  const std::size_t bytes = state.initial.size();
  if (state.argument->access != Access::read_only || bytes > max_checked_input_bytes) return std::nullopt;
  std::vector<std::byte> content(bytes);
  device_.read(*state.buffer, guard_, content);
  const auto different = std::mismatch(content.begin(), content.end(), state.initial.begin()).first;
  if (different == content.end()) return std::nullopt;
  device_.write(*state.buffer, guard_, state.initial);
  return Failure{Outcome::correctness,
                 fmt::format("the kernel wrote to argument {}, which is read-only in the problem: first at byte {}",
                             state.argument->name, different - content.begin())};
}

std::size_t ArgumentSet::bytes(std::size_t index) const {
  return states_[index].initial.size();
}

void ArgumentSet::read(std::size_t index, std::span<std::byte> content) const {
  device_.read(*states_[index].buffer, guard_, content);
}

std::vector<std::byte> ArgumentSet::read(std::size_t index) const {
  std::vector<std::byte> content(bytes(index));
  read(index, content);
  return content;
}

std::optional<std::byte> ArgumentSet::unwritten_pattern(std::size_t index) const {
  const Argument& argument = *states_[index].argument;
  if (!is_poisoned(argument)) return std::nullopt;
  return poison_of(argument.type);
}

std::vector<std::vector<std::byte>> ArgumentSet::initial() const {
  std::vector<std::vector<std::byte>> result;
  for (const State& state : states_) result.push_back(state.initial);
  return result;
}

bool ArgumentSet::is_accumulated(const State& state) const {
  return state.buffer && state.argument->access == Access::read_write && state.argument->reset == Reset::none;
}

bool ArgumentSet::accumulates() const {
  if (device_.info().simulated) return false;
  return std::any_of(states_.begin(), states_.end(), [&](const State& state) { return is_accumulated(state); });
}

HostMemory& ArgumentSet::fetched_of(std::size_t index) const {
  auto& memory = fetched_[index];
  if (!memory) memory = device_.allocate_host(bytes(index));
  return *memory;
}

bool ArgumentSet::accumulated_values_are_finite() const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!is_accumulated(states_[i]) || states_[i].initial.size() > max_finite_check_bytes) continue;
    HostMemory& fetched = fetched_of(i);
    read(i, fetched.bytes());
    if (!all_finite(states_[i].argument->type, fetched.bytes())) return false;
  }
  return true;
}

}  // namespace wattune
