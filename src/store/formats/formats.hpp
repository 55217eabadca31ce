#pragma once
// The formats, one by one. results.hpp puts them together.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "store/formats/byte_source.hpp"
#include "store/formats/json_stream.hpp"
#include "store/formats/record_text.hpp"
#include "store/formats/results.hpp"

namespace wattune {

/// Counts what is dropped, to tell of it once for each reason.
class Drops {
 public:
  void add(const std::string& what, const std::string& example) {
    auto [found, is_new] = counts_.try_emplace(what, 0, example);
    ++found->second.first;
    if (is_new) order_.push_back(what);
  }
  /// "what (N times; the first: example)".
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  std::unordered_map<std::string, std::pair<std::size_t, std::string>> counts_;
  std::vector<std::string> order_;
};

/// Reads the members of one large JSON object, or the elements of a list, behind its opening bracket. What is damaged
/// is noted and passed over.
/// @param keyed an object, whose members are objects; else a list.
/// @param add takes a member's key (empty in a list) and its text; false: it is damaged.
void read_members(JsonStream& stream, bool keyed, std::vector<std::string>& notes,
                  const std::function<bool(const std::string& key, std::string_view text)>& add);

/// A Kernel Tuner cache, member by member of the file's object.
class KernelTunerReader {
 public:
  KernelTunerReader(Results& results, std::string file) : results_(results), file_(std::move(file)) {}
  /// Takes a member before or behind the cache. @return false for a key that it does not know.
  /// @throws UsageError naming file and key.
  bool take_header(std::string_view key, std::string_view json);
  /// Reads the cache's members, from its opening brace on.
  void read_cache(JsonStream& stream);
  /// What is left to do once the file has ended.
  void finish();

 private:
  bool take_entry(const std::string& key, std::string_view json);
  void take_field(Evaluation& evaluation, std::string_view key, const simdjson::dom::element& value);
  void take_text(Evaluation& evaluation, std::string_view key, std::string_view text);
  void take_problem_size(const simdjson::dom::element& element);
  void set_names(std::vector<std::string> names);
  bool complete_configuration(Evaluation& evaluation, const std::string& key) const;
  [[nodiscard]] UsageError error(std::string_view key, std::string_view expected) const;

  Results& results_;
  std::string file_;
  LenientParser parser_;
  Drops drops_;
  std::unordered_map<std::string, std::size_t> index_;          ///< of evaluations, by their keys in the cache
  std::unordered_map<std::string, std::vector<Value>> values_;  ///< by parameter, as tune_params lists them
  std::vector<bool> seen_;                                      ///< parameters of the entry being read
  bool has_cache_ = false;
};

/// T4, likewise.
class T4Reader {
 public:
  explicit T4Reader(Results& results) : results_(results) {}
  bool take_header(std::string_view key, std::string_view json);
  void read_results(JsonStream& stream);
  void finish();

 private:
  bool take_result(std::string_view json);
  bool take_configuration(Evaluation& evaluation, const simdjson::dom::element& element);
  void take_times(Evaluation& evaluation, const simdjson::dom::element& element);
  void take_measurements(Evaluation& evaluation, const simdjson::dom::element& element);
  [[nodiscard]] FileUnit conversion_of(std::string_view name, std::string_view unit) const;

  Results& results_;
  LenientParser parser_;
  Drops drops_;
  double seconds_per_unit_ = 1e-3;
};

void write_kernel_tuner(const Results& results, ByteSink& out, std::vector<std::string>& notes);
void write_t4(const Results& results, ByteSink& out);
void write_csv(const Results& results, ByteSink& out, std::vector<std::string>& notes);
void write_journal(const Results& results, ByteSink& out);

/// @throws UsageError naming file and line where it is no CSV of results.
void read_csv(std::string_view text, const std::string& file, Results& results);

}  // namespace wattune
