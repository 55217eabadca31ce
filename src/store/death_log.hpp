#pragma once
// Which configurations a worker has died of without a result, so that one that kills workers is found out even where
// the whole run is killed in between.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "expr/value.hpp"

namespace wattune {

/// A file beside a journal, written by who holds the journal's lock; it is there only while it has something to say.
/// What cannot be read or written is as if it were not there: results are the journal's business.
class DeathLog {
 public:
  /// "JOURNAL.deaths". Reads what an earlier run has left.
  DeathLog(const std::filesystem::path& journal, std::vector<std::string> parameter_names);

  /// Workers that have died of a configuration.
  [[nodiscard]] int count(const std::vector<Value>& configuration) const;
  void add(const std::vector<Value>& configuration);
  /// It has a result now.
  void forget(const std::vector<Value>& configuration);

 private:
  void read();
  void write() const;

  struct Deaths {
    std::vector<Value> configuration;
    int count = 0;
  };
  std::filesystem::path file_;
  std::vector<std::string> parameter_names_;
  std::map<std::string, Deaths> deaths_;  ///< by append_key()
};

}  // namespace wattune
