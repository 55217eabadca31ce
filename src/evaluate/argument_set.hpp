#pragma once
// The arguments of a problem on a device, with what is needed to catch kernels that write where they must not.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "evaluate/compare.hpp"
#include "problem/problem.hpp"

namespace wattune {

class ArgumentSet {
 public:
  /// Allocates and fills. @throws UsageError for data that cannot be made, DeviceError where memory is out.
  ArgumentSet(const Problem& problem, Device& device);

  /// What the kernel is passed for a configuration (sizes of local memory depend on it).
  [[nodiscard]] std::vector<KernelArgument> kernel_arguments(const std::vector<Value>& configuration) const;
  /// One of these; nothing for a symbol, which is not passed.
  [[nodiscard]] std::optional<KernelArgument> kernel_argument(std::size_t index,
                                                              const std::vector<Value>& configuration) const;
  /// Fills the symbols of a loaded kernel.
  std::optional<Failure> write_symbols(Kernel& kernel);

  /// Initial content for all that kernels may have changed; write-only arguments get a pattern that shows what a kernel
  /// leaves unwritten.
  void prepare_for_verification();
  /// Initial content for arguments that are read and written.
  void restore();
  /// Copies that keep the work of repeated launches the same.
  [[nodiscard]] std::vector<ResetCopy> resets() const;

  /// Failure correctness where the kernel wrote before or after an argument, or to an argument that is read-only. What
  /// it spoilt is put right.
  std::optional<Failure> check_untouched();

  /// Arguments that are compared, as positions in the problem.
  [[nodiscard]] const std::vector<std::size_t>& outputs() const noexcept { return outputs_; }
  /// The argument's content on the device.
  [[nodiscard]] std::vector<std::byte> read(std::size_t index) const;
  /// The same into memory of bytes(index) bytes.
  void read(std::size_t index, std::span<std::byte> content) const;
  [[nodiscard]] std::size_t bytes(std::size_t index) const;
  /// The pattern in which prepare_for_verification() leaves a write-only argument; nothing for others.
  [[nodiscard]] std::optional<std::byte> unwritten_pattern(std::size_t index) const;
  /// Initial bytes of every argument in the problem's order; empty for local memory.
  [[nodiscard]] std::vector<std::vector<std::byte>> initial() const;

  /// Whether an argument is read and written without being reset, so that repeated launches may do other work.
  [[nodiscard]] bool accumulates() const;
  /// Whether such arguments of floating-point type are finite throughout on the device.
  [[nodiscard]] bool accumulated_values_are_finite() const;

 private:
  struct State {
    const Argument* argument;
    std::vector<std::byte> initial;
    std::unique_ptr<Buffer> buffer;    ///< guard, content, guard; null for scalars, local memory and symbols
    std::unique_ptr<Buffer> pristine;  ///< laid out as `buffer`, where the content is restored on the device
  };

  void allocate(State& state);
  void put_initial(State& state);
  [[nodiscard]] bool is_symbol(const Argument& argument) const;
  [[nodiscard]] bool is_accumulated(const State& state) const;
  HostMemory& fetched_of(std::size_t index) const;
  std::optional<Failure> check_guards(State& state);
  std::optional<Failure> check_input(State& state);

  const Problem& problem_;
  Device& device_;
  std::size_t guard_;  ///< bytes before each argument; after it at least as many
  std::vector<State> states_;
  std::vector<std::size_t> outputs_;
  mutable std::map<std::size_t, std::unique_ptr<HostMemory>> fetched_;  ///< where values come to be looked at
};

}  // namespace wattune
