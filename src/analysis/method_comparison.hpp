#pragma once
// Tuning methods side by side: what each would have found in results that hold every configuration, and what runs of
// them have found.

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "method/method.hpp"
#include "store/formats/results.hpp"

namespace wattune {

struct ComparedMethod {
  std::string name;
  std::vector<std::string> parameter_names;
  std::optional<Evaluation> answer;
  std::string missing;                                        ///< why there is no answer, in a few words
  std::string remark;                                         ///< what is to be known of the answer
  std::size_t evaluations = 0;                                ///< that it takes
  std::size_t settings = 0;                                   ///< combinations of device settings among these
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< tuning time of these; NaN where none is recorded
  double gap = std::numeric_limits<double>::quiet_NaN();      ///< to the best known, by the objective for efficiency
};

struct ComparisonOptions {
  Objective efficiency = {"energy", Direction::minimize};
  std::optional<double> base_clock;  ///< MHz
};

/// Gives every evaluation a quantity `energy` that lacks one: what other programs call so, else power x time; and
/// `power` likewise.
void complete_energy(Results& results);

/// How much of a space results hold.
struct Coverage {
  std::size_t recorded = 0;    ///< configurations
  std::size_t occurring = 0;   ///< combinations of the variants and the settings that are recorded
  std::optional<Count> valid;  ///< configurations of the whole space; nothing where the results do not tell it

  [[nodiscard]] bool is_partial() const { return recorded < (valid ? *valid : Count{occurring}); }
};
Coverage coverage_of(const Results& results);

/// @throws UsageError for a base clock (MHz) beyond the SM clocks that are recorded, where any is.
void require_recorded_base_clock(const Results& results, double mhz);

/// Every method by enumeration: as if each of its stages had tried all that it may. Counts what it would have
/// evaluated. The base clock is the nearest that is recorded.
/// @throws UsageError where no evaluation has the objective, and where the base clock is beyond those that are
/// recorded.
std::vector<ComparedMethod> enumerate_methods(const Results& results, const ComparisonOptions& options);

/// A run of a method. @param evaluations of that run, in order
ComparedMethod compare_run(const std::string& method, const std::vector<std::string>& parameter_names,
                           const std::vector<ParameterKind>& kinds, std::span<const Evaluation> evaluations,
                           const ComparisonOptions& options);
/// The runs of methods that a journal holds, in its order; empty where it holds none. Runs of one method (with other
/// seeds, or budgets) count as one, for they reuse each other's results. Trials in tier `final` count for all.
std::vector<ComparedMethod> recorded_runs(const Results& results, const ComparisonOptions& options);

/// Sets the gaps of all to the best answer among them, or to a better one that is known from elsewhere.
/// @param known values of the objective
void set_gaps(std::vector<ComparedMethod>& methods, const Objective& efficiency, std::span<const double> known = {});

/// One clock for several kernels, against each at its own.
struct CommonClock {
  struct Kernel {
    double own_clock = 0;   ///< MHz
    double own_energy = 0;  ///< J, at that
    double energy = 0;      ///< J, at the common clock
  };
  double clock = 0;             ///< MHz
  std::vector<Kernel> kernels;  ///< one for each file

  [[nodiscard]] double energy() const;
  [[nodiscard]] double own_energy() const;
};
/// The clock at which the sum of the kernels' least energies is least, of those at which all are recorded.
/// @throws UsageError where there is none, and for different device models. @param files names, for messages
CommonClock common_clock(std::span<const Results> kernels, std::span<const std::string> files);

/// Clocks against power limits as ways to hold power down.
struct CappingSide {
  std::optional<Evaluation> best;
  std::size_t settings = 0;
  /// The scatter of single times as a share of their mean, its median over configurations; NaN where it is not
  /// recorded.
  double time_spread = std::numeric_limits<double>::quiet_NaN();
};
struct Capping {
  CappingSide by_clock;  ///< at the greatest limit
  CappingSide by_limit;  ///< at the greatest clock
};
/// Nothing where the results do not have several power limits.
std::optional<Capping> compare_capping(const Results& results, const Objective& efficiency);

/// The kinds of the parameters of results, by their header, else by their names.
std::vector<ParameterKind> kinds_of(const Results& results);

}  // namespace wattune
