#pragma once
// Reference outputs, and the run of a configuration that is held against them.

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "evaluate/argument_set.hpp"
#include "evaluate/session.hpp"
#include "evaluate/steps.hpp"
#include "problem/problem.hpp"

namespace wattune {

class Verifier {
 public:
  /// Computes or reads the reference where it comes from the host. @throws UsageError where it cannot be had.
  Verifier(const Problem& problem, Device& device, ArgumentSet& arguments);

  [[nodiscard]] Session::Needs needs() const noexcept;

  /// Runs these once and takes their outputs as the reference.
  std::optional<Failure> take_reference(const Steps& steps, bool is_reference_kernel);

  struct Verdict {
    std::string verification;         ///< "verified", "consistent", "unverified" or "simulated"
    std::optional<double> max_error;  ///< see Comparison; nothing where nothing was compared
  };
  /// Runs these once, looks for writes out of bounds, and fetches the outputs. @return the seconds that the run took on
  /// the host's clock: a little more than the device was busy.
  tl::expected<double, Failure> run(const Steps& steps);
  /// Compares the outputs that run() has fetched, which needs no device.
  tl::expected<Verdict, Failure> judge() const;

 private:
  void compute_host_reference();
  void read_reference_data();
  std::optional<Failure> run_guarded(const Steps& steps);
  [[nodiscard]] Tolerance tolerance(const Argument& argument) const;

  const Problem& problem_;
  Device& device_;
  ArgumentSet& arguments_;
  std::vector<std::vector<std::byte>> reference_;     ///< one per output; empty until it is known
  std::string kind_;                                  ///< of the reference: "verified" or "consistent"
  std::vector<std::unique_ptr<HostMemory>> fetched_;  ///< the last run's outputs
};

}  // namespace wattune
