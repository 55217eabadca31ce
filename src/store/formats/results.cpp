#include "store/formats/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "result/order.hpp"
#include "result/trials.hpp"
#include "store/formats/formats.hpp"
#include "store/journal_reader.hpp"

namespace wattune {

namespace {

struct NamedFormat {
  ResultFormat format;
  std::string_view name;
};
constexpr NamedFormat format_names[] = {{ResultFormat::journal, "journal"},
                                        {ResultFormat::kernel_tuner, "kernel-tuner"},
                                        {ResultFormat::t4, "t4"},
                                        {ResultFormat::csv, "csv"}};

/// A source of which the beginning has been looked at.
class Rewound : public ByteSource {
 public:
  Rewound(std::string beginning, ByteSource& rest) : beginning_(std::move(beginning)), rest_(rest) {}
  std::size_t read(char* buffer, std::size_t count) override {
    if (at_ == beginning_.size()) return rest_.read(buffer, count);
    const std::size_t n = beginning_.copy(buffer, count, at_);
    at_ += n;
    return n;
  }

 private:
  std::string beginning_;
  std::size_t at_ = 0;
  ByteSource& rest_;
};

void read_journal_results(ByteSource& source, const std::filesystem::path& file, Results& results) {
  JournalText journal = parse_journal_text(read_all(source), file);
  results.format = ResultFormat::journal;
  results.header = std::move(journal.content.header);
  results.evaluations = std::move(journal.content.evaluations);
  results.notes = std::move(journal.content.warnings);
}

/// Kernel Tuner caches and T4: an object of which one member is large.
void read_json_results(ByteSource& source, const std::filesystem::path& file, Results& results) {
  JsonStream stream(source);
  KernelTunerReader cache(results, file.string());
  T4Reader t4(results);
  bool is_cache = false;
  bool is_t4 = false;
  stream.take('{');
  while (const auto key = stream.key()) {
    if (*key == "cache" && !is_t4) {
      is_cache = true;
      cache.read_cache(stream);
    } else if (*key == "results" && !is_cache) {
      is_t4 = true;
      t4.read_results(stream);
    } else {
      const auto text = stream.value();
      if (!text) break;
      is_cache = is_cache || (*key == "tune_params_keys" && !is_t4);
      if (is_t4 || !cache.take_header(*key, *text)) t4.take_header(*key, *text);
    }
    stream.comma();
  }
  if (!is_cache && !is_t4) {
    throw UsageError(
        fmt::format("cannot read the results '{}': it is JSON, but no journal, no Kernel Tuner cache (there is no key "
                    "'tune_params_keys') and no T4 (there is no key 'results')",
                    file.string()));
  }
  results.format = is_cache ? ResultFormat::kernel_tuner : ResultFormat::t4;
  if (is_cache)
    cache.finish();
  else
    t4.finish();
}

constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"energy", "nvml_energy"}, {"energy", "ps_energy"},     {"energy", "pmt_energy"}, {"energy", "tegra_energy"},
    {"power", "nvml_power"},   {"power", "ps_power"},       {"power", "pmt_power"},   {"power", "tegra_power"},
    {"sm_clock", "core_freq"}, {"memory_clock", "mem_freq"}};

/// What is better, where the name of a quantity tells.
std::optional<Direction> usual_direction(const std::string& name) {
  for (const std::string_view less : {"time", "time_min", "energy", "power"}) {
    if (name == less || name.ends_with(fmt::format("_{}", less))) return Direction::minimize;
  }
  for (const std::string_view more : {"FLOP", "flop", "B/s"}) {
    if (name.find(more) != std::string::npos) return Direction::maximize;
  }
  return std::nullopt;
}

/// As people call them.
std::string_view outcome_words(Outcome outcome, std::size_t count) {
  const bool one = count == 1;
  switch (outcome) {
    case Outcome::ok:
      return "without it";
    case Outcome::constraints:
      return one ? "restriction violated" : "restrictions violated";
    case Outcome::compile:
      return one ? "compile error" : "compile errors";
    case Outcome::resources:
      return "beyond the device's resources";
    case Outcome::launch:
      return one ? "failed launch" : "failed launches";
    case Outcome::timeout:
      return one ? "timeout" : "timeouts";
    case Outcome::crash:
      return one ? "crash" : "crashes";
    case Outcome::correctness:
      return one ? "wrong answer" : "wrong answers";
    case Outcome::measurement:
      return "not measured";
    case Outcome::lost_device:
      return one ? "lost device" : "lost devices";
  }
  return to_string(outcome);
}

}  // namespace

std::string_view to_string(ResultFormat format) {
  return std::find_if(std::begin(format_names), std::end(format_names),
                      [&](const auto& n) { return n.format == format; })
      ->name;
}

ResultFormat result_format_from(std::string_view text) {
  for (const auto& named : format_names) {
    if (named.name == text) return named.format;
  }
  throw UsageError(fmt::format("there is no format '{}'; there are journal, kernel-tuner, t4 and csv", text));
}

Results read_results(const std::filesystem::path& file) {
  const auto source = open_source(file);
  return read_results(*source, file);
}

Results read_results(ByteSource& source, const std::filesystem::path& file) {
  std::string beginning(std::size_t{1} << 16, '\0');
  std::size_t length = 0;
  for (std::size_t n = 1; n > 0 && length < beginning.size(); length += n) {
    n = source.read(beginning.data() + length, beginning.size() - length);
  }
  beginning.resize(length);
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    throw UsageError(fmt::format("cannot read the results '{}': the file is empty", file.string()));
  const bool is_json = beginning[first] == '{';
  const std::string_view line = std::string_view(beginning).substr(first, beginning.find('\n', first) - first);
  const bool is_journal = is_json && line.find("\"wattune_journal\"") < 64;
  Results results;
  results.file = file.string();
  Rewound rewound(std::move(beginning), source);
  if (is_journal) {
    read_journal_results(rewound, file, results);
  } else if (is_json) {
    read_json_results(rewound, file, results);
  } else {
    results.format = ResultFormat::csv;
    read_csv(read_all(rewound), file.string(), results);
  }
  if (!source.ended_early().empty()) results.notes.push_back(source.ended_early() + "; what follows is lost");
  if (results.format == ResultFormat::t4 || results.format == ResultFormat::csv) number_trials(results);
  complete_header(results);
  return results;
}

ResultFormat format_for(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (name.ends_with(".jsonl")) return ResultFormat::journal;
  if (name.ends_with(".csv")) return ResultFormat::csv;
  for (const std::string_view ending : {".t4.json", ".T4.json", "_T4.json", "_t4.json", "-t4.json", "-T4.json"}) {
    if (name.ends_with(ending)) return ResultFormat::t4;
  }
  if (name == "t4.json" || name == "T4.json") return ResultFormat::t4;
  if (name.ends_with(".json")) return ResultFormat::kernel_tuner;
  throw UsageError(fmt::format(
      "the name '{}' tells no format; use .jsonl (journal), .json (Kernel Tuner cache), .t4.json or .csv, or "
      "give --to journal, kernel-tuner, t4 or csv",
      file.string()));
}

std::vector<std::string> write_results(const Results& results, const std::filesystem::path& file, ResultFormat format) {
  OutputFile out(file);
  auto notes = write_results(results, out, format);
  out.commit();
  return notes;
}

std::vector<std::string> write_results(const Results& results, ByteSink& out, ResultFormat format) {
  std::vector<std::string> notes;
  switch (format) {
    case ResultFormat::journal:
      write_journal(results, out);
      break;
    case ResultFormat::kernel_tuner: {
      // There is place for one evaluation of a configuration: not any trial, but the means.
      Results means = results;
      replace_final_trials(means.evaluations);
      write_kernel_tuner(means, out, notes);
      break;
    }
    case ResultFormat::t4:
      write_t4(results, out);
      break;
    case ResultFormat::csv:
      write_csv(results, out, notes);
      break;
  }
  return notes;
}

std::string why_none_has(const Results& results, const std::string& quantity) {
  const auto configurations = competing(results.evaluations);
  if (configurations.empty()) return "it holds no evaluation";
  std::map<Outcome, std::size_t> counts;
  for (const std::size_t i : configurations) ++counts[results.evaluations[i].outcome];
  std::string reasons;
  for (const auto& [outcome, count] : counts) {
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, outcome_words(outcome, count));
  }
  if (configurations.size() == 1) return fmt::format("its one configuration has no valid {} ({})", quantity, reasons);
  return fmt::format("none of its {} configurations has a valid {} ({})", configurations.size(), quantity, reasons);
}

std::vector<std::string> quantity_names(const Results& results) {
  std::set<std::string> names;
  for (const auto& evaluation : results.evaluations) {
    if (!evaluation.ok()) continue;
    for (const auto& [name, quantity] : evaluation.quantities) {
      if (std::isfinite(quantity.value) && !names.contains(name)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::string quantity_named(const Results& results, const std::string& name) {
  const auto names = quantity_names(results);
  const auto has = [&](std::string_view wanted) { return std::binary_search(names.begin(), names.end(), wanted); };
  if (has(name)) return name;
  for (const auto& [ours, theirs] : other_names) {
    if (name == ours && has(theirs)) return std::string(theirs);
  }
  const std::string prefix = results.file.empty() ? "" : results.file + ": ";
  const bool is_there =
      std::ranges::any_of(results.evaluations, [&](const Evaluation& e) { return e.quantities.contains(name); });
  if (names.empty() || is_there) throw UsageError(prefix + why_none_has(results, name));
  throw UsageError(
      fmt::format("{}'{}' is not recorded in these results; there are: {}", prefix, name, fmt::join(names, ", ")));
}

std::vector<Objective> objectives_of(const Results& results, const std::vector<std::string>& minimize,
                                     const std::vector<std::string>& maximize) {
  std::vector<Objective> objectives;
  for (const auto& name : minimize) objectives.push_back({quantity_named(results, name), Direction::minimize});
  for (const auto& name : maximize) objectives.push_back({quantity_named(results, name), Direction::maximize});
  if (!objectives.empty()) return objectives;
  for (const auto& recorded : results.objectives) {
    const std::string name = quantity_named(results, recorded);
    const auto direction = usual_direction(name);
    if (!direction) {
      throw UsageError(fmt::format(
          "these results were tuned for '{0}'; say whether less or more of it is better: --minimize '{0}' or "
          "--maximize '{0}'",
          name));
    }
    objectives.push_back({name, *direction});
  }
  if (objectives.empty()) objectives.push_back({quantity_named(results, "time"), Direction::minimize});
  return objectives;
}

std::vector<Parameter> parameters_of(const Results& results) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < results.header.parameter_names.size(); ++i) {
    parameters.push_back({results.header.parameter_names[i], results.header.parameter_values[i]});
  }
  return parameters;
}

std::optional<double> tuning_seconds(const Evaluation& evaluation) {
  double sum = 0;
  bool any = false;
  bool has_runs = false;
  for (const auto& [name, seconds] : evaluation.phases) {
    if (name == "strategy" || !std::isfinite(seconds)) continue;
    sum += seconds;
    any = true;
    has_runs = has_runs || name == "benchmark" || name == "time" || name == "energy";
  }
  const auto time = evaluation.quantities.find("time");
  if (!has_runs && time != evaluation.quantities.end()) {
    for (const double sample : time->second.samples) {
      sum += sample;
      any = true;
    }
  }
  return any ? std::optional<double>(sum) : std::nullopt;
}

}  // namespace wattune
