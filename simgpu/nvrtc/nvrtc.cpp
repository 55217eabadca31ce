// The symbols of NVRTC. A program is looked at, not compiled: see source.hpp.

#include "driver/nvrtc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "cuda/image.hpp"
#include "cuda/objects.hpp"
#include "export.hpp"
#include "hash.hpp"
#include "machine/machine.hpp"
#include "nvrtc/source.hpp"

namespace wattune {

struct NvrtcProgramOpaque {
  std::string source;
  std::string file;
  std::map<std::string, std::string> headers;
  std::vector<std::string> names;              ///< name expressions
  std::map<std::string, std::string> lowered;  ///< by name expression
  std::string log;
  std::vector<std::uint8_t> cubin;
};

namespace simgpu {

namespace {

constexpr int version_major = 13;
constexpr int version_minor = 0;
constexpr int architectures[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 120};

/// Registers of a kernel beside its arrays.
constexpr unsigned own_registers = 24;
constexpr unsigned most_registers = 255;

struct Options {
  std::vector<std::string> folders;
  std::vector<std::pair<std::string, std::string>> defines;
  unsigned max_registers = most_registers;
  std::string rest;  ///< all that decides which code comes out
};

Options read_options(int count, const char* const* texts) {
  Options options;
  for (int i = 0; i < count; ++i) {
    std::string text = texts[i];
    if ((text == "-I" || text == "-D") && i + 1 < count) text += texts[++i];
    if (text.starts_with("-I")) {
      options.folders.push_back(text.substr(2));
      continue;
    }
    options.rest += text + '\n';
    if (text.starts_with("-D")) {
      const std::size_t equals = text.find('=');
      options.defines.emplace_back(text.substr(2, equals == std::string::npos ? equals : equals - 2),
                                   equals == std::string::npos ? "1" : text.substr(equals + 1));
    }
    const std::size_t limit = text.find("maxrregcount=");
    if (limit != std::string::npos) {
      std::from_chars(text.data() + limit + 13, text.data() + text.size(), options.max_registers);
    }
  }
  return options;
}

/// "ns::gemm<16, float>": gemm.
std::string plain_name(const std::string& expression) {
  std::string name = expression.substr(0, expression.find('<'));
  if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) name.erase(0, colon + 2);
  const auto begin = name.find_first_not_of(" &\t");
  const auto end = name.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : name.substr(begin, end - begin + 1);
}

/// A text that is a number and nothing else.
std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The lines before the source proper that give a variant's parameters, as numbers.
std::vector<Variant::Define> numeric_defines(const std::string& source, std::size_t& end) {
  std::vector<Variant::Define> defines;
  end = 0;
  constexpr std::string_view word = "#define ";
  while (source.compare(end, word.size(), word) == 0) {
    const std::size_t line_end = std::min(source.find('\n', end), source.size());
    const std::string line = source.substr(end + word.size(), line_end - end - word.size());
    const std::size_t space = line.find(' ');
    const auto value = space == std::string::npos ? std::nullopt : number_of(std::string_view(line).substr(space + 1));
    if (value) defines.push_back({line.substr(0, space), *value});
    end = std::min(line_end + 1, source.size());
    if (line_end == source.size()) break;
  }
  return defines;
}

Variant variant_of(const NvrtcProgramOpaque& program, const Options& options, const std::string& kernel,
                   std::span<const Token> tokens) {
  Variant variant;
  std::size_t begin = 0;
  variant.defines = numeric_defines(program.source, begin);
  for (const auto& [name, value] : options.defines) {
    if (const auto number = number_of(value)) variant.defines.push_back({name, *number});
  }
  // The line that names the file differs from machine to machine.
  if (program.source.compare(begin, 6, "#line ") == 0)
    begin = std::min(program.source.find('\n', begin), program.source.size());
  variant.kernel_hash = hash_of(std::string_view(program.source).substr(begin), hash_of(kernel));
  std::uint64_t hash = hash_of(options.rest, hash_of(kernel));
  for (const Token& token : tokens) hash = hash_of(token.text, hash);
  variant.variant_hash = hash;
  return variant;
}

KernelImage kernel_of(const SourceFacts& facts, const Variant& variant, const Options& options) {
  KernelImage kernel;
  kernel.shared_bytes = facts.shared_bytes;
  kernel.max_threads = facts.max_threads;
  std::uint64_t wanted = plausible_registers(variant);
  if (facts.array_words > 0) wanted = own_registers + facts.array_words + variant.variant_hash % 8;
  // __launch_bounds__ leaves each thread its share of the registers of a block.
  const unsigned share = 65536 / std::max(32U, (facts.max_threads + 31) / 32 * 32) / 8 * 8;
  const unsigned limit = std::max(16U, std::min({most_registers, share, options.max_registers}));
  kernel.registers = static_cast<unsigned>(std::min<std::uint64_t>(wanted, limit));
  kernel.local_bytes = 4 * (wanted - kernel.registers);
  return kernel;
}

void add_ptxas_lines(NvrtcProgramOpaque& program, const KernelImage& kernel) {
  program.log += fmt::format(
      "ptxas info    : Compiling entry function '{0}'\nptxas info    : Function properties for {0}\n"
      "    {1} bytes stack frame, {1} bytes spill stores, {1} bytes spill loads\n"
      "ptxas info    : Used {2} registers, {3} bytes smem\n",
      kernel.name, kernel.local_bytes, kernel.registers, kernel.shared_bytes);
}

NvrtcResult compile(NvrtcProgramOpaque& program, const Options& options) {
  const auto fault = Machine::instance().pass("compile");
  if (fault && fault->action == Action::hang) hang();
  if (fault && fault->action == Action::compile_error) {
    program.log = fmt::format("{}(1): error: this compilation fails on purpose (WATTUNE_SIM_FAULTS)\n", program.file);
    return NvrtcResult::compilation;
  }
  Preprocessor preprocessor(program.headers, options.folders);
  for (const auto& [name, value] : options.defines) preprocessor.define(name, value);
  for (const char* name : {"__CUDACC__", "__CUDACC_RTC__", "__cplusplus"}) preprocessor.define(name, "201703L");
  preprocessor.define("__CUDA_ARCH__", "800");
  preprocessor.run(program.source, program.file);

  Image image;
  std::vector<std::string> errors = preprocessor.errors();
  for (const auto& expression : program.names) {
    const std::string name = plain_name(expression);
    const SourceFacts facts = look_at(preprocessor.tokens(), name);
    if (!facts.imbalance.empty()) errors.push_back(fmt::format("{}: error: {}", program.file, facts.imbalance));
    if (!facts.has_kernel && !facts.has_name && !preprocessor.makes_names()) {
      errors.push_back(fmt::format("{}: error: name expression \"{}\": there is no kernel of that name in the source",
                                   program.file, expression));
    }
    if (!errors.empty()) break;
    image.variant = variant_of(program, options, expression, preprocessor.tokens());
    KernelImage kernel = kernel_of(facts, image.variant, options);
    kernel.name = facts.is_extern_c ? name : fmt::format("_Z{}{}v", name.size(), name);
    program.lowered[expression] = kernel.name;
    add_ptxas_lines(program, kernel);
    image.kernels.push_back(std::move(kernel));
    if (image.variables.empty()) image.variables = facts.variables;
  }
  if (!errors.empty()) {
    program.log = fmt::format("{}\n", fmt::join(errors, "\n"));
    return NvrtcResult::compilation;
  }
  program.cubin = write_image(image);
  return NvrtcResult::success;
}

NvrtcResult guarded_nvrtc(const std::function<NvrtcResult()>& function) noexcept {
  try {
    return function();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulated GPU: %s\n", error.what());
    return NvrtcResult::internal_error;
  }
}

}  // namespace
}  // namespace simgpu
}  // namespace wattune

using namespace wattune;
using namespace wattune::simgpu;

WATTUNE_SIM_EXPORT const char* nvrtcGetErrorString(NvrtcResult result) {
  switch (result) {
    case NvrtcResult::success:
      return "NVRTC_SUCCESS";
    case NvrtcResult::out_of_memory:
      return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NvrtcResult::invalid_option:
      return "NVRTC_ERROR_INVALID_OPTION";
    case NvrtcResult::compilation:
      return "NVRTC_ERROR_COMPILATION";
    case NvrtcResult::name_expression_not_valid:
      return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case NvrtcResult::internal_error:
      return "NVRTC_ERROR_INTERNAL_ERROR";
  }
  return "NVRTC_ERROR unknown";
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = version_major;
  *minor = version_minor;
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(std::size(architectures));
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetSupportedArchs(int* list) {
  std::copy(std::begin(architectures), std::end(architectures), list);
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcCreateProgram(NvrtcProgram* program, const char* source, const char* name,
                                                  int headers, const char* const* header_sources,
                                                  const char* const* header_names) {
  return guarded_nvrtc([&] {
    auto own = std::make_unique<NvrtcProgramOpaque>();
    own->source = source;
    own->file = name != nullptr ? name : "default_program";
    for (int i = 0; i < headers; ++i) own->headers[header_names[i]] = header_sources[i];
    *program = own.release();
    return NvrtcResult::success;
  });
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcDestroyProgram(NvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcAddNameExpression(NvrtcProgram program, const char* expression) {
  return guarded_nvrtc([&] {
    program->names.emplace_back(expression);
    return NvrtcResult::success;
  });
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcCompileProgram(NvrtcProgram program, int options, const char* const* texts) {
  return guarded_nvrtc([&] { return compile(*program, read_options(options, texts)); });
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetProgramLogSize(NvrtcProgram program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetProgramLog(NvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetCUBINSize(NvrtcProgram program, std::size_t* bytes) {
  *bytes = program->cubin.size();
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetCUBIN(NvrtcProgram program, char* cubin) {
  std::copy(program->cubin.begin(), program->cubin.end(), cubin);
  return NvrtcResult::success;
}

WATTUNE_SIM_EXPORT NvrtcResult nvrtcGetLoweredName(NvrtcProgram program, const char* expression, const char** lowered) {
  const auto found = program->lowered.find(expression);
  if (found == program->lowered.end()) return NvrtcResult::name_expression_not_valid;
  *lowered = found->second.c_str();
  return NvrtcResult::success;
}
