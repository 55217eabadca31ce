#include "store/journal_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/subprocess.hpp"
#include "store/journal_header.hpp"
#include "store/journal_line.hpp"

namespace wattune {

namespace {

/// Below this, starting threads costs more than it saves.
constexpr std::uint64_t bytes_per_thread = 4U << 20;
constexpr std::uint64_t max_threads = 8;
/// Bytes read at once. Large files are not held in memory: their evaluations take enough of it.
constexpr std::size_t block_bytes = 1U << 20;
/// Damaged lines that are named one by one.
constexpr std::size_t max_named_lines = 20;

/// What a journal is read from.
struct Bytes {
  std::uint64_t size = 0;
  /// Puts the bytes from an offset on into a buffer. @return how many; less than asked only at the end.
  std::function<std::size_t(std::uint64_t offset, char* buffer, std::size_t bytes)> read;
};

/// The lines that begin in a range of bytes.
class Lines {
 public:
  Lines(const Bytes& bytes, std::uint64_t begin, std::uint64_t end) : bytes_(bytes), next_(begin), end_(end) {}

  struct Line {
    std::string_view text;  ///< without its newline; LineReader::padding bytes behind it are readable
    std::uint64_t begin;    ///< offset
    bool whole;             ///< it has a newline
  };
  /// Valid until the next call. Nothing at the end of the range.
  std::optional<Line> next() {
    const std::uint64_t begin = next_ - (filled_ - place_);
    if (begin >= end_) return std::nullopt;
    std::size_t searched = place_;
    while (true) {
      const void* newline = std::memchr(buffer_.get() + searched, '\n', filled_ - searched);
      if (newline != nullptr) {
        const auto end = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.get());
        const std::string_view text(buffer_.get() + place_, end - place_);
        place_ = end + 1;
        return Line{text, begin, true};
      }
      const std::size_t length = filled_ - place_;
      if (!fill()) break;
      searched = place_ + length;
    }
    const std::string_view text(buffer_.get() + place_, filled_ - place_);
    place_ = filled_;
    if (text.empty()) return std::nullopt;
    return Line{text, begin, false};
  }

 private:
  /// Reads on behind what has not been taken yet. @return false at the end of the file.
  bool fill() {
    const std::size_t kept = filled_ - place_;
    if (kept + block_bytes > capacity_) {
      const std::size_t larger = std::max(capacity_ * 2, kept + block_bytes);
      auto buffer = std::make_unique_for_overwrite<char[]>(larger + LineReader::padding);
      if (kept > 0) std::memcpy(buffer.get(), buffer_.get() + place_, kept);
      buffer_ = std::move(buffer);
      capacity_ = larger;
    } else if (kept > 0) {
      std::memmove(buffer_.get(), buffer_.get() + place_, kept);
    }
    place_ = 0;
    filled_ = kept;
    const std::uint64_t left = bytes_.size > next_ ? bytes_.size - next_ : 0;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, block_bytes));
    const std::size_t count = wanted == 0 ? 0 : bytes_.read(next_, buffer_.get() + kept, wanted);
    filled_ += count;
    next_ += count;
    std::memset(buffer_.get() + filled_, 0, LineReader::padding);
    return count > 0;
  }

  const Bytes& bytes_;
  std::uint64_t next_;  ///< offset of what follows the buffer
  std::uint64_t end_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(LineReader::padding);
  std::size_t capacity_ = 0;
  std::size_t place_ = 0;  ///< in the buffer: of what has not been taken
  std::size_t filled_ = 0;
};

using Key = XXH128_hash_t;

/// What two evaluations of a journal share where the later replaces the earlier. Those by which boards are compared
/// count per board.
Key key_of(const Evaluation& evaluation, std::string& scratch) {
  scratch.clear();
  append_key(scratch, evaluation.configuration);
  scratch.append(evaluation.tier).append(1, ';').append(std::to_string(evaluation.trial));
  if (evaluation.tier == "reference" || evaluation.tier == "calibration") {
    scratch.append(1, ';').append(evaluation.board);
  }
  return XXH3_128bits(scratch.data(), scratch.size());
}

/// What one thread reads.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<Evaluation> evaluations;
  std::vector<Key> keys;
  std::vector<std::pair<std::size_t, std::string>> damaged;  ///< line within the part, from 0, and why
  std::size_t lines = 0;
  bool newline_missing = false;
  std::optional<std::uint64_t> torn;  ///< offset of a last line that is incomplete
};

/// @param room bytes of the file whose evaluations will come into the part's vector.
void read_part(Part& part, const Bytes& bytes, std::uint64_t room, const std::vector<std::string>& parameter_names) {
  LineReader reader(parameter_names);
  Lines lines(bytes, part.begin, part.end);
  std::string scratch;
  while (const auto line = lines.next()) {
    const std::size_t number = part.lines++;
    if (line->text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      if (part.evaluations.empty()) {
        // Lines of a journal are much alike, so the first tells how many there are.
        const std::uint64_t expected = room / (line->text.size() + 1);
        part.evaluations.reserve(static_cast<std::size_t>(expected + expected / 16 + 1));
        part.keys.reserve(part.evaluations.capacity());
      }
      part.evaluations.push_back(reader.read(line->text));
      part.keys.push_back(key_of(part.evaluations.back(), scratch));
      part.newline_missing = !line->whole;
    } catch (const DamagedLine& error) {
      if (line->whole) {
        part.damaged.emplace_back(number, error.reason);
      } else {
        part.torn = line->begin;
      }
    }
  }
}

/// Ranges of whole lines, of about the same size.
std::vector<Part> divide(const Bytes& bytes, std::uint64_t begin) {
  const std::uint64_t size = bytes.size - begin;
  const std::uint64_t count =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>({max_threads, available_cores(), size / bytes_per_thread}));
  std::vector<Part> parts;
  for (std::uint64_t i = 1; i <= count; ++i) {
    std::uint64_t end = bytes.size;
    if (i < count) {
      end = std::max(begin, bytes.size - size + size / count * i);
      if (const auto line = Lines(bytes, end, bytes.size).next()) end += line->text.size() + (line->whole ? 1 : 0);
    }
    Part& part = parts.emplace_back();
    part.begin = begin;
    part.end = end;
    begin = end;
  }
  return parts;
}

/// Reads the lines from an offset on, in parts that threads share.
std::vector<Part> read_parts(const Bytes& bytes, std::uint64_t begin, const std::vector<std::string>& parameter_names) {
  std::vector<Part> parts = divide(bytes, begin);
  std::vector<std::exception_ptr> errors(parts.size());
  {
    std::vector<std::jthread> threads;
    auto work = [&](std::size_t i) {
      try {
        // The others' evaluations are moved into the first part's vector in the end.
        const std::uint64_t room = i == 0 ? bytes.size - begin : parts[i].end - parts[i].begin;
        read_part(parts[i], bytes, room, parameter_names);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    };
    for (std::size_t i = 1; i < parts.size(); ++i) threads.emplace_back(work, i);
    work(0);
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return parts;
}

/// Drops all but the last of the evaluations that share a key.
void drop_repeated(std::vector<Evaluation>& evaluations, const std::vector<Key>& keys) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  // A table of indices with open addressing, at most half full.
  std::vector<std::size_t> slots(std::bit_ceil(2 * keys.size() + 1), none);
  std::vector<bool> dropped;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t slot = keys[i].low64 & (slots.size() - 1);
    while (slots[slot] != none && XXH128_isEqual(keys[slots[slot]], keys[i]) == 0) {
      slot = (slot + 1) & (slots.size() - 1);
    }
    if (slots[slot] != none) {
      dropped.resize(keys.size());
      dropped[slots[slot]] = true;
    }
    slots[slot] = i;
  }
  if (dropped.empty()) return;
  std::size_t i = 0;
  std::erase_if(evaluations, [&](const Evaluation&) { return dropped[i++]; });
}

template <typename Item>
void append_all(std::vector<Item>& target, std::vector<Item>& source) {
  target.insert(target.end(), std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
  source = {};
}

/// Puts the parts together.
void join(std::vector<Part>& parts, JournalText& result, const std::filesystem::path& file) {
  JournalContent& content = result.content;
  std::size_t line = 2;  // the header is line 1
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const auto& [number, reason] : parts[i].damaged) {
      if (content.warnings.size() == max_named_lines) {
        ++unnamed;
        continue;
      }
      content.warnings.push_back(fmt::format("journal '{}': line {} is damaged and does not count ({})", file.string(),
                                             line + number, reason));
    }
    line += parts[i].lines;
    if (i == 0) continue;
    append_all(parts[0].evaluations, parts[i].evaluations);
    append_all(parts[0].keys, parts[i].keys);
  }
  if (unnamed > 0) {
    content.warnings.push_back(fmt::format("journal '{}': {} more damaged lines were skipped", file.string(), unnamed));
  }
  if (parts.back().torn) {
    result.whole_bytes = *parts.back().torn;
    content.warnings.push_back(
        fmt::format("journal '{}': the last line ({}) is incomplete, as a process leaves it that is killed while it "
                    "writes; it was dropped",
                    file.string(), line - 1));
  }
  result.newline_missing = result.newline_missing || parts.back().newline_missing;
  content.evaluations = std::move(parts[0].evaluations);
  drop_repeated(content.evaluations, parts[0].keys);
}

JournalText parse(const Bytes& bytes, const std::filesystem::path& file) {
  JournalText result;
  result.whole_bytes = bytes.size;
  Lines lines(bytes, 0, bytes.size);
  const auto header = lines.next();
  result.content.header = parse_header(header ? header->text : std::string_view(), file);
  result.newline_missing = !header->whole;
  auto parts = read_parts(bytes, header->text.size() + (header->whole ? 1 : 0), result.content.header.parameter_names);
  join(parts, result, file);
  return result;
}

/// A journal file opened for reading.
class Source {
 public:
  explicit Source(const std::filesystem::path& file) : file_(file), fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (!fd_ || ::fstat(fd_.get(), &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) fail(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  /// What it had when it was opened.
  [[nodiscard]] Bytes bytes() const {
    return {size_,
            [this](std::uint64_t offset, char* buffer, std::size_t count) { return read(offset, buffer, count); }};
  }

 private:
  std::size_t read(std::uint64_t offset, char* buffer, std::size_t count) const {
    std::size_t length = 0;
    while (length < count) {
      const ssize_t n = ::pread(fd_.get(), buffer + length, count - length, static_cast<off_t>(offset + length));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(errno);
      if (n == 0) break;
      length += static_cast<std::size_t>(n);
    }
    return length;
  }

  [[noreturn]] void fail(int error) const {
    throw UsageError(fmt::format("cannot read the journal '{}': {}; {}", file_.string(), system_error_text(error),
                                 error == ENOENT ? "check the path" : "check the file and its permissions"));
  }

  std::filesystem::path file_;
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
};

}  // namespace

JournalText parse_journal_text(std::string_view text, const std::filesystem::path& file) {
  auto read = [text](std::uint64_t offset, char* buffer, std::size_t count) {
    return text.copy(buffer, count, static_cast<std::size_t>(offset));
  };
  return parse({text.size(), read}, file);
}

JournalHeader read_journal_header(const std::filesystem::path& file) {
  const Source source(file);
  const Bytes bytes = source.bytes();
  Lines lines(bytes, 0, bytes.size);
  const auto header = lines.next();
  return parse_header(header ? header->text : std::string_view(), file);
}

JournalText read_journal_text(const std::filesystem::path& file) {
  return parse(Source(file).bytes(), file);
}

JournalContent read_journal(const std::filesystem::path& file) {
  return read_journal_text(file).content;
}

}  // namespace wattune
