#pragma once
// Recorded results as commands read and show them.

#include <span>
#include <string>
#include <vector>

#include "report/format.hpp"
#include "report/table.hpp"
#include "store/formats/results.hpp"

namespace wattune::cli {

/// What becomes of a finalist's trials: their means, as the run reported them, or each stays as it is.
enum class Trials { means, each };

/// Reads a file, and warns of what was dropped. Where it is to be analysed (means), values that cannot be do not count.
/// @throws as read_results()
Results read_recorded(const std::string& file, Trials trials = Trials::means);

/// The same, without evaluations that have a value which its parameter does not list; warns of these, too.
Results read_recorded_space(const std::string& file);

/// As objectives_of(); tells where time is taken because the file does not say what was tuned for.
std::vector<Objective> recorded_objectives(const Results& results, const std::vector<std::string>& minimize,
                                           const std::vector<std::string>& maximize);

/// Tells of configurations that lack an objective because their energy was not measured: they could not win.
void tell_of_bounds(const Results& results, std::span<const Objective> objectives);

/// Part of a table with a row for each configuration: some quantities, then the parameters that take more than one
/// value.
class RecordedColumns {
 public:
  /// @param first where units are taken from: an evaluation that has all these quantities
  /// @param results must outlive this object
  RecordedColumns(const Results& results, std::vector<std::string> quantities, const Evaluation& first);

  void add_to(std::vector<Table::Column>& columns) const;
  /// The cells of an evaluation that has all the quantities.
  void add_to(std::vector<std::string>& cells, const Evaluation& evaluation, bool with_errors) const;

 private:
  const JournalHeader& header_;
  std::vector<std::string> quantities_;
  std::vector<Scale> scales_;
  std::vector<std::size_t> parameters_;
};

}  // namespace wattune::cli
