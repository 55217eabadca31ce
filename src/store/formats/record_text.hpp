#pragma once
// What the formats have in common: units, names of failures, and an object under which the JSON formats keep what they
// have no place for.

#include <simdjson.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "store/formats/results.hpp"

namespace wattune {

/// How a quantity of this name is written: file = SI * per_si.
struct FileUnit {
  double per_si = 1;
  std::string_view si;    ///< SI unit; empty where the name says nothing about it
  std::string_view file;  ///< unit in the file
};
/// By Kernel Tuner's conventions: times in ms, clocks in MHz; energies in J, powers in W.
FileUnit file_unit(std::string_view name);

/// SI units per one of this unit ("ms": 0.001 s), of the units that T4 files and CSV titles name.
struct UnitScale {
  double si_per_unit = 1;
  std::string_view si;
};
std::optional<UnitScale> unit_scale(std::string_view unit);

/// A number from a file in SI units, and the inverse. Neither is exact for every number: the one nearest to being read
/// back as the same is taken.
double to_si(double number, double per_si);
double to_file(double number, double per_si);

/// What a name of Kernel Tuner's failures means.
std::optional<Outcome> outcome_of_error(std::string_view name);
std::string_view error_of_outcome(Outcome outcome);

/// The key of the object that holds what a format has no place for.
inline constexpr const char* extras_key = "wattune";

/// What a format keeps of an evaluation in places of its own.
struct Places {
  bool units = false;    ///< of quantities
  Outcome outcome_back;  ///< as which the outcome would be read back
  bool message = false;
};
/// The rest of it; an empty object where nothing is left.
nlohmann::json extras_of(const Evaluation& evaluation, const Places& places);
/// Adds them to an evaluation. What is damaged is passed over.
void apply_extras(Evaluation& evaluation, const simdjson::dom::element& extras);

/// The header as journals have it, and what of it such an object tells. @return false where it is damaged.
nlohmann::json header_to_json(const JournalHeader& header);
bool apply_header(JournalHeader& header, std::string_view json);

/// Seconds of these phases are written as a format's own times.
struct PhaseName {
  std::string_view phase;
  std::string_view kernel_tuner;
  std::string_view t4;
};
inline constexpr PhaseName phase_names[] = {{"compile", "compile_time", "compilation_time"},
                                            {"verify", "verification_time", "validation"},
                                            {"benchmark", "benchmark_time", "benchmark"},
                                            {"strategy", "strategy_time", "search_algorithm"},
                                            {"framework", "framework_time", "framework"}};

/// Adds a number to an evaluation's quantities. One that is no finite number is not a quantity.
void add_quantity(Evaluation& evaluation, std::string_view name, double number_in_file);

/// Its single measurements, in SI units, with the number and standard error that follow from them.
void set_samples(Quantity& quantity, std::vector<double> samples);

/// Parses JSON, with bare NaN and infinities read as null.
class LenientParser {
 public:
  /// @param text followed by JsonStream::padding readable bytes. Nothing where it is no JSON.
  std::optional<simdjson::dom::element> parse(std::string_view text);

 private:
  simdjson::dom::parser parser_;
  std::string repaired_;
};

/// A parameter's value. Nothing for an object or null.
std::optional<Value> value_of(const simdjson::dom::element& element);

/// Sets each parameter's values to those that occur, where the header does not list them, and the trial of each
/// evaluation that has none of its own where a configuration was measured more than once.
void complete_header(Results& results);
void number_trials(Results& results);

/// A number as JSON has it, with as many digits as it takes.
std::string number_text(double number);

}  // namespace wattune
