#pragma once
// Evaluates in the calling process and thread: compiles, then measures, one configuration after the other.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "problem/problem.hpp"
#include "tune/binary_cache.hpp"
#include "tune/device_session.hpp"
#include "tune/energy_bounds.hpp"
#include "tune/evaluator.hpp"

namespace wattune {

struct InProcessOptions {
  std::string device;   ///< as the user names it
  bool energy = false;  ///< measure energy too; a device without a meter is an error then
  EnergyEstimator energy_estimator = EnergyEstimator::automatic;  ///< what the device cannot do is an error
  bool skip_hopeless = false;                                     ///< as LiveOptions::skip_hopeless
  std::string cache_folder;                                       ///< of compiled variants; empty: none
  std::function<void(const std::string&)> on_note;                ///< notable events, one line each
};

/// For programs without a Runtime. Nothing is isolated: a kernel that crashes takes the process with it, and nothing is
/// timed out. A context that a kernel has broken without that is opened anew.
class InProcessEvaluator : public Evaluator {
 public:
  /// Opens the device. @throws what DeviceSession throws; UsageError where the reference kernel fails.
  InProcessEvaluator(const Problem& problem, InProcessOptions options);

  [[nodiscard]] const DeviceInfo& device() const noexcept { return info_; }
  [[nodiscard]] const std::string& meter() const noexcept { return meter_; }

  [[nodiscard]] std::size_t capacity() const override { return 1; }
  void submit(Proposal proposal) override { queue_.push_back(std::move(proposal)); }
  [[nodiscard]] std::size_t held() const override { return queue_.size(); }
  std::optional<Done> next(double seconds, int wake_fd) override;
  void recorded(const Evaluation& evaluation) override;

 private:
  void open();
  void take_reference();
  void reference_failed(const std::string& reason);
  Evaluation evaluate(const Proposal& proposal);
  void note_others();
  CompileOutcome compile(const CompileRequest& request);

  const Problem& problem_;
  InProcessOptions options_;
  std::optional<BinaryCache> cache_;
  std::string includes_hash_;
  std::unique_ptr<DeviceSession> session_;
  std::unique_ptr<Compiler> compiler_;
  DeviceInfo info_;
  std::string meter_;
  std::deque<Proposal> queue_;
  EnergyBounds energy_bounds_;
  std::vector<std::string> others_;  ///< on the device, as last told to the user
  bool reference_from_first_ = false;
  /// The configuration that serves as reference because the default one cannot; a new session takes it again.
  std::optional<std::vector<Value>> reference_configuration_;
};

}  // namespace wattune
