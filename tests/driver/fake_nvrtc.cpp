// An NVRTC that compiles nothing.

#include <cstring>

#include "fake.hpp"

namespace wattune {

struct NvrtcProgramOpaque {
  std::string source;
  std::string log;
};

namespace {
FakeNvrtc state;
}
}  // namespace wattune

using namespace wattune;

extern "C" {

void* wattune_fake_state() {
  return &state;
}

const char* nvrtcGetErrorString(NvrtcResult) {
  return "NVRTC_ERROR";
}
NvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = state.major;
  *minor = state.minor;
  return NvrtcResult::success;
}
NvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(state.architectures.size());
  return NvrtcResult::success;
}
NvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  std::copy(state.architectures.begin(), state.architectures.end(), architectures);
  return NvrtcResult::success;
}
NvrtcResult nvrtcCreateProgram(NvrtcProgram* program, const char* source, const char*, int, const char* const*,
                               const char* const*) {
  *program = new NvrtcProgramOpaque{source, {}};
  ++state.live_programs;
  return NvrtcResult::success;
}
NvrtcResult nvrtcDestroyProgram(NvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  --state.live_programs;
  return NvrtcResult::success;
}
NvrtcResult nvrtcCompileProgram(NvrtcProgram program, int count, const char* const* options) {
  state.sources.push_back(program->source);
  state.options.emplace_back(options, options + count);
  program->log = state.fails_with.empty() ? state.log : state.fails_with;
  return state.fails_with.empty() ? NvrtcResult::success : NvrtcResult::compilation;
}
NvrtcResult nvrtcGetProgramLogSize(NvrtcProgram program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return NvrtcResult::success;
}
NvrtcResult nvrtcGetProgramLog(NvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NvrtcResult::success;
}
NvrtcResult nvrtcGetCUBINSize(NvrtcProgram, std::size_t* bytes) {
  *bytes = state.cubin.size();
  return NvrtcResult::success;
}
NvrtcResult nvrtcGetCUBIN(NvrtcProgram, char* cubin) {
  std::memcpy(cubin, state.cubin.data(), state.cubin.size());
  return NvrtcResult::success;
}
NvrtcResult nvrtcAddNameExpression(NvrtcProgram, const char*) {
  return NvrtcResult::success;
}
NvrtcResult nvrtcGetLoweredName(NvrtcProgram, const char* expression, const char** lowered) {
  const auto found = state.lowered.find(expression);
  if (found == state.lowered.end()) return NvrtcResult::name_expression_not_valid;
  *lowered = found->second.c_str();
  return NvrtcResult::success;
}

}  // extern "C"
