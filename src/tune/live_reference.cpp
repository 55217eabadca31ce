// How a live evaluator comes by the outputs to compare with.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tune/compile_cached.hpp"
#include "tune/live_evaluator.hpp"
#include "tune/wire.hpp"

namespace wattune {

using nlohmann::json;

void LiveEvaluator::request_reference() {
  if (reference_needs_ == "nothing" || reference_ == Reference::from_first) return;
  reference_ = Reference::wanted;
  if (!reference_key_.empty()) return;  // a new worker: the binary is known already
  const bool own_kernel = reference_needs_ == "reference_kernel";
  if (!own_kernel) reference_configuration_ = problem_.defaults;
  const auto request = own_kernel ? reference_request(problem_, device_.id) : compile_request(reference_configuration_);
  reference_key_ = CompilePool::key(request);
  pool_.add(reference_key_, request);
}

void LiveEvaluator::send_reference() {
  if (!reference_binary_) reference_binary_ = pool_.find(reference_key_);
  if (!reference_binary_) return;
  if (!*reference_binary_) {
    reference_failed(reference_needs_ == "reference_kernel" ? reference_binary_->error().message : "it does not build");
    return;
  }
  limit_ = options_.phase_timeout_seconds;
  worker_.request({{"op", "reference"},
                   {"binary", wattune::to_json(**reference_binary_)},
                   {"configuration", to_json(reference_configuration_)}},
                  WorkerClient::State::referencing, limit_);
}

void LiveEvaluator::handle_reference_answer(const json& message) {
  if (message.contains("failure")) {
    reference_failed(failure_from_json(message.at("failure")).message);
  } else {
    reference_ = Reference::ready;
  }
}

void LiveEvaluator::reference_failed(const std::string& reason) {
  if (reference_needs_ == "reference_kernel") {
    throw UsageError(fmt::format("{}: wattune.Verification.Reference.Kernel: the reference kernel '{}' failed: {}",
                                 problem_.file.string(), problem_.verification.kernel->name, reason));
  }
  note(fmt::format("the default configuration cannot serve as the reference ({}); the first one that runs will",
                   reason.substr(0, reason.find('\n'))));
  reference_ = Reference::from_first;
  reference_binary_.reset();
  reference_key_.clear();
}

}  // namespace wattune
