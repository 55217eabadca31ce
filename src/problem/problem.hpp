#pragma once
// A tuning problem: the kernel, its arguments, the space, how outputs are checked, and what is to be minimised.
// Read from a T1 file (https://github.com/odgaard/TuningSchema) with our additions; docs/problem-file.md describes
// both.

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/expression.hpp"
#include "problem/element_type.hpp"
#include "space/search_space.hpp"

namespace wattune {

enum class ParameterKind {
  code,           ///< compiled in
  launch,         ///< changes only the launch
  device_setting  ///< nvml_gr_clock, nvml_mem_clock (MHz), nvml_pwr_limit (W)
};
std::string_view to_string(ParameterKind kind);

enum class MemoryKind { scalar, vector, local, constant, symbol };
enum class Access { read_only, write_only, read_write };
enum class Reset { none, zero, restore };

/// Where the content of an argument comes from.
struct Fill {
  enum class Kind { constant, random, generator, script, raw_file, npy_file };
  Kind kind = Kind::constant;
  double value = 0;                                ///< constant: the value; random: the scale
  std::optional<std::pair<double, double>> range;  ///< random: uniform in [first, second)
  std::uint64_t seed = 0;                          ///< random
  std::string expression;      ///< generator: of the index i, ProblemSize and parameters' value lists
  std::string command;         ///< script: a shell command that writes the bytes to stdout
  std::filesystem::path file;  ///< raw_file, npy_file: absolute
  std::uint64_t offset = 0;    ///< raw_file: bytes to skip
};

struct Argument {
  std::string name;
  ElementType type;
  MemoryKind memory = MemoryKind::vector;
  Access access = Access::read_write;
  Fill fill;
  std::uint64_t size = 1;                ///< elements (1 for scalars); 0 for local memory, see local_size
  std::optional<Expression> local_size;  ///< local memory: elements, of the configuration's own values
  bool output = false;                   ///< compared with the reference
  Reset reset = Reset::none;             ///< between repeated launches
};

/// How outputs are judged.
struct Verification {
  enum class Reference {
    none,    ///< compare with the default configuration: "consistent"
    host,    ///< a host function built into the program, by name
    kernel,  ///< another kernel, run once
    data     ///< files, one per output
  };
  Reference reference = Reference::none;
  std::string host_function;
  struct Kernel {
    std::string name;
    std::string source;                ///< text of its file (often the tuned kernel's own)
    std::filesystem::path file;        ///< absolute
    std::vector<std::string> options;  ///< its include paths among them, absolute
    std::array<Expression, 3> grid;    ///< work-groups; of ProblemSize
    std::array<Expression, 3> block;   ///< items of a work-group; of ProblemSize
  };
  std::optional<Kernel> kernel;
  std::map<std::string, Fill> data;          ///< by name of the output argument
  std::optional<double> absolute_tolerance;  ///< else by the element type, see default_tolerance()
  std::optional<double> relative_tolerance;
};

enum class Direction { minimize, maximize };
struct Objective {
  std::string name;  ///< of a measured quantity, an observer's or a metric
  Direction direction = Direction::minimize;
};

/// A number derived from a configuration and its quantities: its expression may use parameters, `time` (s), `power`
/// (W), `energy` (J), every other measured quantity (SI) and earlier metrics whose names are identifiers.
struct Metric {
  std::string name;
  Expression expression;
  std::string unit;
  std::optional<Direction> better;  ///< known for the built-in ones (GFLOP/s, GB/s, GFLOP/J: maximize)
};

/// One kernel source for one language: the problem's own, or an alternative for devices of another kind.
struct KernelSource {
  std::string language;                              ///< "CUDA" or "OpenCL"
  std::string kernel_name;                           ///< may hold parameters as whole words: "gemm<TILE, float>"
  std::filesystem::path file;                        ///< absolute
  std::string text;                                  ///< content of `file`, as read
  std::vector<std::string> options;                  ///< compiler options without -I, which are in include_paths
  std::vector<std::filesystem::path> include_paths;  ///< the kernel's own folder first, then -I options
  /// Every file that it includes (directly or not) outside the toolkit: path and content hash.
  std::vector<std::pair<std::filesystem::path, std::string>> includes;
  /// The identifiers that occur in the source, its includes and its options, and the parameters that wattune.Kinds
  /// declares to be code; `pastes` where the files hold a ## operator.
  std::vector<std::string> identifiers;  ///< sorted
  bool pastes = false;
};

/// The shape of a launch. The grid counts work-groups, the block the items of one.
struct LaunchShape {
  std::array<std::uint64_t, 3> grid{1, 1, 1};
  std::array<std::uint64_t, 3> block{1, 1, 1};
};

/// What one launch does, of the configuration. Absent where the file does not tell.
struct Workload {
  std::optional<Expression> flop;
  std::optional<Expression> bytes;
};

struct Budget {
  std::optional<std::uint64_t> evaluations;
  std::optional<double> seconds;
  std::optional<double> fraction;  ///< of the valid configurations, 0 to 1
};

/// Read with read_problem(); immutable afterwards.
struct Problem {
  std::filesystem::path file;         ///< absolute
  std::string name;                   ///< General.BenchmarkName, else the kernel's name
  std::vector<std::string> warnings;  ///< one line each, naming file, key and what was ignored

  std::vector<Parameter> parameters;
  std::vector<ParameterKind> kinds;  ///< one per parameter, for the chosen kernel source
  std::vector<Value> defaults;       ///< one per parameter (the first value where the file gives none)
  std::vector<Restriction> restrictions;
  /// wattune.DeviceSettings: by parameter, what becomes its values on a device ("600:1400:5", "all", "600,900").
  std::map<std::string, std::string> device_settings;

  KernelSource kernel;                                 ///< the chosen one
  std::vector<std::string> languages;                  ///< all for which there is a source, the file's own first
  std::vector<std::int64_t> problem_size;              ///< as given; may be empty
  std::uint64_t shared_memory = 0;                     ///< dynamic shared memory in bytes
  std::optional<Expression> shared_memory_expression;  ///< of the configuration, where given
  std::vector<Argument> arguments;
  Verification verification;
  std::vector<Metric> metrics;  ///< those of Workload included
  Workload workload;
  std::vector<Objective> objectives;    ///< empty where the file names none
  std::vector<std::string> conditions;  ///< that the best has to meet; read by result/constraint
  Budget budget;
  std::vector<std::string> observers;  ///< names of those that the program has registered
  std::string launch_function;         ///< likewise; empty: a plain launch

  /// Explicit defines (wattune.Defines); where absent, the defaults apply.
  std::optional<std::vector<std::pair<std::string, Expression>>> explicit_defines;

  /// Hash of everything that results depend on: the kernel, its includes, data files, arguments, options, launch
  /// expressions, problem size, parameters and restrictions. Objectives and budget are not part of it.
  std::string hash;

  /// Launch expressions; see launch_shape().
  std::array<std::optional<Expression>, 3> global_size;
  std::array<std::optional<Expression>, 3> local_size;
  bool global_size_in_items = false;  ///< OpenCL convention
  std::array<std::vector<Expression>, 3> grid_divisors;
  bool uses_grid_divisors = false;

  [[nodiscard]] std::vector<std::string> parameter_names() const;
};

struct ReadOptions {
  /// Replaces ProblemSize (--problem-size).
  std::optional<std::vector<std::int64_t>> problem_size;
  /// "CUDA" or "OpenCL": takes the source for that language. Empty: the file's own.
  std::string language;
  /// Only parameters and restrictions are wanted: the kernel's files need not exist and arguments are not sized.
  bool space_only = false;
  /// Parameters of device settings, resolved for a device: they replace those of the file, or join them. Their default
  /// is the last value.
  std::vector<Parameter> device_settings = {};
};

/// Reads and checks a problem file.
/// @throws UsageError "FILE:LINE: KEY: what is wrong; what to do".
Problem read_problem(const std::filesystem::path& file, const ReadOptions& options = {});
/// The same from text; `file` stands for it in messages, and its folder is where relative paths start.
Problem parse_problem(std::string_view json, const std::filesystem::path& file, const ReadOptions& options = {});

/// The defines of a configuration for the chosen kernel: those whose names occur in the source (or may, where it
/// pastes tokens), in order. Device settings are never among them. Two configurations with equal defines and equal
/// kernel_name() share one binary. @throws ExpressionError where a define or the launch cannot be computed.
std::vector<std::pair<std::string, std::string>> defines(const Problem& problem,
                                                         const std::vector<Value>& configuration);
/// The kernel's name with parameters substituted as whole words.
std::string kernel_name(const Problem& problem, const std::vector<Value>& configuration);
/// The launch of a configuration. @throws ExpressionError where a size cannot be computed or is not positive.
LaunchShape launch_shape(const Problem& problem, const std::vector<Value>& configuration);
/// Bytes of dynamic shared memory of a configuration.
std::uint64_t shared_memory_bytes(const Problem& problem, const std::vector<Value>& configuration);
/// Elements of a local-memory argument for a configuration.
std::uint64_t local_elements(const Problem& problem, const Argument& argument, const std::vector<Value>& configuration);

}  // namespace wattune
