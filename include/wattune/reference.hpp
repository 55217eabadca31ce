#pragma once
// References computed by the host, with which kernels' outputs are compared.
//
//   wattune::register_reference("axpy", [](wattune::HostArguments& arguments) {
//     const auto x = arguments.elements<float>("x");
//     const auto y = arguments.elements<float>("y");
//     for (std::size_t i = 0; i < y.size(); ++i) y[i] += arguments.scalar<float>("a") * x[i];
//   });
//
// A problem file names it: "wattune": {"Verification": {"Reference": {"Host": "axpy"}}}.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace wattune {

/// A problem's arguments as they are before the kernel runs. A reference overwrites those that are outputs.
class HostArguments {
 public:
  virtual ~HostArguments() = default;
  /// As the problem file or the command line gives it; may be empty.
  [[nodiscard]] virtual const std::vector<std::int64_t>& problem_size() const = 0;
  /// Content of an argument, as bytes. @param element_bytes what it will be read as.
  /// @throws UsageError where there is no such argument, or where its elements have another size: those of vector types
  /// (float4) may be read whole or by component.
  [[nodiscard]] virtual std::span<std::byte> bytes(const std::string& name, std::size_t element_bytes) = 0;

  /// Content of an argument as elements of T, whose size must be that of the argument's type or of its components.
  template <typename T>
  [[nodiscard]] std::span<T> elements(const std::string& name) {
    const auto content = bytes(name, sizeof(T));
    return {reinterpret_cast<T*>(content.data()), content.size() / sizeof(T)};
  }
  template <typename T>
  [[nodiscard]] T scalar(const std::string& name) {
    T value;
    std::memcpy(&value, bytes(name, sizeof(T)).data(), sizeof(T));
    return value;
  }
};

/// Computes the outputs in place. It is called once for a problem, in the process that measures.
using Reference = std::function<void(HostArguments& arguments)>;

/// Registers a reference by name. To be called before the Runtime is made.
/// @throws UsageError where a Runtime exists already.
void register_reference(const std::string& name, Reference reference);

}  // namespace wattune
