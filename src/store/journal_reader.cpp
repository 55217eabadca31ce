#include "store/journal_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <unordered_map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/subprocess.hpp"
#include "store/journal_header.hpp"

namespace wattune {

namespace {

namespace dom = simdjson::dom;

/// Below this, starting threads costs more than it saves.
constexpr std::size_t bytes_per_thread = 4U << 20;
constexpr std::size_t max_threads = 8;
/// Damaged lines that are named one by one.
constexpr std::size_t max_named_lines = 20;

/// Why a line is no evaluation.
struct DamagedLine {
  std::string reason;
};

[[noreturn]] void damaged(std::string_view key, std::string_view reason) {
  throw DamagedLine{fmt::format("key '{}' {}", key, reason)};
}

template <typename Type>
Type get(dom::element element, std::string_view key, std::string_view expected) {
  Type value;
  if (element.get(value) != simdjson::SUCCESS) damaged(key, fmt::format("is not {}", expected));
  return value;
}

std::string text_of(dom::element element, std::string_view key) {
  return std::string(get<std::string_view>(element, key, "a string"));
}
std::int64_t integer_of(dom::element element, std::string_view key) {
  return get<std::int64_t>(element, key, "an integer");
}
double number_of(dom::element element, std::string_view key) {
  if (element.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return get<double>(element, key, "a number");
}
dom::object object_of(dom::element element, std::string_view key) {
  return get<dom::object>(element, key, "an object");
}

Value value_of(dom::element element, std::string_view key) {
  switch (element.type()) {
    case dom::element_type::BOOL:
      return get<bool>(element, key, "a boolean");
    case dom::element_type::INT64:
      return get<std::int64_t>(element, key, "an integer");
    case dom::element_type::DOUBLE:
      return get<double>(element, key, "a number");
    case dom::element_type::STRING:
      return text_of(element, key);
    case dom::element_type::ARRAY: {
      Value::List list;
      for (const dom::element item : get<dom::array>(element, key, "a list")) list.push_back(value_of(item, key));
      return list;
    }
    default:
      damaged(key, "is no value of a parameter");
  }
}

Quantity quantity_of(dom::element element, std::string_view name) {
  Quantity quantity;
  bool has_value = false;
  for (const auto field : object_of(element, name)) {
    if (field.key == "value") {
      quantity.value = number_of(field.value, name);
      has_value = true;
    } else if (field.key == "unit") {
      quantity.unit = text_of(field.value, name);
    } else if (field.key == "stderr") {
      quantity.stderr_value = number_of(field.value, name);
    } else if (field.key == "n") {
      quantity.n = integer_of(field.value, name);
    } else if (field.key == "flags") {
      for (const dom::element flag : get<dom::array>(field.value, name, "a quantity with a list of flags")) {
        quantity.flags.push_back(text_of(flag, name));
      }
    }
  }
  if (!has_value) damaged(name, "has no value");
  return quantity;
}

/// Reads evaluations of one journal; each thread has its own.
class LineReader {
 public:
  explicit LineReader(const std::vector<std::string>& parameter_names) : names_(parameter_names) {
    for (std::size_t i = 0; i < names_.size(); ++i) by_name_.push_back(i);
    std::sort(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) { return names_[a] < names_[b]; });
  }

  /// @param line followed by simdjson::SIMDJSON_PADDING readable bytes. @throws DamagedLine.
  Evaluation read(std::string_view line) {
    dom::element root;
    const auto error = parser_.parse(line.data(), line.size(), false).get(root);
    if (error != simdjson::SUCCESS) throw DamagedLine{simdjson::error_message(error)};
    Evaluation evaluation;
    bool has_configuration = false;
    bool has_outcome = false;
    for (const auto field : object_of(root, "line")) {
      if (field.key == "configuration") {
        evaluation.configuration = configuration_of(field.value);
        has_configuration = true;
      } else if (field.key == "outcome") {
        const auto outcome = outcome_from(get<std::string_view>(field.value, field.key, "a string"));
        if (!outcome) damaged(field.key, "is no known outcome");
        evaluation.outcome = *outcome;
        has_outcome = true;
      } else {
        read_field(evaluation, field.key, field.value);
      }
    }
    if (!has_configuration) damaged("configuration", "is missing");
    if (!has_outcome) damaged("outcome", "is missing");
    return evaluation;
  }

 private:
  /// Keys that this version does not know are left to those that do.
  static void read_field(Evaluation& evaluation, std::string_view key, dom::element value) {
    if (key == "quantities") {
      for (const auto field : object_of(value, key)) {
        evaluation.quantities.insert_or_assign(evaluation.quantities.end(), std::string(field.key),
                                               quantity_of(field.value, field.key));
      }
    } else if (key == "phases") {
      for (const auto field : object_of(value, key)) {
        evaluation.phases.insert_or_assign(evaluation.phases.end(), std::string(field.key),
                                           number_of(field.value, key));
      }
    } else if (key == "resources") {
      for (const auto field : object_of(value, key)) {
        evaluation.resources.insert_or_assign(evaluation.resources.end(), std::string(field.key),
                                              integer_of(field.value, key));
      }
    } else if (key == "message") {
      evaluation.message = text_of(value, key);
    } else if (key == "tier") {
      evaluation.tier = text_of(value, key);
    } else if (key == "trial") {
      evaluation.trial = integer_of(value, key);
    } else if (key == "verification") {
      evaluation.verification = text_of(value, key);
    } else if (key == "board") {
      evaluation.board = text_of(value, key);
    } else if (key == "timestamp") {
      evaluation.timestamp = text_of(value, key);
    } else if (key == "proposal") {
      evaluation.proposal = integer_of(value, key);
    } else if (key == "told") {
      evaluation.told = integer_of(value, key);
    }
  }

  std::vector<Value> configuration_of(dom::element element) {
    std::vector<Value> values(names_.size());
    std::size_t found = 0;
    for (const auto field : object_of(element, "configuration")) {
      // Lines of ours have the names sorted, so the next one is nearly always the one that is due.
      std::size_t place = found;
      if (place >= by_name_.size() || names_[by_name_[place]] != field.key) {
        const auto match =
            std::lower_bound(by_name_.begin(), by_name_.end(), field.key,
                             [&](std::size_t index, std::string_view key) { return names_[index] < key; });
        if (match == by_name_.end() || names_[*match] != field.key) damaged(field.key, "is no parameter");
        place = static_cast<std::size_t>(match - by_name_.begin());
      }
      values[by_name_[place]] = value_of(field.value, field.key);
      ++found;
    }
    if (found != names_.size()) damaged("configuration", "does not have every parameter once");
    return values;
  }

  const std::vector<std::string>& names_;
  std::vector<std::size_t> by_name_;  ///< indices of the names, sorted by name
  dom::parser parser_;
};

/// What one thread read.
struct Part {
  std::vector<Evaluation> evaluations;
  std::vector<std::pair<std::size_t, std::string>> damaged;  ///< line within the part, from 0, and why
  std::size_t lines = 0;
};

void read_part(Part& part, std::string_view text, const std::vector<std::string>& parameter_names) {
  LineReader reader(parameter_names);
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const std::size_t number = part.lines++;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      part.evaluations.push_back(reader.read(line));
    } catch (const DamagedLine& error) {
      part.damaged.emplace_back(number, error.reason);
    }
  }
}

/// Reads whole lines, in parts that threads share.
std::vector<Part> read_parts(std::string_view text, const std::vector<std::string>& parameter_names) {
  const std::size_t wanted = std::min<std::size_t>({max_threads, available_cores(), text.size() / bytes_per_thread});
  std::vector<std::string_view> pieces;
  for (std::size_t left = std::max<std::size_t>(1, wanted); left > 1 && !text.empty(); --left) {
    const std::size_t newline = text.find('\n', text.size() / left);
    const std::size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  pieces.push_back(text);
  std::vector<Part> parts(pieces.size());
  std::vector<std::exception_ptr> errors(pieces.size());
  {
    std::vector<std::jthread> threads;
    auto work = [&](std::size_t i) {
      try {
        read_part(parts[i], pieces[i], parameter_names);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    };
    for (std::size_t i = 1; i < pieces.size(); ++i) threads.emplace_back(work, i);
    work(0);
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return parts;
}

struct Key {
  XXH128_hash_t hash;
  friend bool operator==(const Key& a, const Key& b) { return XXH128_isEqual(a.hash, b.hash) != 0; }
};
struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept { return static_cast<std::size_t>(key.hash.low64); }
};

/// Drops all but the last of the evaluations that share a key. Those by which boards are compared count per board.
void drop_repeated(std::vector<Evaluation>& evaluations) {
  std::unordered_map<Key, std::size_t, KeyHash> last;
  last.reserve(evaluations.size());
  std::vector<bool> dropped;
  std::string text;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const Evaluation& evaluation = evaluations[i];
    text.clear();
    append_key(text, evaluation.configuration);
    text.append(evaluation.tier).append(1, ';').append(std::to_string(evaluation.trial));
    if (evaluation.tier == "reference" || evaluation.tier == "calibration") {
      text.append(1, ';').append(evaluation.board);
    }
    const auto [entry, added] = last.try_emplace(Key{XXH3_128bits(text.data(), text.size())}, i);
    if (added) continue;
    if (dropped.empty()) dropped.resize(evaluations.size());
    dropped[entry->second] = true;
    entry->second = i;
  }
  if (dropped.empty()) return;
  std::size_t i = 0;
  std::erase_if(evaluations, [&](const Evaluation&) { return dropped[i++]; });
}

/// The name of a line for messages, in a file whose first line is the header.
std::string damage_text(const std::filesystem::path& file, std::size_t line, const std::string& reason) {
  return fmt::format("journal '{}': line {} is damaged and was skipped ({})", file.string(), line, reason);
}

void join(std::vector<Part> parts, JournalContent& content, const std::filesystem::path& file) {
  std::size_t line = 2;
  std::size_t unnamed = 0;
  for (auto& part : parts) {
    for (const auto& [number, reason] : part.damaged) {
      if (content.warnings.size() < max_named_lines) {
        content.warnings.push_back(damage_text(file, line + number, reason));
      } else {
        ++unnamed;
      }
    }
    line += part.lines;
    if (content.evaluations.empty()) {
      content.evaluations = std::move(part.evaluations);
    } else {
      content.evaluations.insert(content.evaluations.end(), std::make_move_iterator(part.evaluations.begin()),
                                 std::make_move_iterator(part.evaluations.end()));
    }
  }
  if (unnamed > 0) {
    content.warnings.push_back(fmt::format("journal '{}': {} more damaged lines were skipped", file.string(), unnamed));
  }
}

/// @param text followed by simdjson::SIMDJSON_PADDING readable bytes.
JournalText parse_padded(std::string_view text, const std::filesystem::path& file) {
  JournalText result;
  const std::size_t header_length = std::min(text.find('\n'), text.size());
  result.content.header = parse_header(text.substr(0, header_length), file);
  const std::size_t body = std::min(header_length + 1, text.size());
  const std::size_t last_newline = text.rfind('\n');
  const std::size_t tail = last_newline == std::string_view::npos ? text.size() : last_newline + 1;

  auto parts = read_parts(text.substr(body, std::max(tail, body) - body), result.content.header.parameter_names);
  std::size_t lines = 1;
  for (const auto& part : parts) lines += part.lines;
  result.whole_bytes = text.size();
  result.newline_missing = !text.ends_with('\n');
  std::string torn;
  if (tail < text.size()) {
    Part last;
    read_part(last, text.substr(tail), result.content.header.parameter_names);
    if (last.evaluations.empty()) {
      result.whole_bytes = tail;
      result.newline_missing = false;
      torn = fmt::format(
          "journal '{}': the last line ({}) is incomplete, as a process leaves it that is killed while it "
          "writes; it was dropped",
          file.string(), lines + 1);
    } else {
      parts.push_back(std::move(last));
    }
  }
  join(std::move(parts), result.content, file);
  if (!torn.empty()) result.content.warnings.push_back(std::move(torn));
  drop_repeated(result.content.evaluations);
  return result;
}

/// A journal file opened for reading.
class Source {
 public:
  explicit Source(const std::filesystem::path& file) : file_(file), fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (!fd_ || ::fstat(fd_.get(), &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) fail(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    size_ = static_cast<std::size_t>(status.st_size);
  }

  /// Bytes that it had when it was opened.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Reads up to `bytes`. @return less only at the end of the file.
  std::size_t read(char* buffer, std::size_t bytes) const {
    std::size_t length = 0;
    while (length < bytes) {
      const ssize_t n = ::read(fd_.get(), buffer + length, bytes - length);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(errno);
      if (n == 0) break;
      length += static_cast<std::size_t>(n);
    }
    return length;
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw UsageError(fmt::format("cannot read the journal '{}': {}; {}", file_.string(), system_error_text(error),
                                 error == ENOENT ? "check the path" : "check the file and its permissions"));
  }

  std::filesystem::path file_;
  FileDescriptor fd_;
  std::size_t size_ = 0;
};

}  // namespace

JournalText parse_journal_text(std::string_view text, const std::filesystem::path& file) {
  std::string padded;
  padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  padded.append(text).append(simdjson::SIMDJSON_PADDING, '\0');
  return parse_padded(std::string_view(padded).substr(0, text.size()), file);
}

JournalHeader read_journal_header(const std::filesystem::path& file) {
  const Source source(file);
  std::string text;
  char chunk[4096];
  while (text.find('\n') == std::string::npos) {
    const std::size_t n = source.read(chunk, sizeof chunk);
    if (n == 0) break;
    text.append(chunk, n);
  }
  return parse_header(std::string_view(text).substr(0, text.find('\n')), file);
}

JournalText read_journal_text(const std::filesystem::path& file) {
  const Source source(file);
  const auto buffer = std::make_unique_for_overwrite<char[]>(source.size() + simdjson::SIMDJSON_PADDING);
  const std::size_t length = source.read(buffer.get(), source.size());
  std::memset(buffer.get() + length, 0, simdjson::SIMDJSON_PADDING);
  return parse_padded(std::string_view(buffer.get(), length), file);
}

JournalContent read_journal(const std::filesystem::path& file) {
  return read_journal_text(file).content;
}

}  // namespace wattune
