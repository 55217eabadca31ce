#pragma once
// The journal: JSON Lines, append-only, synced. A header line, then one line per evaluation. docs/journal.md describes
// it.

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "result/evaluation.hpp"

namespace wattune {

/// The first line of a journal.
struct JournalHeader {
  int format = 1;
  std::string problem_hash;
  std::string problem_name;
  std::string problem_file;
  std::vector<std::string> parameter_names;
  std::vector<std::vector<Value>> parameter_values;
  std::vector<std::string> parameter_kinds;
  std::vector<std::string> restrictions;
  std::vector<std::int64_t> problem_size;
  std::string device_name, device_id, board, backend, driver, compiler;
  std::string meter;  ///< "none" or its name
  std::string host;
  std::uint64_t seed = 0;
  std::string strategy;
  bool simulated = false;
  std::string version;  ///< of wattune
  std::string created;  ///< UTC

  /// What must agree for a journal to be resumed: problem hash, device model, backend, parameters.
  [[nodiscard]] std::optional<std::string> conflict_with(const JournalHeader& other) const;
};

/// A journal as read: whole lines only.
struct JournalContent {
  JournalHeader header;
  std::vector<Evaluation> evaluations;  ///< in the order of the file; a key that occurs twice counts once, the last
  std::vector<std::string> warnings;    ///< what was dropped and why, with line numbers
};

/// @throws UsageError for a file that is no journal.
JournalContent read_journal(const std::filesystem::path& file);

/// One writer. Holds the lock of the file while it lives.
class Journal {
 public:
  /// Opens (or makes) the journal of a problem hash in a folder, made if missing; a torn last line is cut off.
  /// @throws RunError/UsageError where the folder cannot be written, another process holds the journal (names host and
  /// pid), or the file is another device's.
  static Journal open(const std::filesystem::path& folder, const JournalHeader& header);

  /// "FOLDER/NAME-HASH8.jsonl", the hash covering all that must agree: another version of the problem, another device
  /// model or other values of parameters open a journal of their own.
  static std::filesystem::path path_for(const std::filesystem::path& folder, const JournalHeader& header);

  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  [[nodiscard]] const std::filesystem::path& file() const noexcept;
  /// What it held when it was opened.
  [[nodiscard]] const JournalContent& before() const noexcept;

  /// What a user may want to know, one line each: journals of the same problem in the folder that are not gone on with
  /// and why, a driver that has changed since the journal was begun.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept;

  /// Appends. The line is written at once and synced by a thread of the journal's own, never holding the caller up for
  /// the disk. Any thread may call it.
  /// @throws RunError for a full disk or any other write error: nothing of this evaluation stays in the file, all
  /// before it does, and a later append may succeed. Also throws, with the line written, for a sync that has failed
  /// since the last call: that surfaces once, here or from flush(). Throws without writing where the lock was lost.
  void append(const Evaluation& evaluation);

  /// Waits until everything appended is on disk. The destructor waits too, but tells of no error.
  /// @throws RunError for a sync that has failed since the last call, and where the lock was lost.
  void flush();

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattune
