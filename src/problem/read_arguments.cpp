// The kernel's arguments and where their data come from.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "expr/nearest_name.hpp"
#include "problem/evaluate_in.hpp"
#include "problem/fill.hpp"
#include "problem/reader.hpp"

namespace wattune {

namespace {

ElementType read_type(const JsonNode& node) {
  const JsonNode name = node.at("Type");
  std::size_t custom = 0;
  if (name.string() == "custom") {
    const JsonNode bytes = node.at("TypeSize");
    custom = bytes.natural();
    // A larger element would be a mistake, and products with sizes are to stay within 64 bits.
    if (custom == 0 || custom > (1U << 20)) bytes.fail("is not from 1 to 1048576; give the bytes of one element");
  }
  const auto type = element_type(name.string(), custom);
  if (!type) {
    name.fail(
        fmt::format("unknown type '{}'; give bool, int8 to int64, uint8 to uint64, half, float, double, one of the "
                    "last three with 2, 4, 8 or 16 components (float4), or custom with TypeSize",
                    name.string()));
  }
  if (const auto bytes = node.find("TypeSize"); bytes && bytes->natural() != type->bytes) {
    bytes->fail(fmt::format("is {}, but {} has {} bytes; remove it", bytes->natural(), to_string(*type), type->bytes));
  }
  return *type;
}

MemoryKind read_memory(Reading& reading, const JsonNode& node) {
  const std::string& name = node.at("MemoryType").one_of({"Scalar", "Vector", "Local", "Symbol"});
  const auto kind = node.find("MemType");
  if (kind && kind->string() == "Constant") {
    if (name != "Vector") kind->fail(fmt::format("Constant is for vectors, not for MemoryType {}; remove it", name));
    return MemoryKind::constant;
  }
  if (kind) reading.warn(*kind, fmt::format("'{}' ignored; only Constant is known", kind->string()));
  return name == "Scalar"   ? MemoryKind::scalar
         : name == "Vector" ? MemoryKind::vector
         : name == "Local"  ? MemoryKind::local
                            : MemoryKind::symbol;
}

Access read_access(const JsonNode& node) {
  const auto access = node.find("AccessType");
  if (!access) return Access::read_write;
  const std::string& name = access->one_of({"ReadOnly", "WriteOnly", "ReadWrite"});
  return name == "ReadOnly" ? Access::read_only : name == "WriteOnly" ? Access::write_only : Access::read_write;
}

/// true, false, 1 or 0.
bool read_flag(const JsonNode& node) {
  if (!node.is_number()) return node.boolean();
  const std::int64_t value = node.integer();
  if (value != 0 && value != 1) node.fail(fmt::format("is {}; give true or false", value));
  return value == 1;
}

/// The number of elements: in Size, a parameter's name stands for the list of its values.
std::uint64_t read_size(Reading& reading, const JsonNode& node, const ElementType& type) {
  const Problem& problem = reading.problem;
  const Expression expression = read_expression(node);
  if (reading.options.space_only) return 1;
  check_names_in_scope(reading, node, expression);
  std::uint64_t size = 0;
  try {
    size = as_count(expression, expression.evaluate(list_scope(problem)), "the size", false);
  } catch (const ExpressionError& error) {
    const std::vector<std::string> parameters = problem.parameter_names();
    const bool has_list = std::any_of(parameters.begin(), parameters.end(), [&](const std::string& name) {
      const auto& used = expression.names();
      return std::find(used.begin(), used.end(), name) != used.end();
    });
    node.fail(std::string(error.what()) +
              (has_list ? "; in Size a parameter stands for the list of its values: use max(...)" : ""));
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(size, type.bytes, &bytes) || bytes > max_argument_bytes) {
    node.fail(fmt::format("{} elements of {} bytes are too many; give a smaller size", size, type.bytes));
  }
  return size;
}

void read_sizes(Reading& reading, const JsonNode& node, Argument& argument) {
  const auto size = node.find("Size");
  if (argument.memory == MemoryKind::local) {
    argument.size = 0;
    Expression expression = read_expression(node.at("Size"));
    if (!reading.options.space_only) check_names_in_scope(reading, *size, expression);
    argument.local_size = std::move(expression);
    return;
  }
  const bool one_by_default = argument.memory == MemoryKind::scalar || argument.memory == MemoryKind::symbol;
  if (!size && one_by_default) return;
  argument.size = read_size(reading, node.at("Size"), argument.type);
  if (argument.memory == MemoryKind::scalar && argument.size != 1) {
    size->fail(fmt::format("a scalar has one element, not {}; remove Size or give MemoryType Vector", argument.size));
  }
}

/// What wattune.Arguments says about one argument.
void read_argument_additions(const JsonNode& node, Argument& argument, bool& output_given) {
  refuse_unknown_keys(node, {"Reset", "Range", "Offset", "Output"});
  if (const auto reset = node.find("Reset")) {
    const std::string& name = reset->one_of({"none", "zero", "restore"});
    argument.reset = name == "zero" ? Reset::zero : name == "restore" ? Reset::restore : Reset::none;
    if (argument.memory == MemoryKind::scalar || argument.memory == MemoryKind::local) {
      reset->fail("only memory on the device can be reset; remove it");
    }
  }
  if (const auto output = node.find("Output")) {
    argument.output = read_flag(*output);
    output_given = true;
  }
}

std::optional<JsonNode> additions_of(const Reading& reading, std::string_view name) {
  const auto all = reading.addition("Arguments");
  return all ? all->find(name) : std::nullopt;
}

bool may_be_output(const Argument& argument) {
  return argument.memory != MemoryKind::scalar && argument.memory != MemoryKind::local;
}

/// @return whether the file says if it is an output.
bool read_argument(Reading& reading, const JsonNode& node) {
  warn_unknown_keys(reading, node,
                    {"Name", "Type", "Size", "TypeSize", "FillType", "FillValue", "DataSource", "RandomSeed",
                     "AccessType", "MemoryType", "MemType", "Output"});
  auto& arguments = reading.problem.arguments;
  Argument argument;
  const auto name = node.find("Name");
  argument.name = name ? name->string() : fmt::format("argument{}", arguments.size());
  for (const Argument& other : arguments) {
    if (other.name == argument.name)
      (name ? *name : node).fail(fmt::format("there are two arguments '{}'; rename one", argument.name));
  }
  argument.type = read_type(node);
  argument.memory = read_memory(reading, node);
  argument.access = read_access(node);
  read_sizes(reading, node, argument);
  bool output_given = false;
  if (const auto output = node.find("Output")) {
    argument.output = read_flag(*output);
    output_given = true;
  }
  const auto additions = additions_of(reading, argument.name);
  if (additions) read_argument_additions(*additions, argument, output_given);
  if (argument.output && !may_be_output(argument))
    node.fail("only memory on the device can be an output; remove Output");
  if (argument.output && argument.access == Access::read_only) {
    reading.warn(node, "is an output, although AccessType is ReadOnly; taken as ReadWrite");
    argument.access = Access::read_write;
  }
  if (argument.memory != MemoryKind::local) {
    argument.fill = read_fill(reading, node, additions, argument.type, arguments.size());
    check_fill(reading, node, argument.fill, argument.type, argument.size, argument.name);
  }
  arguments.push_back(std::move(argument));
  return output_given;
}

void check_total_size(const Reading& reading, const JsonNode& node) {
  std::uint64_t total = 0;
  for (const Argument& argument : reading.problem.arguments) {
    const std::uint64_t bytes = argument.size * argument.type.bytes;
    if (__builtin_add_overflow(total, bytes, &total) || total > max_argument_bytes) {
      node.fail("all arguments together are too large; give smaller sizes");
    }
  }
}

std::pair<double, double> read_range(const JsonNode& node) {
  const std::vector<JsonNode> ends = node.items();
  if (ends.size() != 2)
    node.fail("must be a list of two numbers: the smallest value and the end, which is not included");
  const double low = ends[0].number();
  const double high = ends[1].number();
  if (!(low < high)) node.fail(fmt::format("[{}, {}) is empty; give the smaller number first", low, high));
  return {low, high};
}

void read_fill_value(const JsonNode& value, const ElementType& type, Fill& fill) {
  fill.value = value.is_boolean() ? (value.boolean() ? 1.0 : 0.0) : value.number();
  const bool floating =
      type.scalar == ScalarType::half || type.scalar == ScalarType::float32 || type.scalar == ScalarType::float64;
  // A double holds every integer below 2^53; larger ones go through the expression language, which has 64 bits.
  const bool exact = floating || !value.is_integer() || std::fabs(fill.value) < 9007199254740992.0;
  if (!exact && fill.kind == Fill::Kind::constant) {
    fill.kind = Fill::Kind::generator;
    fill.expression = fmt::to_string(value.integer());
    fill.value = 0;
  }
}

void read_data_source(const Reading& reading, const JsonNode& source, Fill& fill) {
  if (source.string().empty()) source.fail("is empty; give the file, command or expression");
  if (fill.kind == Fill::Kind::generator) {
    const Expression expression = read_expression(source);
    if (!reading.options.space_only) check_names_in_scope(reading, source, expression, "i");
    fill.expression = expression.text();
  } else if (fill.kind == Fill::Kind::script) {
    fill.command = source.string();
  } else {
    fill.file = (reading.folder / source.string()).lexically_normal();
    if (fill.file.extension() == ".npy") fill.kind = Fill::Kind::npy_file;
  }
}

}  // namespace

Fill read_fill(Reading& reading, const JsonNode& node, const std::optional<JsonNode>& additions,
               const ElementType& type, std::size_t position) {
  Fill fill;
  const auto fill_type = node.find("FillType");
  const std::string name =
      fill_type ? fill_type->one_of({"Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF"})
                : "Constant";
  if (name == "BinaryHDF") fill_type->fail("HDF5 files are not supported; give BinaryRaw with a raw or .npy file");
  const bool from_source = name == "Generator" || name == "Script" || name == "BinaryRaw";
  fill.kind = name == "Random"      ? Fill::Kind::random
              : name == "Generator" ? Fill::Kind::generator
              : name == "Script"    ? Fill::Kind::script
              : name == "BinaryRaw" ? Fill::Kind::raw_file
                                    : Fill::Kind::constant;
  const auto source = node.find("DataSource");
  if (from_source) {
    read_data_source(reading, node.at("DataSource"), fill);
  } else if (source) {
    reading.warn(*source, fmt::format("ignored with FillType {}", name));
  }
  const auto value = node.find("FillValue");
  if (value && from_source) {
    reading.warn(*value, fmt::format("ignored with FillType {}", name));
  } else if (value) {
    read_fill_value(*value, type, fill);
  }
  // Arguments without a seed are to differ from one another.
  fill.seed = position + 1;
  if (const auto seed = node.find("RandomSeed")) {
    fill.seed = static_cast<std::uint64_t>(seed->integer());
    if (fill.kind != Fill::Kind::random) reading.warn(*seed, fmt::format("ignored with FillType {}", name));
  }
  if (const auto range = additions ? additions->find("Range") : std::nullopt) {
    if (fill.kind != Fill::Kind::random) range->fail(fmt::format("is for FillType Random, not {}; remove it", name));
    fill.range = read_range(*range);
  }
  if (const auto offset = additions ? additions->find("Offset") : std::nullopt) {
    if (fill.kind != Fill::Kind::raw_file) offset->fail("is for raw files (FillType BinaryRaw, not .npy); remove it");
    fill.offset = offset->natural();
  }
  return fill;
}

void check_fill(Reading& reading, const JsonNode& node, const Fill& fill, const ElementType& type, std::uint64_t size,
                std::string_view argument_name) {
  if (reading.options.space_only || fill.kind == Fill::Kind::script) return;
  const bool from_file = fill.kind == Fill::Kind::raw_file || fill.kind == Fill::Kind::npy_file;
  const auto source = node.find(from_file || fill.kind == Fill::Kind::generator ? "DataSource" : "FillValue");
  try {
    const std::vector<std::byte> data = filled(reading.problem, fill, type, from_file ? size : 1);
    if (!from_file) return;
    const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
    reading.data_hashes.push_back(fmt::format("{} {}", argument_name, Hasher().add(bytes).hex()));
  } catch (const UsageError& error) {
    (source ? *source : node).fail(error.what());
  }
}

void read_arguments(Reading& reading, const JsonNode& specification) {
  const auto list = specification.find("Arguments");
  bool output_given = false;
  if (list) {
    for (const JsonNode& node : list->items()) output_given = read_argument(reading, node) || output_given;
    check_total_size(reading, *list);
  }
  std::vector<std::string> names;
  for (Argument& argument : reading.problem.arguments) {
    names.push_back(argument.name);
    // Without a word about outputs, what the kernel writes is one.
    if (!output_given) argument.output = may_be_output(argument) && argument.access != Access::read_only;
  }
  const auto additions = reading.addition("Arguments");
  if (!additions) return;
  for (const auto& [name, node] : additions->members()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    node.fail(fmt::format("the kernel has no argument '{}'{}; give one of: {}", name, did_you_mean(name, names),
                          joined(names)));
  }
}

}  // namespace wattune
