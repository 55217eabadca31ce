#pragma once
// Evaluates on a device: compiles ahead in compile processes, measures in a worker, survives both.

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "problem/problem.hpp"
#include "settings/client.hpp"
#include "store/death_log.hpp"
#include "tune/compile_pool.hpp"
#include "tune/energy_bounds.hpp"
#include "tune/evaluator.hpp"
#include "tune/launch_limit.hpp"
#include "tune/profile.hpp"
#include "tune/setting_order.hpp"
#include "tune/worker_client.hpp"

namespace wattune {

struct LiveOptions {
  std::string device;                     ///< as the user names it
  bool energy = false;                    ///< measure energy too; a device without a meter is an error then
  std::string energy_estimator = "auto";  ///< as --energy-estimator of tune
  unsigned energy_ticks = 2;              ///< ticks of the meter's counter that an energy window spans
  bool verify_only = false;               ///< run and verify, measure nothing
  double phase_timeout_seconds = 60;  ///< a phase of an evaluation (verify, time, ...) that takes longer is a timeout
  /// A launch that is slower than the fastest so far by far more than any legitimate configuration is a timeout too,
  /// well before phase_timeout_seconds; see LaunchLimit.
  bool limit_by_fastest = true;
  double open_timeout_seconds = 900;  ///< opening the device, filling arguments and computing the host's reference
  unsigned compile_processes = 0;     ///< 0: one per available core
  double compile_timeout_seconds = 120;
  std::string cache_folder;  ///< of compiled variants; empty: none
  /// A configuration slower than the fastest so far by more than this factor is not timed further.
  std::optional<double> abandon_factor;
  /// Energy is minimised, and nothing else: what cannot win (EnergyBounds) is not measured further.
  bool skip_hopeless = false;
  /// Of a board that it holds; null where no parameter is a device setting.
  std::shared_ptr<SettingsClient> settings;
  std::vector<std::string> voltage_command;  ///< as in MeasureOptions; {uuid} and {pci} stand for the board
  std::vector<Parameter> device_settings;    ///< as in ReadOptions: with these the problem was read
  bool look_for_lock = true;                 ///< before the first setting: whether somebody else has locked the clock
  bool hold_all = false;  ///< proposals depend on no results: hold many, so that those of a setting come together
  double setting_share_seconds = 0;                 ///< see SettingOrder
  Clock* clock = nullptr;                           ///< device time, by which that counts; null: real time
  std::string log_file;                             ///< where the children's own output goes
  std::vector<std::string> environment;             ///< for the children
  std::function<void(const std::string&)> on_note;  ///< notable events, one line each
};

class LiveEvaluator : public Evaluator {
 public:
  /// @param text the problem file's text, from which `problem` was read.
  LiveEvaluator(const Problem& problem, std::string text, LiveOptions options);
  ~LiveEvaluator() override;

  /// Starts the worker and waits until it has opened the device. @param wake_fd as in next().
  /// @return nothing when woken before. @throws DeviceError, UsageError as the worker reports.
  std::optional<DeviceInfo> start(int wake_fd);

  /// The name of the meter in use, or "none"; known once start() has returned.
  [[nodiscard]] const std::string& meter() const noexcept { return meter_; }

  [[nodiscard]] std::size_t capacity() const override;
  void submit(Proposal proposal) override;
  [[nodiscard]] std::size_t held() const override {
    return waiting_.size() + (current_ ? 1U : 0U) + (suspect_ ? 1U : 0U) + finished_.size();
  }
  std::optional<Done> next(double seconds, int wake_fd) override;

  void recorded(const Evaluation& evaluation) override;

  /// Where to remember what workers died of, over the end of this process. It outlives this object.
  void remember_deaths(DeathLog& log) { deaths_ = &log; }

  /// Where the time of the run went so far.
  [[nodiscard]] Profile profile() const;

 private:
  struct Entry {
    Proposal proposal;
    std::string key;
    std::shared_ptr<const CompileOutcome> binary;  ///< once it is given to the worker
    int attempts = 0;                              ///< workers that died of it
    DeviceSettings settings;                       ///< of the configuration
  };
  /// How the outputs to compare with come about.
  enum class Reference { ready, wanted, from_first };

  void advance();
  void keep_settings();
  void drive_worker();
  void handle_message(const nlohmann::json& message);
  [[noreturn]] void throw_error(ExitCode code, const std::string& text, bool opening) const;
  void pump();
  void handle_phase(const nlohmann::json& message);
  void handle_answer(const nlohmann::json& message);
  void handle_reference_answer(const nlohmann::json& message);
  void learn(const Evaluation& evaluation);
  void note_others(std::vector<std::string> others);
  void handle_death();
  void handle_timeout();
  [[nodiscard]] double limit_of_phase(const std::string& phase) const;
  void reference_failed(const std::string& reason);
  void request_reference();
  void send_reference();
  void send_next();
  [[nodiscard]] std::optional<std::size_t> next_ready();
  void send(Entry entry);
  bool apply_settings(Entry& entry);
  void start_worker();
  [[nodiscard]] double device_seconds() const {
    return options_.clock != nullptr ? options_.clock->now() : monotonic_seconds();
  }
  void send_probe(const CompileOutcome& binary, const std::vector<Value>& configuration);
  void handle_probe(const nlohmann::json& message);
  void probe_failed(const std::string& why);
  void finish_uncompilable();
  [[nodiscard]] Done completed(Entry entry, Evaluation evaluation);
  void finish(Entry entry, Evaluation evaluation) {
    finished_.push_back(completed(std::move(entry), std::move(evaluation)));
  }
  void finish_failed(Entry entry, Outcome outcome, const std::string& message);
  void wait(double seconds, int wake_fd);
  void check_includes() const;
  [[nodiscard]] CompileRequest compile_request(const std::vector<Value>& configuration) const;
  [[nodiscard]] nlohmann::json open_request() const;
  void note(const std::string& text) const {
    if (options_.on_note) options_.on_note(text);
  }

  /// An included file as it was when the run began. Compilers read it anew for every variant.
  struct Include {
    std::filesystem::path path;
    std::filesystem::file_time_type written;
  };

  const Problem& problem_;
  std::vector<Include> includes_;
  std::string includes_hash_;
  std::string text_;
  LiveOptions options_;
  DeviceInfo device_;
  std::set<std::string> warnings_;  ///< of workers, each of which gives its own
  std::string meter_ = "none";
  bool opened_ = false;
  bool wait_for_quiet_ = false;
  int failed_opens_ = 0;
  std::vector<std::string> others_;  ///< on the device, as last told to the user
  CompilePool pool_;
  WorkerClient worker_;
  std::deque<Entry> waiting_;     ///< submitted, not yet given to the worker
  std::optional<Entry> current_;  ///< under way in the worker
  /// Failed so that its worker had to end. It counts once the device opens again: where that is lost, it may have been
  /// lost under an innocent configuration.
  std::optional<Done> suspect_;
  std::deque<Done> finished_;
  DeathLog* deaths_ = nullptr;
  LaunchLimit launch_limit_;
  EnergyBounds energy_bounds_;
  double limit_ = 0;  ///< seconds, of the phase under way
  Profile profile_;
  double idle_since_ = 0;  ///< when the worker became idle

  SettingOrder order_;
  bool lock_checked_ = false;
  int failed_probes_ = 0;

  std::string reference_needs_ = "nothing";
  Reference reference_ = Reference::ready;
  std::string reference_key_;
  std::vector<Value> reference_configuration_;
  std::shared_ptr<const CompileOutcome> reference_binary_;
};

}  // namespace wattune
