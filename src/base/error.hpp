#pragma once
// The exceptions that end an operation. A configuration that fails is no exception: it is a Failure
// (result/outcome.hpp).

#include <stdexcept>
#include <string>

namespace wattune {

/// Exit codes of the command.
enum class ExitCode : int { done = 0, run_failed = 1, usage = 2, device = 3, interrupted = 130 };

/// Base of all errors. The message is one line that says what was being done, to what (file, key, expression),
/// what went wrong and what the user can do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Wrong use: a faulty command line, problem file or data file.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// No such device, a driver or library that is missing, a permission that is missing, a device that was lost.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ExitCode::device, message) {}
};

/// Anything else that ends a run: a full disk, a lost child process.
class RunError : public Error {
 public:
  explicit RunError(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

}  // namespace wattune
