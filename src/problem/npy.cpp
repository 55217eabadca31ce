#include "problem/npy.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"

namespace wattune {

namespace {

/// Reads the header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      bool& given = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (given || (key != "descr" && key != "fortran_order" && key != "shape")) broken();
      given = true;
      if (key == "descr") {
        if (peek() == '[') throw UsageError("it holds records; store one array of plain numbers in each file");
        header.descr = string();
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
      } else {
        header.shape = tuple();
      }
      if (!accept(',') && peek() != '}') broken();
    }
    if (!descr || !order || !shape || peek() != 0) broken();
    return header;
  }

 private:
  [[noreturn]] static void broken() { throw UsageError("its .npy header is broken; write it again with numpy.save"); }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken();
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') broken();
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) broken();
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    broken();
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!accept(')')) {
      peek();
      std::uint64_t n = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      if (error != std::errc()) broken();
      at_ = static_cast<std::size_t>(end - text_.data());
      result.push_back(n);
      if (!accept(',') && peek() != ')') broken();
    }
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

/// NumPy's type of one component: 'f4'. Empty for custom types.
std::string numpy_type(const ElementType& type) {
  char kind = 'f';
  switch (type.scalar) {
    case ScalarType::custom:
      return "";
    case ScalarType::boolean:
      kind = 'b';
      break;
    case ScalarType::int8:
    case ScalarType::int16:
    case ScalarType::int32:
    case ScalarType::int64:
      kind = 'i';
      break;
    case ScalarType::uint8:
    case ScalarType::uint16:
    case ScalarType::uint32:
    case ScalarType::uint64:
      kind = 'u';
      break;
    case ScalarType::half:
    case ScalarType::float32:
    case ScalarType::float64:
      break;
  }
  return fmt::format("{}{}", kind, type.scalar_bytes());
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void check_type(const NpyHeader& header, const ElementType& type, bool complex_pairs) {
  const char order = header.descr.empty() ? '\0' : header.descr.front();
  if (order == '>') throw UsageError("its numbers are big-endian; store them with astype('<...')");
  const std::string given = header.descr.empty() ? "" : header.descr.substr(1);
  const std::string wanted = type.scalar == ScalarType::custom ? fmt::format("V{}", type.bytes) : numpy_type(type);
  const bool without_order = type.scalar_bytes() == 1 || type.scalar == ScalarType::custom;
  if ((order == '<' || (order == '|' && without_order)) && (given == wanted || complex_pairs)) return;
  throw UsageError(fmt::format("its numbers are of type '{}', the argument's type {} is '{}'; store them with astype",
                               header.descr, to_string(type), wanted));
}

}  // namespace

NpyHeader parse_npy_header(std::string_view content) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (!content.starts_with(magic) || content.size() < 10)
    throw UsageError("it is no .npy file; write it with numpy.save");
  const int major = static_cast<unsigned char>(content[6]);
  if (major < 1 || major > 3) {
    throw UsageError(fmt::format("its .npy format version {} is unknown; versions 1 to 3 can be read", major));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (content.size() < 8 + length_bytes) throw UsageError("it is cut off in its header; write it again");
  const std::uint64_t length = little_endian(content.substr(8, length_bytes));
  const std::size_t begin = 8 + length_bytes;
  if (length > content.size() - begin) throw UsageError("it is cut off in its header; write it again");
  NpyHeader header = HeaderParser(content.substr(begin, length)).parse();
  header.data_offset = begin + length;
  return header;
}

std::string_view npy_data(std::string_view content, const ElementType& type, std::uint64_t size) {
  const NpyHeader header = parse_npy_header(content);
  // complex64 and complex128 are pairs of float and double.
  const bool complex_pairs = type.components == 2 && !header.descr.empty() &&
                             header.descr.substr(1) == fmt::format("c{}", type.bytes) && header.descr.front() == '<';
  check_type(header, type, complex_pairs);
  if (header.fortran_order && header.shape.size() > 1) {
    throw UsageError("it is in Fortran order; store numpy.ascontiguousarray(...)");
  }
  std::uint64_t numbers = 1;
  for (const std::uint64_t n : header.shape) {
    if (__builtin_mul_overflow(numbers, n, &numbers)) throw UsageError("its shape is too large; write it again");
  }
  const std::uint64_t components = complex_pairs ? 1 : type.components;
  std::uint64_t wanted = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(size, components, &wanted) || wanted != numbers) {
    throw UsageError(
        fmt::format("its shape {} holds {} numbers, the argument {} elements of {}; change the file or Size",
                    shape_text(header.shape), numbers, size, to_string(type)));
  }
  if (__builtin_mul_overflow(size, type.bytes, &bytes) || content.size() - header.data_offset != bytes) {
    throw UsageError(fmt::format("it holds {} bytes of data instead of {}; write it again",
                                 content.size() - header.data_offset, bytes));
  }
  return content.substr(header.data_offset);
}

}  // namespace wattune
