#include "evaluate/verifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/clock.hpp"
#include "problem/argument_data.hpp"

namespace wattune {

Verifier::Verifier(const Problem& problem, Device& device, ArgumentSet& arguments)
    : problem_(problem), device_(device), arguments_(arguments) {
  // Simulated devices execute nothing that could be compared.
  if (arguments.outputs().empty() || device.info().simulated) return;
  const auto source = problem.verification.reference;
  if (source == Verification::Reference::host) compute_host_reference();
  if (source == Verification::Reference::data) read_reference_data();
}

void Verifier::compute_host_reference() {
  const std::string& name = problem_.verification.host_function;
  const HostReference function = find_host_reference(name);
  if (!function) {
    const auto known = host_reference_names();
    throw UsageError(fmt::format("{}: Verification: there is no host function {}; there are: {}",
                                 problem_.file.string(), name,
                                 known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  auto values = arguments_.initial();
  function(problem_, values);
  for (const std::size_t index : arguments_.outputs()) {
    const Argument& argument = problem_.arguments[index];
    if (values[index].size() != argument.size * argument.type.bytes) {
      throw UsageError(fmt::format("host function {} gives {} bytes for argument {}, which has {}", name,
                                   values[index].size(), argument.name, argument.size * argument.type.bytes));
    }
    reference_.push_back(std::move(values[index]));
  }
  kind_ = "verified";
}

void Verifier::read_reference_data() {
  for (const std::size_t index : arguments_.outputs()) {
    const Argument& argument = problem_.arguments[index];
    const auto found = problem_.verification.data.find(argument.name);
    if (found == problem_.verification.data.end()) {
      throw UsageError(
          fmt::format("{}: Verification: there is no reference data for output {}; add it, or do not mark "
                      "the argument as output",
                      problem_.file.string(), argument.name));
    }
    reference_.push_back(fill_data(problem_, found->second, argument.type, argument.size, argument.name));
  }
  kind_ = "verified";
}

Session::Needs Verifier::needs() const noexcept {
  if (arguments_.outputs().empty() || device_.info().simulated || !reference_.empty()) return Session::Needs::nothing;
  return problem_.verification.reference == Verification::Reference::kernel ? Session::Needs::reference_kernel
                                                                            : Session::Needs::default_configuration;
}

std::optional<Failure> Verifier::run_guarded(const Steps& steps) {
  arguments_.prepare_for_verification();
  if (auto failed = run_steps(device_, steps)) return failed;
  return arguments_.check_untouched();
}

std::optional<Failure> Verifier::take_reference(const Steps& steps, bool is_reference_kernel) {
  if (auto failed = run_guarded(steps)) return failed;
  reference_.clear();
  for (const std::size_t index : arguments_.outputs()) reference_.push_back(arguments_.read(index));
  kind_ = is_reference_kernel ? "verified" : "consistent";
  return std::nullopt;
}

Tolerance Verifier::tolerance(const Argument& argument) const {
  Tolerance result = default_tolerance(argument.type);
  const Verification& verification = problem_.verification;
  if (verification.absolute_tolerance) result.absolute = *verification.absolute_tolerance;
  if (verification.relative_tolerance) result.relative = *verification.relative_tolerance;
  return result;
}

tl::expected<double, Failure> Verifier::run(const Steps& steps) {
  arguments_.prepare_for_verification();
  const double began = monotonic_seconds();
  if (auto failed = run_steps(device_, steps)) return tl::unexpected(*failed);
  const double seconds = monotonic_seconds() - began;
  if (auto failed = arguments_.check_untouched()) return tl::unexpected(*failed);
  if (device_.info().simulated || reference_.empty()) return seconds;
  for (std::size_t i = 0; i < reference_.size(); ++i) {
    const std::size_t index = arguments_.outputs()[i];
    if (fetched_.size() <= i) fetched_.push_back(device_.allocate_host(arguments_.bytes(index)));
    arguments_.read(index, fetched_[i]->bytes());
  }
  return seconds;
}

tl::expected<Verifier::Verdict, Failure> Verifier::judge() const {
  if (device_.info().simulated) return Verdict{"simulated", std::nullopt};
  if (reference_.empty()) return Verdict{"unverified", std::nullopt};
  Verdict verdict{kind_, 0.0};
  std::string wrong;
  for (std::size_t i = 0; i < reference_.size(); ++i) {
    const std::size_t index = arguments_.outputs()[i];
    const Argument& argument = problem_.arguments[index];
    const std::span<const std::byte> output = fetched_[i]->bytes();
    const Tolerance allowed = tolerance(argument);
    const Comparison comparison = compare(argument.type, output, reference_[i], allowed);
    verdict.max_error = std::max(*verdict.max_error, comparison.max_error);
    if (comparison.wrong == 0) continue;
    if (!wrong.empty()) wrong += '\n';
    wrong += describe(comparison, argument.name, argument.type, output, reference_[i], allowed,
                      arguments_.unwritten_pattern(index));
  }
  if (!wrong.empty()) return tl::unexpected(Failure{Outcome::correctness, wrong});
  return verdict;
}

}  // namespace wattune
