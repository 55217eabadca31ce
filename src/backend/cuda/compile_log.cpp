// What compilers' logs tell.

#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "backend/cuda/cuda_compiler.hpp"

namespace wattune {

std::map<std::string, std::int64_t> ptxas_numbers(const std::string& log, const std::string& entry) {
  static const std::regex function("Compiling entry function '([^']+)'|Function properties for (\\S+)");
  static const std::regex stack("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  static const std::regex registers("Used (\\d+) registers");
  static const std::regex shared("(\\d+) bytes smem");
  std::map<std::string, std::int64_t> numbers;
  std::istringstream lines(log);
  std::string current;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    // The logs of whole files can be long, and only ptxas's own lines are of interest.
    if (line.size() > 4096) continue;
    if (std::regex_search(line, match, function)) current = match[1].matched ? match[1] : match[2];
    if (current != entry) continue;
    if (std::regex_search(line, match, stack)) {
      numbers["stack_bytes"] = std::stoll(match[1]);
      numbers["spill_bytes"] = std::stoll(match[2]) + std::stoll(match[3]);
    }
    if (line.find("ptxas info") == std::string::npos) continue;
    if (std::regex_search(line, match, registers)) numbers["registers"] = std::stoll(match[1]);
    if (std::regex_search(line, match, shared)) numbers["static_shared_bytes"] = std::stoll(match[1]);
  }
  return numbers;
}

Failure compile_failure(const std::string& log) {
  const bool too_much = log.find("uses too much shared data") != std::string::npos ||
                        log.find("uses too much parameter space") != std::string::npos ||
                        log.find("uses too much global constant data") != std::string::npos;
  return {too_much ? Outcome::resources : Outcome::compile, log};
}

std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
  }
  return {};
}

std::string define_lines(const CompileRequest& request) {
  std::string lines;
  for (const auto& [name, value] : request.defines) lines += fmt::format("#define {} {}\n", name, value);
  return lines;
}

std::string quoted_for_line(const std::string& file) {
  std::string result = "\"";
  for (const char c : file) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace wattune
