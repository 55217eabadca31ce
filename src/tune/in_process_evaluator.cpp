#include "tune/in_process_evaluator.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "tune/backends.hpp"
#include "tune/compile_cached.hpp"

namespace wattune {

InProcessEvaluator::InProcessEvaluator(const Problem& problem, InProcessOptions options)
    : problem_(problem), options_(std::move(options)) {
  if (!options_.cache_folder.empty()) cache_.emplace(options_.cache_folder);
  Hasher includes;
  for (const auto& [path, hash] : problem.kernel.includes) includes.add(path.string()).add(hash);
  includes_hash_ = includes.hex();
  open();
}

void InProcessEvaluator::open() {
  session_.reset();
  MeasureOptions measure;
  measure.energy_estimator = options_.energy_estimator;
  session_ = std::make_unique<DeviceSession>(problem_, options_.device, options_.energy, measure);
  info_ = session_->info();
  meter_ = session_->meter();
  if (!compiler_) compiler_ = make_backend(backend_of_device(options_.device))->compiler(info_.id);
  take_reference();
}

CompileOutcome InProcessEvaluator::compile(const CompileRequest& request) {
  return compile_cached(*compiler_, cache_ ? &*cache_ : nullptr, request).outcome;
}

void InProcessEvaluator::take_reference() {
  const auto needs = session_->session().needs();
  if (needs == Session::Needs::nothing || reference_from_first_) return;
  const bool own_kernel = needs == Session::Needs::reference_kernel;
  const std::vector<Value> configuration =
      own_kernel ? std::vector<Value>() : reference_configuration_.value_or(problem_.defaults);
  const auto binary = compile(own_kernel ? reference_request(problem_, info_.id)
                                         : variant_request(problem_, info_.id, includes_hash_, configuration));
  if (!binary) return reference_failed(own_kernel ? binary.error().message : "it does not build");
  if (const auto failure = session_->session().set_reference(*binary, configuration)) {
    reference_failed(failure->message);
  }
}

void InProcessEvaluator::reference_failed(const std::string& reason) {
  if (problem_.verification.reference == Verification::Reference::kernel) {
    throw UsageError(fmt::format("{}: wattune.Verification.Reference.Kernel: the reference kernel '{}' failed: {}",
                                 problem_.file.string(), problem_.verification.kernel->name, reason));
  }
  if (options_.on_note) {
    options_.on_note(
        fmt::format("the default configuration cannot serve as the reference ({}); the first one that runs "
                    "will",
                    reason.substr(0, reason.find('\n'))));
  }
  reference_from_first_ = true;
}

std::optional<Evaluator::Done> InProcessEvaluator::next(double /*seconds*/, int /*wake_fd*/) {
  if (queue_.empty()) return std::nullopt;
  Done done{std::move(queue_.front()), {}};
  queue_.pop_front();
  done.evaluation = evaluate(done.proposal);
  done.evaluation.configuration = done.proposal.configuration;
  done.evaluation.board = info_.board();
  done.evaluation.timestamp = utc_timestamp();
  done.evaluation.proposal = done.proposal.number;
  done.evaluation.told = done.proposal.told;
  return done;
}

/// Once for each change, not for each evaluation.
void InProcessEvaluator::note_others() {
  const auto& others = session_->others();
  if (!others.empty() && others != others_ && options_.on_note) options_.on_note(note_about(others, info_));
  others_ = others;
}

void InProcessEvaluator::recorded(const Evaluation& evaluation) {
  energy_bounds_.learn(evaluation, {});
}

Evaluation InProcessEvaluator::evaluate(const Proposal& proposal) {
  const std::vector<Value>& configuration = proposal.configuration;
  Evaluation evaluation;
  const auto failed = [&](const Failure& failure) {
    evaluation.outcome = failure.outcome;
    evaluation.message = failure.message;
    return evaluation;
  };
  if (!session_) open();
  try {
    const auto binary = compile(variant_request(problem_, info_.id, includes_hash_, configuration));
    if (!binary) return failed(binary.error());
    EvaluateOptions wanted;
    wanted.exact = proposal.tier == "final";
    if (options_.skip_hopeless && proposal.tier == "screen") {
      wanted.hopeless_energy = energy_bounds_.least();
      wanted.least_beyond_idle = energy_bounds_.beyond_idle({});
    }
    auto result = session_->evaluate(*binary, configuration, reference_from_first_, wanted);
    evaluation = std::move(result.evaluation);
    energy_bounds_.learn(evaluation, {});
    note_others();
    evaluation.phases["compile"] = binary->seconds;
    for (const auto& [name, value] : binary->resources) evaluation.resources.try_emplace(name, value);
    if (reference_from_first_ && evaluation.ok()) {
      reference_from_first_ = false;
      reference_configuration_ = configuration;
    }
    if (result.poisoned) session_.reset();
    return evaluation;
  } catch (const ExpressionError& error) {
    return failed({Outcome::launch, error.what()});
  }
}

}  // namespace wattune
