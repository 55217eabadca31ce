#include "backend/cuda/compile_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "base/error.hpp"

namespace wattune {

namespace {

/// What becomes of an option for a compiler.
enum class Treatment {
  keep,
  drop,  ///< it does not concern the device's code
  note,  ///< it does, but cannot be done here
};

/// How an option takes its value.
enum class Value {
  none,
  next,      ///< -name value, -name=value
  attached,  ///< also -namevalue
};

struct Option {
  const char* short_name;
  const char* long_name;
  Value value;
  Treatment nvrtc;
  Treatment nvcc;
  const char* nvrtc_spelling = nullptr;  ///< where it differs from short_name; ends in = where a value follows so
};

constexpr Treatment keep = Treatment::keep;
constexpr Treatment drop = Treatment::drop;
constexpr Treatment note = Treatment::note;

// Longer names stand before those that they begin with.
constexpr Option known_options[] = {
    {"-D", "--define-macro", Value::attached, keep, keep, "-D"},
    {"-U", "--undefine-macro", Value::attached, keep, keep, "-U"},
    {"-include", "--pre-include", Value::next, keep, keep, "-include="},
    {"-isystem", "--system-include", Value::next, keep, keep, "-I"},
    {"-I", "--include-path", Value::attached, keep, keep, "-I"},
    {"-std", "--std", Value::next, keep, keep, "-std="},
    {"-maxrregcount", "--maxrregcount", Value::next, keep, keep, "-maxrregcount="},
    {"-Xptxas", "--ptxas-options", Value::next, keep, keep, "--ptxas-options="},
    {"-ftz", "--ftz", Value::next, keep, keep, "-ftz="},
    {"-prec-div", "--prec-div", Value::next, keep, keep, "-prec-div="},
    {"-prec-sqrt", "--prec-sqrt", Value::next, keep, keep, "-prec-sqrt="},
    {"-fmad", "--fmad", Value::next, keep, keep, "-fmad="},
    {"-dopt", "--dopt", Value::next, keep, keep, "-dopt="},
    {"-diag-suppress", "--diag-suppress", Value::next, keep, keep, "-diag-suppress="},
    {"-diag-warn", "--diag-warn", Value::next, keep, keep, "-diag-warn="},
    {"-diag-error", "--diag-error", Value::next, keep, keep, "-diag-error="},
    {"-split-compile", "--split-compile", Value::next, keep, keep, "--split-compile="},
    {"-res-usage", "--resource-usage", Value::none, keep, keep, "--ptxas-options=-v"},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", Value::none, drop, keep},
    {"-expt-extended-lambda", "--expt-extended-lambda", Value::none, drop, keep},
    {"-extended-lambda", "--extended-lambda", Value::none, drop, keep},
    {"-Xcompiler", "--compiler-options", Value::next, drop, keep},
    {"-Xlinker", "--linker-options", Value::next, drop, drop},
    {"-Xarchive", "--archive-options", Value::next, drop, drop},
    {"-Xcudafe", "--cudafe-options", Value::next, drop, keep},
    {"-Xnvlink", "--nvlink-options", Value::next, drop, drop},
    {"-ccbin", "--compiler-bindir", Value::next, drop, keep},
    {"-cudart", "--cudart", Value::next, drop, drop},
    {"-default-stream", "--default-stream", Value::next, drop, keep},
    {"-Werror", "--Werror", Value::next, drop, keep},
    {"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets", Value::none, drop, keep},
    {"-allow-unsupported-compiler", "--allow-unsupported-compiler", Value::none, drop, keep},
    {"-src-in-ptx", "--source-in-ptx", Value::none, drop, keep},
    {"-keep-dir", "--keep-dir", Value::next, drop, drop},
    {"-keep", "--keep", Value::none, drop, drop},
    {"-odir", "--output-directory", Value::next, drop, drop},
    {"-o", "--output-file", Value::next, drop, drop},
    {"-O", "--optimize", Value::attached, drop, keep},
    {"-t", "--threads", Value::next, drop, drop},
    {"-m64", "--m64", Value::none, drop, drop},
    {"-m", "--machine", Value::next, drop, drop},
    {"-x", "--x", Value::next, drop, drop},
    {"-g", "--debug", Value::none, drop, keep},
    {"-pg", "--profile", Value::none, drop, drop},
    {"-v", "--verbose", Value::none, drop, drop},
    {"-shared", "--shared", Value::none, drop, drop},
    {"-cubin", "--cubin", Value::none, drop, drop},
    {"-ptx", "--ptx", Value::none, drop, drop},
    {"-fatbin", "--fatbin", Value::none, drop, drop},
    {"-c", "--compile", Value::none, drop, drop},
    {"-lib", "--lib", Value::none, drop, drop},
    {"-lineinfo", "--generate-line-info", Value::none, keep, keep},
    {"-L", "--library-path", Value::attached, drop, drop},
    {"-l", "--library", Value::attached, drop, drop},
    // A binary that still has to be linked cannot be loaded.
    {"-rdc", "--relocatable-device-code", Value::next, note, note},
    {"-dc", "--device-c", Value::none, note, note},
    {"-dw", "--device-w", Value::none, note, note},
    {"-dlto", "--dlink-time-opt", Value::none, note, note},
};

constexpr Option architecture_options[] = {
    {"-gencode", "--generate-code", Value::next, drop, drop},
    {"-arch", "--gpu-architecture", Value::next, drop, drop},
    {"-code", "--gpu-code", Value::next, drop, drop},
};

/// An option as read: which one (null: unknown) and its value.
struct Parsed {
  const Option* option = nullptr;
  std::vector<std::string> written;  ///< one or two words
  std::optional<std::string> value;
  bool is_architecture = false;
};

/// Compares one word with an option. @param takes_next set where the value is the next word.
bool matches(const Option& option, const std::string& word, std::optional<std::string>& value, bool& takes_next) {
  for (const std::string_view name : {std::string_view(option.short_name), std::string_view(option.long_name)}) {
    if (!word.starts_with(name)) continue;
    const std::string rest = word.substr(name.size());
    if (rest.empty()) {
      takes_next = option.value != Value::none;
      return true;
    }
    if (option.value != Value::none && rest[0] == '=' && name != "-D") {
      value = rest.substr(1);
      return true;
    }
    if (option.value == Value::attached && name == option.short_name) {
      value = rest;
      return true;
    }
  }
  return false;
}

/// One element of the list may hold an option and its value with a space between: "-Xptxas -v".
std::vector<std::string> words(const std::vector<std::string>& options) {
  std::vector<std::string> result;
  for (const auto& option : options) {
    const std::size_t begin = option.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    const std::size_t space = option.find_first_of(" \t", begin);
    const bool split = option[begin] == '-' && space != std::string::npos && option.find('"') == std::string::npos &&
                       option.find('=') > space;
    if (!split) {
      result.push_back(option.substr(begin));
      continue;
    }
    result.push_back(option.substr(begin, space - begin));
    const std::size_t rest = option.find_first_not_of(" \t", space);
    if (rest == std::string::npos) continue;
    // Several options in one element.
    if (option[rest] == '-' || option.find(" -", rest) != std::string::npos) {
      for (auto& word : words({option.substr(rest)})) result.push_back(std::move(word));
    } else {
      result.push_back(option.substr(rest));
    }
  }
  return result;
}

std::vector<Parsed> parse(const std::vector<std::string>& options) {
  std::vector<Parsed> result;
  const auto list = words(options);
  for (std::size_t i = 0; i < list.size(); ++i) {
    Parsed parsed;
    parsed.written = {list[i]};
    bool takes_next = false;
    auto try_all = [&](const auto& table) {
      for (const auto& option : table) {
        if (parsed.option == nullptr && matches(option, list[i], parsed.value, takes_next)) parsed.option = &option;
      }
    };
    try_all(architecture_options);
    parsed.is_architecture = parsed.option != nullptr;
    if (!parsed.is_architecture) try_all(known_options);
    if (takes_next && i + 1 < list.size()) {
      parsed.value = list[++i];
      parsed.written.push_back(*parsed.value);
    }
    result.push_back(std::move(parsed));
  }
  return result;
}

/// Architectures named in the values of -arch, -gencode and -code, in their order.
std::vector<CudaArchitecture> asked_architectures(const std::vector<Parsed>& options) {
  static const std::regex pattern("(sm|compute)_([0-9]{2,4})([af]?)");
  std::vector<CudaArchitecture> result;
  for (const auto& option : options) {
    if (!option.is_architecture || !option.value) continue;
    for (std::sregex_iterator match(option.value->begin(), option.value->end(), pattern), end; match != end; ++match) {
      result.push_back({std::stoi((*match)[2]), (*match)[3]});
    }
  }
  return result;
}

/// What to compile for: what the options ask for where the device runs it, else the device's own architecture.
CudaArchitecture chosen_architecture(const std::vector<Parsed>& options, const CudaArchitecture& device,
                                     std::vector<std::string>& notes) {
  const auto asked = asked_architectures(options);
  if (asked.empty()) return device;
  std::optional<CudaArchitecture> best;
  for (const auto& architecture : asked) {
    const bool own = architecture.number == device.number;
    // Binaries run on later devices of the same generation, except those with architecture-specific instructions.
    const bool earlier = architecture.number / 10 == device.number / 10 && architecture.number < device.number &&
                         architecture.suffix.empty();
    if (!own && !earlier) continue;
    const bool better = !best || architecture.number > best->number ||
                        (architecture.number == best->number && !architecture.suffix.empty() && best->suffix.empty());
    if (better) best = architecture;
  }
  if (best) return *best;
  notes.push_back(fmt::format("the options ask for {}, which this device does not run: compiled for {}",
                              asked.front().sm(), device.sm()));
  return device;
}

/// NVRTC takes one option for ptxas at a time, nvcc a list with commas between.
std::vector<std::string> nvrtc_texts(const Parsed& parsed) {
  const Option& option = *parsed.option;
  const std::string name = option.nvrtc_spelling != nullptr ? option.nvrtc_spelling : option.short_name;
  std::string value = parsed.value.value_or("");
  std::vector<std::string> result;
  for (std::size_t comma; (comma = value.find(",-")) != std::string::npos;) {
    result.push_back(name + value.substr(0, comma));
    value.erase(0, comma + 1);
  }
  result.push_back(name + value);
  return result;
}

void note_left_out(const Parsed& parsed, std::vector<std::string>& notes) {
  if (parsed.value && *parsed.value == "false") return;
  notes.push_back(fmt::format("option {} was left out: the kernel's binary must be complete", parsed.written.front()));
}

}  // namespace

CudaArchitecture cuda_architecture(std::string_view text) {
  static const std::regex pattern("sm_([0-9]{2,4})([af]?)");
  std::smatch match;
  const std::string word(text);
  if (!std::regex_match(word, match, pattern)) {
    throw UsageError(fmt::format("'{}' is no CUDA architecture; give one such as sm_90", text));
  }
  return {std::stoi(match[1]), match[2]};
}

CompilerArguments nvrtc_arguments(const std::vector<std::string>& options, const CudaArchitecture& device) {
  CompilerArguments result;
  const auto parsed_options = parse(options);
  result.architecture = chosen_architecture(parsed_options, device, result.notes);
  for (const auto& parsed : parsed_options) {
    if (parsed.is_architecture) continue;
    if (parsed.option == nullptr) {
      result.arguments.insert(result.arguments.end(), parsed.written.begin(), parsed.written.end());
    } else if (parsed.option->nvrtc == note) {
      note_left_out(parsed, result.notes);
    } else if (parsed.option->nvrtc == keep) {
      for (auto& text : nvrtc_texts(parsed)) result.arguments.push_back(std::move(text));
    }
  }
  return result;
}

CompilerArguments nvcc_arguments(const std::vector<std::string>& options, const CudaArchitecture& device) {
  CompilerArguments result;
  const auto parsed_options = parse(options);
  result.architecture = chosen_architecture(parsed_options, device, result.notes);
  for (const auto& parsed : parsed_options) {
    if (parsed.is_architecture) continue;
    if (parsed.option == nullptr) {
      result.arguments.insert(result.arguments.end(), parsed.written.begin(), parsed.written.end());
    } else if (parsed.option->nvcc == note) {
      note_left_out(parsed, result.notes);
    } else if (parsed.option->nvcc == keep) {
      result.arguments.insert(result.arguments.end(), parsed.written.begin(), parsed.written.end());
    }
  }
  return result;
}

}  // namespace wattune
