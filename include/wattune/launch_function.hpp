#pragma once
// Launch functions: what one evaluation does on the device, where that is not one launch as the problem file says it.
//
//   // Ping-pong between two buffers, ten times; then a second kernel of the same file.
//   wattune::register_launch_function("smooth", [](wattune::LaunchRecorder& record) {
//     for (int i = 0; i < 5; ++i) {
//       record.launch({.arguments = {"a", "b", "n"}});
//       record.launch({.arguments = {"b", "a", "n"}});
//     }
//     record.launch({.kernel = "norm", .grid = {{1, 1, 1}}, .arguments = {"a", "result", "n"}});
//   });
//
// A problem file names it: "wattune": {"LaunchFunction": "smooth"}. The function is called once for each configuration
// and records; what it recorded is then run as a whole, as often as verifying, timing and measuring energy take. `time`
// and `energy` are those of the whole.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wattune/configuration.hpp"

namespace wattune {

/// Three sizes: x, y, z.
using Size3 = std::array<std::uint64_t, 3>;

/// One launch. What is not given is as the problem file says for the configuration.
struct KernelLaunch {
  /// Another kernel of the same source, as its binary names it: in OpenCL its name; in CUDA it must be extern "C".
  std::string kernel = {};
  std::optional<Size3> grid = {};                           ///< work-groups
  std::optional<Size3> block = {};                          ///< items of a work-group
  std::optional<std::size_t> shared_bytes = {};             ///< dynamic shared memory
  std::vector<std::string> arguments = {};                  ///< names of the problem's arguments in the kernel's order
  std::vector<std::pair<std::string, Value>> scalars = {};  ///< other values for scalar arguments
};

/// Takes down what is to be done, in order.
class LaunchRecorder {
 public:
  virtual ~LaunchRecorder() = default;

  [[nodiscard]] virtual const Configuration& configuration() const = 0;
  /// As the problem file or the command line gives it; may be empty.
  [[nodiscard]] virtual const std::vector<std::int64_t>& problem_size() const = 0;
  /// The launch that the problem file states for the configuration.
  [[nodiscard]] virtual Size3 grid() const = 0;
  [[nodiscard]] virtual Size3 block() const = 0;

  /// @throws UsageError for a kernel or argument that does not exist, or a scalar's value that does not fit its type.
  virtual void launch(const KernelLaunch& launch = {}) = 0;
  /// Fills an argument in device memory with zeros. @throws UsageError where there is none.
  virtual void zero(const std::string& argument) = 0;
  /// Copies one argument in device memory to another of the same size in bytes. @throws UsageError.
  virtual void copy(const std::string& to, const std::string& from) = 0;
};

using LaunchFunction = std::function<void(LaunchRecorder& record)>;

/// Registers a launch function by name. To be called before the Runtime is made. An exception thrown by it fails the
/// configuration under way (outcome `launch`).
/// @throws UsageError for a name that is taken, and where a Runtime exists already.
void register_launch_function(const std::string& name, LaunchFunction function);

}  // namespace wattune
