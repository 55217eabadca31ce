#pragma once
// The coordinator's side of a worker process.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/subprocess.hpp"

namespace wattune {

/// A worker, what it is doing, and until when that may take.
class WorkerClient {
 public:
  enum class State { none, opening, referencing, probing, idle, evaluating };

  explicit WorkerClient(ChildOptions child) : child_options_(std::move(child)) {}

  [[nodiscard]] State state() const noexcept { return state_; }
  /// The phase of the evaluation under way, for messages.
  [[nodiscard]] const std::string& phase() const noexcept { return phase_; }
  [[nodiscard]] double deadline() const noexcept { return deadline_; }
  [[nodiscard]] int fd() { return child_->channel().fd(); }
  [[nodiscard]] pid_t pid() const { return child_->pid(); }

  /// Starts a process and sends it a first request.
  void start(const nlohmann::json& open_request, double timeout_seconds);
  /// Sends a request to an idle worker. Where the worker has died, receive() will say so.
  void request(const nlohmann::json& message, State state, double timeout_seconds);
  /// Answers a worker that waits for the machine to be quiet.
  void let_go();
  /// A phase was announced: the watchdog starts anew.
  void phase_began(const std::string& phase, double timeout_seconds);
  /// The request under way was answered.
  void answered() { state_ = State::idle; }

  /// What it sent, without waiting.
  std::optional<nlohmann::json> receive();
  /// True once the process is gone and everything it sent was received.
  [[nodiscard]] bool dead() { return child_ && child_->channel().closed(); }

  /// Ends the process. @return how it ended.
  Child::Exit end(bool by_itself);

 private:
  ChildOptions child_options_;
  std::optional<Child> child_;
  State state_ = State::none;
  std::string phase_;
  double deadline_ = 0;
};

/// The devices of one backend, found by a process of its own.
struct FoundDevices {
  std::string backend;
  std::vector<DeviceInfo> devices;
  std::string problem;                 ///< why there are none; empty where there are
  std::vector<std::string> details{};  ///< of each device, where asked for: JSON as device_details() gives it
};
std::vector<FoundDevices> find_devices(const std::vector<std::string>& backends, double timeout_seconds = 60,
                                       bool details = false);

/// The device of this name, id, UUID or PCI id. @throws DeviceError where there is none.
DeviceInfo find_device(const std::string& name);

/// The backends whose devices run kernels of these languages, in the order in which they are preferred.
std::vector<std::string> backends_for(const std::vector<std::string>& languages);

/// The device to use where the user names none: the first CUDA GPU, else the first OpenCL GPU, else any OpenCL device,
/// among those found. @throws DeviceError that says what was looked for and what to install.
DeviceInfo best_device(const std::vector<FoundDevices>& found);
/// The same among all devices of these languages' backends.
DeviceInfo best_device(const std::vector<std::string>& languages);

}  // namespace wattune
