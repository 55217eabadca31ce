#pragma once
// What fuzz targets of result formats share: whatever a file holds, it is read or refused with a UsageError, and what
// was read can be written and read again.

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "result/order.hpp"
#include "store/formats/edit.hpp"
#include "store/formats/results.hpp"

namespace wattune {

inline std::vector<std::string> fuzz_lines(const Results& results) {
  std::vector<std::string> lines;
  for (const auto& evaluation : results.evaluations) {
    lines.push_back(to_json(evaluation, results.header.parameter_names)
                        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return lines;
}

inline Results fuzz_through(const Results& results, ResultFormat format) {
  TextSink sink;
  write_results(results, sink, format);
  const auto source = source_of(sink.text());
  return read_results(*source, "again");
}

/// @param format that the target is about; files of others are left to the targets of those.
inline int fuzz_results(std::string_view text, ResultFormat format) {
  Results results;
  try {
    const auto source = source_of(text);
    results = read_results(*source, "fuzz");
  } catch (const UsageError&) {
    return 0;
  }
  static_cast<void>(quantity_names(results));
  static_cast<void>(competing(results.evaluations));
  if (results.format != format) return 0;
  const Results again = fuzz_through(results, format);
  const std::size_t kept =
      format == ResultFormat::kernel_tuner ? competing(results.evaluations).size() : results.evaluations.size();
  if (again.evaluations.size() > kept) std::abort();
  // Written once, it stays as it is.
  const Results third = fuzz_through(again, format);
  if (fuzz_lines(third) != fuzz_lines(again)) std::abort();
  return 0;
}

}  // namespace wattune
