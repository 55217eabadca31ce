#pragma once
// One line of a journal: an evaluation. The fast counterpart of evaluation_from_json().

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "result/evaluation.hpp"

namespace wattune {

/// The line of an evaluation, with its newline. Its last member is a checksum of what stands before.
std::string evaluation_line(const Evaluation& evaluation, const std::vector<std::string>& parameter_names);

/// Why a line is no evaluation.
struct DamagedLine {
  std::string reason;
};

/// Reads evaluations of one journal; each thread has its own.
class LineReader {
 public:
  /// Bytes behind a line that must be readable, whatever they hold.
  static const std::size_t padding;

  /// @param parameter_names outlives this object.
  explicit LineReader(const std::vector<std::string>& parameter_names);
  ~LineReader();

  /// @param line followed by `padding` readable bytes. @throws DamagedLine.
  Evaluation read(std::string_view line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattune
