#pragma once
// A header and evaluations for tests.

#include <fstream>
#include <sstream>
#include <string>

#include "store/journal.hpp"

namespace wattune {

inline JournalHeader sample_header() {
  JournalHeader header;
  header.problem_hash = "0123456789abcdef0123456789abcdef";
  header.problem_name = "gemm";
  header.problem_file = "/problems/gemm/problem.json";
  header.parameter_names = {"tile", "block", "unroll"};
  header.parameter_values = {{Value(1), Value(2)}, {Value(32), Value(64)}, {Value(true), Value(false)}};
  header.parameter_kinds = {"code", "launch", "code"};
  header.restrictions = {"tile * block <= 64"};
  header.problem_size = {4096, 4096};
  header.device_name = "Example GPU";
  header.device_id = "cuda:0";
  header.board = "GPU-1";
  header.backend = "cuda";
  header.driver = "550.1";
  header.compiler = "nvrtc 12.4";
  header.meter = "nvml-counter";
  header.host = "node1";
  header.seed = 18446744073709551615U;
  header.strategy = "random";
  header.version = "0.1.0";
  header.created = "2026-01-31T12:00:00.000Z";
  return header;
}

/// Different configurations for different numbers, beyond the lists of the header's values: journals do not care.
inline Evaluation sample_evaluation(int number) {
  Evaluation evaluation;
  evaluation.configuration = {Value(number), Value(32), Value(number % 2 == 0)};
  evaluation.verification = "verified";
  evaluation.quantities["time"] = {1e-3 + 1e-6 * number, "s", 1e-6, 12, {}};
  evaluation.quantities["energy"] = {0.25, "J", 0.01, 3, {"power_capped"}};
  evaluation.phases = {{"compile", 1.5}, {"time", 0.25}};
  evaluation.resources = {{"registers", 42}};
  evaluation.board = "GPU-1";
  evaluation.timestamp = "2026-01-31T12:00:00.000Z";
  evaluation.proposal = number;
  evaluation.told = number;
  return evaluation;
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void write_to(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// The message of the error that an action ends with.
template <typename ErrorType, typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace wattune
