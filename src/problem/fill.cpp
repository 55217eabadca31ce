#include "problem/fill.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.hpp"
#include "base/file.hpp"
#include "problem/evaluate_in.hpp"
#include "problem/half.hpp"
#include "problem/npy.hpp"
#include "problem/shell_output.hpp"

namespace wattune {

static_assert(std::endian::native == std::endian::little, "argument data are little-endian");

namespace {

struct Half {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t value;
};

/// Calls with a value of the scalar's own C++ type.
template <typename Function>
void with_scalar(ScalarType scalar, Function&& function) {
  switch (scalar) {
    case ScalarType::boolean:
      return function(Boolean{});
    case ScalarType::int8:
      return function(std::int8_t{});
    case ScalarType::uint8:
      return function(std::uint8_t{});
    case ScalarType::int16:
      return function(std::int16_t{});
    case ScalarType::uint16:
      return function(std::uint16_t{});
    case ScalarType::int32:
      return function(std::int32_t{});
    case ScalarType::uint32:
      return function(std::uint32_t{});
    case ScalarType::int64:
      return function(std::int64_t{});
    case ScalarType::uint64:
      return function(std::uint64_t{});
    case ScalarType::half:
      return function(Half{});
    case ScalarType::float32:
      return function(float{});
    case ScalarType::float64:
      return function(double{});
    case ScalarType::custom:
      break;
  }
  throw UsageError("elements of a custom type can be filled with zeros, from a file or by a script only");
}

/// False where the number does not fit the type, or has a fraction that it cannot hold.
template <typename T>
bool convert(const Value& value, T& result) {
  if constexpr (std::is_floating_point_v<T>) {
    result = static_cast<T>(value.as_double());
    return std::isfinite(result) || !std::isfinite(value.as_double());
  } else if constexpr (std::is_same_v<T, Half>) {
    result.bits = half_from_double(value.as_double());
    return (result.bits & 0x7c00) != 0x7c00 || !std::isfinite(value.as_double());
  } else if constexpr (std::is_same_v<T, Boolean>) {
    const double number = value.as_double();
    result.value = number == 1 ? 1 : 0;
    return number == 0 || number == 1;
  } else if (!value.is_float()) {
    result = static_cast<T>(value.as_int());
    return std::in_range<T>(value.as_int());
  } else {
    const double number = value.as_double();
    // One above the largest is a power of two and exact.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (std::floor(number) != number || number >= above ||
        number < static_cast<double>(std::numeric_limits<T>::min())) {
      return false;
    }
    result = static_cast<T>(number);
    return true;
  }
}

template <typename T>
void store(std::vector<std::byte>& bytes, std::uint64_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
}

void fill_constant(std::vector<std::byte>& bytes, std::uint64_t scalars, double value, const ElementType& type) {
  if (value == 0 && !std::signbit(value)) return;  // the bytes are zero already
  with_scalar(type.scalar, [&](auto scalar) {
    if (!convert(Value(value), scalar)) {
      throw UsageError(
          fmt::format("the value {} does not fit the type {}; change one of them", value, to_string(type)));
    }
    for (std::uint64_t i = 0; i < scalars; ++i) store(bytes, i, scalar);
  });
}

// --- random ----------------------------------------------------------------------------------------------------------
// Number k of a sequence is mix(state + (k + 1) * gamma), the splitmix64 generator (Steele, Lea, Flood 2014) read at
// any place: content depends on the seed and the index alone, whatever the order in which it is made.

constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15;

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// The next representable value below.
template <typename T>
T predecessor(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    if ((value.bits & 0x7fff) == 0) return Half{0x8001};
    const bool negative = (value.bits & 0x8000) != 0;
    return Half{static_cast<std::uint16_t>(negative ? value.bits + 1 : value.bits - 1)};
  } else {
    return std::nextafter(value, -std::numeric_limits<T>::infinity());
  }
}

template <typename T>
double widened(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return double_from_half(value.bits);
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
void random_floats(std::vector<std::byte>& bytes, std::uint64_t scalars, std::uint64_t state, double low, double high) {
  T value{};
  if (!convert(Value(low), value) || !convert(Value(high), value)) {
    throw UsageError(fmt::format("random numbers from {} to {} do not fit the type; give another Range", low, high));
  }
  const double width = high - low;
  for (std::uint64_t i = 0; i < scalars; ++i) {
    const double unit = static_cast<double>(mix(state + (i + 1) * gamma) >> 11) * 0x1p-53;
    const double number = low + unit * width;
    if constexpr (std::is_same_v<T, Half>) {
      value.bits = half_from_double(number);
    } else {
      value = static_cast<T>(number);
    }
    // The range is half-open, but rounding may reach its end.
    if (widened(value) >= high) value = predecessor(value);
    store(bytes, i, value);
  }
}

template <typename T>
void random_integers(std::vector<std::byte>& bytes, std::uint64_t scalars, std::uint64_t state, double low,
                     double high) {
  T first{};
  T last{};
  if (!convert(Value(low), first) || !convert(Value(high - 1), last)) {
    throw UsageError(
        fmt::format("random integers from {} to below {} are not of the type; give another Range", low, high));
  }
  if constexpr (std::is_same_v<T, Boolean>) {
    for (std::uint64_t i = 0; i < scalars; ++i) {
      const bool bit = first.value == last.value ? first.value != 0 : (mix(state + (i + 1) * gamma) >> 63) != 0;
      store(bytes, i, Boolean{static_cast<std::uint8_t>(bit)});
    }
  } else {
    const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
    for (std::uint64_t i = 0; i < scalars; ++i) {
      const auto wide = static_cast<unsigned __int128>(mix(state + (i + 1) * gamma)) * span;
      store(bytes, i, static_cast<T>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(wide >> 64)));
    }
  }
}

/// Where random numbers of a type lie: the range given, else from 0 to the scale, else [0, 1) or [0, 100).
std::pair<double, double> random_range(const Fill& fill, const ElementType& type) {
  if (fill.range) return *fill.range;
  if (fill.value != 0) return {std::min(fill.value, 0.0), std::max(fill.value, 0.0)};
  switch (type.scalar) {
    case ScalarType::half:
    case ScalarType::float32:
    case ScalarType::float64:
      return {0, 1};
    case ScalarType::boolean:
      return {0, 2};
    default:
      return {0, 100};
  }
}

void fill_random(std::vector<std::byte>& bytes, std::uint64_t scalars, const Fill& fill, const ElementType& type) {
  const auto [low, high] = random_range(fill, type);
  if (!(low < high)) throw UsageError(fmt::format("the range of random numbers [{}, {}) is empty", low, high));
  with_scalar(type.scalar, [&, low = low, high = high](auto scalar) {
    using T = decltype(scalar);
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half>) {
      random_floats<T>(bytes, scalars, mix(fill.seed), low, high);
    } else {
      random_integers<T>(bytes, scalars, mix(fill.seed), low, high);
    }
  });
}

// --- generator, files ------------------------------------------------------------------------------------------------

void fill_generated(std::vector<std::byte>& bytes, std::uint64_t scalars, const Problem& problem, const Fill& fill,
                    const ElementType& type) {
  const Expression expression = Expression::parse(fill.expression);
  const std::map<std::string, Value> scope = list_scope(problem);
  std::vector<std::string> names{"i"};
  std::vector<Value> values{Value(0)};
  for (const auto& [name, value] : scope) {
    if (name == "i") continue;
    names.push_back(name);
    values.push_back(value);
  }
  const Program program = expression.compile(names);
  with_scalar(type.scalar, [&](auto scalar) {
    for (std::uint64_t i = 0; i < scalars; ++i) {
      values[0] = static_cast<std::int64_t>(i);
      const Value value = program.evaluate(values);
      if (!value.is_number() || !convert(value, scalar)) {
        throw UsageError(fmt::format("'{}' gives {} at i = {}, which is no {}; correct it", fill.expression,
                                     value.str(), i, to_string(ElementType{type.scalar, 1, type.scalar_bytes()})));
      }
      store(bytes, i, scalar);
    }
  });
}

/// The bytes of a file from `offset` on; all of them where no count is given.
std::vector<std::byte> read_piece(const std::filesystem::path& path, std::uint64_t offset,
                                  std::optional<std::uint64_t> count) {
  const auto fail = [&](const std::string& reason) {
    return UsageError(fmt::format("cannot read '{}': {}", path.string(), reason));
  };
  struct stat status {};
  // Asked first, for opening a pipe would wait for its other end.
  if (::stat(path.c_str(), &status) != 0) throw fail(system_error_text(errno) + "; check the path");
  if (!S_ISREG(status.st_mode)) throw fail("it is no regular file; name one");
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw fail(system_error_text(errno) + "; check the file");
  const auto available = static_cast<std::uint64_t>(status.st_size);
  // Looked at before memory is taken: Size may be anything.
  if (offset > available || (count && available - offset < *count)) {
    throw fail(fmt::format("it has {} bytes, {} from offset {} on are needed; change Size, Offset or the file",
                           available, count.value_or(0), offset));
  }
  std::vector<std::byte> bytes(count.value_or(available - offset));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw fail(n == 0 ? "it became shorter" : system_error_text(errno));
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

std::vector<std::byte> read_npy(const Fill& fill, const ElementType& type, std::uint64_t size) {
  std::vector<std::byte> content = read_piece(fill.file, 0, std::nullopt);
  try {
    const std::string_view data = npy_data({reinterpret_cast<const char*>(content.data()), content.size()}, type, size);
    content.erase(content.begin(), content.end() - static_cast<std::ptrdiff_t>(data.size()));
    return content;
  } catch (const UsageError& failure) {
    throw UsageError(fmt::format("cannot use '{}': {}", fill.file.string(), failure.what()));
  }
}

}  // namespace

std::vector<std::byte> filled(const Problem& problem, const Fill& fill, const ElementType& type, std::uint64_t size) {
  std::uint64_t count = 0;
  if (__builtin_mul_overflow(size, type.bytes, &count) || count > max_argument_bytes) {
    throw UsageError(fmt::format("{} elements of {} bytes are too many; give a smaller Size", size, type.bytes));
  }
  try {
    if (fill.kind == Fill::Kind::script) return shell_output(fill.command, problem.file.parent_path(), count);
    if (fill.kind == Fill::Kind::raw_file) return read_piece(fill.file, fill.offset, count);
    if (fill.kind == Fill::Kind::npy_file) return read_npy(fill, type, size);
    std::vector<std::byte> bytes(count);
    const std::uint64_t scalars = size * type.components;
    if (fill.kind == Fill::Kind::random) {
      fill_random(bytes, scalars, fill, type);
    } else if (fill.kind == Fill::Kind::generator) {
      fill_generated(bytes, scalars, problem, fill, type);
    } else {
      fill_constant(bytes, scalars, fill.value, type);
    }
    return bytes;
  } catch (const std::bad_alloc&) {
    throw UsageError(fmt::format("there is no memory for its {} bytes; give a smaller Size", count));
  }
}

}  // namespace wattune
