#pragma once
// A device opened to measure one problem.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "evaluate/session.hpp"
#include "power/meter.hpp"
#include "power/nvml/board_users.hpp"
#include "problem/problem.hpp"

namespace wattune {

/// The device, its meter where energy is wanted, and the session on them.
class DeviceSession {
 public:
  /// @param device as the user names it. The problem must outlive this.
  /// @throws DeviceError where it cannot be opened, has too little memory or no meter; what Session throws.
  DeviceSession(const Problem& problem, const std::string& device, bool energy, MeasureOptions options);

  [[nodiscard]] const DeviceInfo& info() const noexcept { return device_->info(); }
  /// The meter's name with what energy is estimated from ("nvml-counter"), or "none".
  [[nodiscard]] std::string meter() const {
    return meter_ ? meter_->name() + "-" + std::string(to_string(estimator_)) : "none";
  }
  [[nodiscard]] Session& session() noexcept { return *session_; }

  /// Evaluates. @param as_reference take this configuration's outputs as the reference first.
  Session::Result evaluate(const CompileResult& binary, const std::vector<Value>& configuration, bool as_reference,
                           const EvaluateOptions& wanted = {});

  /// Who else computed on the device during the last evaluation, as far as that is known: its times, power and energy
  /// are flagged "shared".
  [[nodiscard]] const std::vector<std::string>& others() const noexcept { return others_; }

 private:
  void note_others();
  void check_memory() const;
  [[noreturn]] void fail_for_memory(const std::string& who, double bytes, double limit) const;
  void open_meter();
  void choose_estimator_of(MeasureOptions& options);
  void open_clock_meter();

  const Problem& problem_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<PowerMeter> meter_;
  EnergyEstimator estimator_ = EnergyEstimator::automatic;
  std::unique_ptr<PowerMeter> clock_meter_;
  std::optional<BoardUsers> users_;
  std::vector<std::string> others_;
  std::unique_ptr<Session> session_;
};

/// One line for the user about others that compute on a device.
std::string note_about(const std::vector<std::string>& others, const DeviceInfo& device);

}  // namespace wattune
