#pragma once
// Recorded results, whatever file they come from: the project's journal, a Kernel Tuner cache, T4, CSV. One model in
// memory, in SI units; docs/results.md describes the formats, and what each cannot hold.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "result/evaluation.hpp"
#include "store/formats/byte_source.hpp"
#include "store/journal.hpp"

namespace wattune {

enum class ResultFormat { journal, kernel_tuner, t4, csv };
/// "journal", "kernel-tuner", "t4", "csv".
std::string_view to_string(ResultFormat format);
/// The inverse. @throws UsageError that lists the names.
ResultFormat result_format_from(std::string_view text);

struct Results {
  ResultFormat format = ResultFormat::journal;  ///< of the file
  /// Of what the results are: kernel, device, parameters with their values. What the file does not say is empty. Where
  /// it does not list a parameter's values, they are those that occur, in increasing order.
  JournalHeader header;
  std::vector<std::string> objectives;  ///< names of the quantities that were tuned for, where the file has them
  std::vector<Evaluation> evaluations;  ///< in the order of the file
  std::vector<std::string> notes;       ///< what was dropped, and why: one line each
  std::string file;                     ///< that they were read from, for messages; empty: several, or none
};

/// Reads a file, compressed with gzip or not; its content tells its format. What is whole is read, what is damaged or
/// cut off is dropped with a note.
/// @throws UsageError where the file cannot be read, or is none of these formats.
Results read_results(const std::filesystem::path& file);

/// The same from a source. @param file stands for it in messages.
Results read_results(ByteSource& source, const std::filesystem::path& file);

/// The format that a file's name asks for: .jsonl, .csv, .t4.json or _T4.json, other .json (a Kernel Tuner cache), each
/// perhaps followed by .gz. @throws UsageError for any other name.
ResultFormat format_for(const std::filesystem::path& file);

/// Writes a file whole, or leaves what was there; compressed where its name ends in .gz.
/// @return what the format cannot hold of these results, one line each. @throws RunError where it cannot be written.
std::vector<std::string> write_results(const Results& results, const std::filesystem::path& file, ResultFormat format);
std::vector<std::string> write_results(const Results& results, ByteSink& out, ResultFormat format);

/// The quantity that is meant by a name: itself where it is recorded, else what other programs call it (energy:
/// nvml_energy, ps_energy, ...; power; sm_clock: core_freq; memory_clock: mem_freq). @throws UsageError that names the
/// file and lists what is recorded, or says why nothing is.
std::string quantity_named(const Results& results, const std::string& name);

/// Why nothing can be chosen by a quantity, of results in which no configuration has a finite value of it: "none of its
/// 512 configurations has a valid energy (500 compile errors, 12 wrong answers)".
std::string why_none_has(const Results& results, const std::string& quantity);

/// Names of the quantities that some successful evaluation has, sorted.
std::vector<std::string> quantity_names(const Results& results);

/// What results are compared by: as asked for, else what the file says was tuned for, else time. The direction of a
/// recorded one follows from its name where that is known (time, energy: less; GFLOP/s, GFLOP/J, GB/s: more).
/// @throws UsageError for a name that is not recorded, and where a direction has to be given.
std::vector<Objective> objectives_of(const Results& results, const std::vector<std::string>& minimize,
                                     const std::vector<std::string>& maximize);

/// The parameters of the header.
std::vector<Parameter> parameters_of(const Results& results);

/// Seconds that an evaluation took: its phases but the search's own; where how long the kernel was run is not recorded,
/// the sum of its single times stands for it. Nothing where the file records no times at all.
std::optional<double> tuning_seconds(const Evaluation& evaluation);

}  // namespace wattune
