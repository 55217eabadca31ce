#pragma once
// What one evaluation does on the device: a launch as the problem file says it, or what a launch function records.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "evaluate/argument_set.hpp"
#include "wattune/configuration.hpp"
#include "wattune/launch_function.hpp"

namespace wattune {

using Steps = std::vector<Step>;

/// The kernels of a binary, loaded as they are asked for. The last binary is kept, for many configurations share one.
class LoadedBinary {
 public:
  LoadedBinary(Device& device, ArgumentSet& arguments) : device_(device), arguments_(arguments) {}

  /// The kernel that the binary was compiled for. @param changed set where another binary was loaded before, so that
  /// kernels given out earlier are gone.
  tl::expected<Kernel*, Failure> load(const CompileResult& binary, bool& changed);
  /// Another kernel of the loaded binary.
  tl::expected<Kernel*, Failure> kernel(const std::string& name);

 private:
  Device& device_;
  ArgumentSet& arguments_;
  CompileResult binary_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;  ///< by the name in the binary
};

/// The launch of a configuration as the problem file says it.
Launch plain_launch(const Problem& problem, const ArgumentSet& arguments, Kernel& kernel,
                    const std::vector<Value>& configuration);

/// What the launch function records. Failure: outcome launch where it throws or records no launch; that of loading a
/// kernel it asks for.
tl::expected<Steps, Failure> record_steps(const Problem& problem, const ArgumentSet& arguments, LoadedBinary& binary,
                                          const LaunchFunction& function, const Launch& plain,
                                          const std::vector<Value>& configuration);

/// Does all of it once and waits.
std::optional<Failure> run_steps(Device& device, const Steps& steps);
/// Checks all launches, as Device::check() does.
std::optional<Failure> check_steps(Device& device, const Steps& steps);
/// Whether both do the same.
bool same_steps(const Steps& a, const Steps& b);
const Launch& first_launch(const Steps& steps);

/// With the names of the problem's parameters.
Configuration named(const Problem& problem, const std::vector<Value>& values);

}  // namespace wattune
