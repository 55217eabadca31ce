// CSV, a line for each evaluation: the parameters, then `outcome`, then the rest. docs/results.md has the titles.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "store/formats/csv_text.hpp"
#include "store/formats/formats.hpp"

namespace wattune {

namespace {

/// A field as it stood: text in quotes is never taken for a number.
struct Field {
  std::string text;
  bool quoted = false;
};

/// Reads records by RFC 4180. Quoted fields may hold line ends.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  /// The next record; nothing at the end. Empty lines are passed over.
  std::optional<std::vector<Field>> next() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) count_line(text_[at_++]);
    if (at_ == text_.size()) return std::nullopt;
    record_line_ = line_;
    std::vector<Field> fields;
    do {
      fields.push_back(field());
    } while (at_ < text_.size() && text_[at_] == separator_ && ++at_ > 0);
    return fields;
  }

  [[nodiscard]] std::size_t line() const { return record_line_; }
  /// The record just read ended with a line end, as one that was not cut off does.
  [[nodiscard]] bool closed() const { return at_ < text_.size(); }

 private:
  Field field() {
    Field field;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' && field.text.empty() && !field.quoted) {
        field.quoted = true;
        ++at_;
        quoted(field.text);
        continue;
      }
      if (c == separator_ || c == '\n' || c == '\r') break;
      field.text += c;
      ++at_;
    }
    return field;
  }

  void quoted(std::string& text) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && (at_ == text_.size() || text_[at_] != '"')) return;
      if (c == '"') ++at_;
      count_line(c);
      text += c;
    }
  }

  void count_line(char c) { line_ += c == '\n' ? 1 : 0; }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t record_line_ = 1;
};

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

Value value_of(const Field& field) {
  if (field.quoted) return field.text;
  if (field.text == "True" || field.text == "true") return true;
  if (field.text == "False" || field.text == "false") return false;
  if (const auto integer = integer_of(field.text)) return *integer;
  const auto number = number_of(field.text);
  return number && std::isfinite(*number) ? Value(*number) : Value(field.text);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

std::string csv_text(const std::string& text) {
  return text.find_first_of(",;\t\"\r\n") == std::string::npos ? text : quoted(text);
}

namespace {

std::string csv_value(const Value& value) {
  if (!value.is_string() && !value.is_list()) return csv_text(value.str());
  const std::string text = value.str();
  return value_of({text, false}).is_string() && !text.empty() ? csv_text(text) : quoted(text);
}

/// One column behind the parameters.
struct Column {
  enum class Kind {
    outcome,
    text,
    count,
    quantity,
    standard_error,
    n,
    flags,
    phase,
    resource,
    unknown
  } kind = Kind::unknown;
  std::string name;  ///< of the field, quantity, phase or resource
  std::string unit;  ///< of a quantity
  double si_per_unit = 1;
};

constexpr std::string_view text_columns[] = {"message", "tier", "verification", "board", "timestamp", "run"};
constexpr std::string_view count_columns[] = {"trial", "proposal", "told", "asked", "declined"};

std::string* text_field(Evaluation& e, std::string_view name) {
  std::string* const fields[] = {&e.message, &e.tier, &e.verification, &e.board, &e.timestamp, &e.run};
  const auto found = std::find(std::begin(text_columns), std::end(text_columns), name);
  return found == std::end(text_columns) ? nullptr : fields[found - std::begin(text_columns)];
}

std::int64_t* count_field(Evaluation& e, std::string_view name) {
  std::int64_t* const fields[] = {&e.trial, &e.proposal, &e.told, &e.asked, &e.declined};
  const auto found = std::find(std::begin(count_columns), std::end(count_columns), name);
  return found == std::end(count_columns) ? nullptr : fields[found - std::begin(count_columns)];
}

bool is_result_column(const std::string& title) {
  return title == "outcome" || title.ends_with(']') || title == "time" || title == "energy" || title == "power";
}

bool take_prefix(std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.erase(0, prefix.size());
  return true;
}

Column column_of(std::string title) {
  Column column;
  Evaluation none;
  column.name = title;
  if (title == "outcome")
    column.kind = Column::Kind::outcome;
  else if (text_field(none, title) != nullptr)
    column.kind = Column::Kind::text;
  else if (count_field(none, title) != nullptr)
    column.kind = Column::Kind::count;
  if (column.kind != Column::Kind::unknown) return column;
  if (take_prefix(title, "stderr "))
    column.kind = Column::Kind::standard_error;
  else if (take_prefix(title, "n "))
    column.kind = Column::Kind::n;
  else if (take_prefix(title, "flags "))
    column.kind = Column::Kind::flags;
  else if (take_prefix(title, "resource "))
    column.kind = Column::Kind::resource;
  else if (take_prefix(title, "phase "))
    column.kind = Column::Kind::phase;
  else
    column.kind = Column::Kind::quantity;
  const std::size_t bracket = title.rfind(" [");
  if (title.ends_with(']') && bracket != std::string::npos) {
    column.unit = title.substr(bracket + 2, title.size() - bracket - 3);
    title.resize(bracket);
  }
  if (const auto scale = unit_scale(column.unit)) {
    column.si_per_unit = scale->si_per_unit;
    column.unit = scale->si;
  }
  column.name = title;
  return column;
}

void take_flags(std::vector<std::string>& flags, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) flags.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// @return false where the field is not what the column holds.
bool take_field(Evaluation& evaluation, const Column& column, const std::string& text) {
  using Kind = Column::Kind;
  if (text.empty()) return true;  // not measured
  const auto number = number_of(text);
  const auto integer = integer_of(text);
  switch (column.kind) {
    case Kind::outcome: {
      const auto outcome = outcome_from(text);
      evaluation.outcome = outcome.value_or(Outcome::measurement);
      return outcome.has_value();
    }
    case Kind::text:
      *text_field(evaluation, column.name) = text;
      return true;
    case Kind::count:
      if (integer) *count_field(evaluation, column.name) = *integer;
      return integer.has_value();
    case Kind::n:
      if (integer) evaluation.quantities[column.name].n = *integer;
      return integer.has_value();
    case Kind::flags:
      take_flags(evaluation.quantities[column.name].flags, text);
      return true;
    case Kind::resource:
      if (integer) evaluation.resources[column.name] = *integer;
      return integer.has_value();
    default:
      break;
  }
  if (!number) return false;
  if (!std::isfinite(*number)) return true;
  const double value = column.si_per_unit == 1 ? *number : to_si(*number, 1 / column.si_per_unit);
  if (column.kind == Kind::phase) evaluation.phases[column.name] = value;
  if (column.kind == Kind::standard_error) evaluation.quantities[column.name].stderr_value = value;
  if (column.kind == Kind::quantity) {
    evaluation.quantities[column.name].value = value;
    evaluation.quantities[column.name].unit = column.unit;
  }
  return true;
}

/// The columns that these results need.
std::vector<Column> columns_for(const Results& results) {
  using Kind = Column::Kind;
  std::vector<Column> columns = {{Kind::outcome, "outcome", "", 1}};
  const Evaluation plain;
  for (const auto name : text_columns) {
    const bool needed = std::any_of(results.evaluations.begin(), results.evaluations.end(), [&](Evaluation e) {
      Evaluation none = plain;
      return *text_field(e, name) != *text_field(none, name);
    });
    if (needed) columns.push_back({Kind::text, std::string(name), "", 1});
  }
  for (const auto name : count_columns) {
    const bool needed = std::any_of(results.evaluations.begin(), results.evaluations.end(),
                                    [&](Evaluation e) { return *count_field(e, name) != 0; });
    if (needed) columns.push_back({Kind::count, std::string(name), "", 1});
  }
  std::map<std::pair<std::string, std::string>, std::set<Kind>> quantities;  // by name and unit
  std::set<std::string> phases;
  std::set<std::string> resources;
  for (const Evaluation& evaluation : results.evaluations) {
    for (const auto& [name, quantity] : evaluation.quantities) {
      if (!std::isfinite(quantity.value)) continue;
      auto& kinds = quantities[{name, quantity.unit}];
      if (std::isfinite(quantity.stderr_value)) kinds.insert(Kind::standard_error);
      if (quantity.n != 0) kinds.insert(Kind::n);
      if (!quantity.flags.empty()) kinds.insert(Kind::flags);
    }
    for (const auto& [name, seconds] : evaluation.phases) phases.insert(name);
    for (const auto& [name, amount] : evaluation.resources) resources.insert(name);
  }
  for (const auto& [key, kinds] : quantities) {
    columns.push_back({Kind::quantity, key.first, key.second, 1});
    for (const Kind kind : kinds) columns.push_back({kind, key.first, key.second, 1});
  }
  for (const auto& name : phases) columns.push_back({Kind::phase, name, "s", 1});
  for (const auto& name : resources) columns.push_back({Kind::resource, name, "", 1});
  return columns;
}

std::string title_of(const Column& column) {
  using Kind = Column::Kind;
  switch (column.kind) {
    case Kind::quantity:
      return fmt::format("{} [{}]", column.name, column.unit);
    case Kind::standard_error:
      return fmt::format("stderr {} [{}]", column.name, column.unit);
    case Kind::n:
      return "n " + column.name;
    case Kind::flags:
      return "flags " + column.name;
    case Kind::phase:
      return fmt::format("phase {} [s]", column.name);
    case Kind::resource:
      return "resource " + column.name;
    default:
      return column.name;
  }
}

std::string cell(Evaluation& evaluation, const Column& column) {
  using Kind = Column::Kind;
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); };
  if (column.kind == Kind::outcome) return std::string(to_string(evaluation.outcome));
  if (column.kind == Kind::text) return csv_text(*text_field(evaluation, column.name));
  if (column.kind == Kind::count) return fmt::format("{}", *count_field(evaluation, column.name));
  if (column.kind == Kind::phase) {
    const auto found = evaluation.phases.find(column.name);
    return found == evaluation.phases.end() ? "" : number(found->second);
  }
  if (column.kind == Kind::resource) {
    const auto found = evaluation.resources.find(column.name);
    return found == evaluation.resources.end() ? "" : fmt::format("{}", found->second);
  }
  const auto found = evaluation.quantities.find(column.name);
  if (found == evaluation.quantities.end()) return "";
  const Quantity& quantity = found->second;
  if (column.kind == Kind::n) return quantity.n == 0 ? "" : fmt::format("{}", quantity.n);
  if (column.kind == Kind::flags) return csv_text(fmt::format("{}", fmt::join(quantity.flags, " ")));
  if (quantity.unit != column.unit) return "";
  return number(column.kind == Kind::quantity ? quantity.value : quantity.stderr_value);
}

}  // namespace

void write_csv(const Results& results, ByteSink& out, std::vector<std::string>& notes) {
  const auto columns = columns_for(results);
  std::string line;
  for (const auto& name : results.header.parameter_names) line += csv_text(name) + ",";
  for (const Column& column : columns) line += csv_text(title_of(column)) + ",";
  line.back() = '\n';
  out.write(line);
  bool has_samples = false;
  for (Evaluation evaluation : results.evaluations) {
    line.clear();
    for (const Value& value : evaluation.configuration) line += csv_value(value) + ",";
    for (const Column& column : columns) line += cell(evaluation, column) + ",";
    line.back() = '\n';
    out.write(line);
    for (const auto& [name, quantity] : evaluation.quantities) has_samples = has_samples || !quantity.samples.empty();
  }
  notes.emplace_back(
      "CSV holds no header: the device, the kernel, and values of parameters that do not occur were left out");
  if (has_samples) notes.emplace_back("CSV holds no single measurements: they were left out");
}

void read_csv(std::string_view text, const std::string& file, Results& results) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::size_t separator = first.find_first_of(",;\t");
  CsvReader reader(text, separator == std::string_view::npos ? ',' : first[separator]);
  auto titles = reader.next();
  // A table of clocks and what was measured at them: the clock is what was chosen, and parameters are without a unit.
  constexpr std::string_view clock_unit = " [MHz]";
  std::size_t parameters = 0;
  bool has_clock = false;
  if (titles && titles->size() > 1 && titles->front().text.ends_with(clock_unit)) {
    std::string& title = titles->front().text;
    const std::string name = title.substr(0, title.size() - clock_unit.size());
    has_clock = !is_result_column(name);
    if (has_clock) title = name;
    parameters = has_clock ? 1 : 0;
  }
  while (titles && parameters < titles->size() && !is_result_column((*titles)[parameters].text)) ++parameters;
  if (!titles || parameters == 0 || parameters == titles->size()) {
    throw UsageError(fmt::format(
        "cannot read the results '{}': it is neither a journal, a Kernel Tuner cache nor T4, and as CSV its "
        "first line must have the parameters, then a column 'outcome' or one with a unit, like "
        "'time [ms]' (a table of clocks: 'clock [MHz]', then the others)",
        file));
  }
  std::vector<Column> columns;
  for (std::size_t i = 0; i < titles->size(); ++i) {
    const std::string& title = (*titles)[i].text;
    if (i < parameters)
      results.header.parameter_names.push_back(title);
    else
      columns.push_back(column_of(title));
  }
  const auto& names = results.header.parameter_names;
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) == 1) continue;
    throw UsageError(fmt::format("cannot read the results '{}': line 1: column '{}' stands twice", file, name));
  }
  Drops drops;
  while (const auto record = reader.next()) {
    const std::string place = fmt::format("line {}", reader.line());
    if (record->size() != titles->size()) {
      results.notes.push_back(reader.closed() ? fmt::format("{} has {} fields where there are {} columns; dropped",
                                                            place, record->size(), titles->size())
                                              : fmt::format("the last line ({}) is torn; dropped", place));
      continue;
    }
    if (has_clock && !number_of(record->front().text)) {
      drops.add(fmt::format("column '{}' holds what is no number; the lines are dropped", names.front()),
                fmt::format("{}: '{}'", place, record->front().text.substr(0, 40)));
      continue;
    }
    Evaluation evaluation;
    for (std::size_t i = 0; i < parameters; ++i) evaluation.configuration.push_back(value_of((*record)[i]));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& field = (*record)[parameters + i].text;
      if (take_field(evaluation, columns[i], field)) continue;
      drops.add(fmt::format("column '{}' holds what does not belong there; dropped", columns[i].name),
                fmt::format("{}: '{}'", place, field.substr(0, 40)));
    }
    results.evaluations.push_back(std::move(evaluation));
  }
  for (auto& note : drops.notes()) results.notes.push_back(std::move(note));
}

}  // namespace wattune
