#include "backend/cuda/cubin.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

namespace wattune {

namespace {

/// The namespace of the kernel that instantiation() adds.
constexpr std::string_view mark = "wattune_instantiation";
/// Bit of st_other that tells kernels from device functions.
constexpr unsigned char entry_bit = 0x10;

std::string demangle(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : mangled;
}

/// Reads structures out of the file without trusting any offset in it.
class ElfReader {
 public:
  explicit ElfReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename Structure>
  std::optional<Structure> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Structure)) return std::nullopt;
    Structure value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// The text at `offset` of a string table; empty where it lies outside.
  std::string_view text(const Elf64_Shdr& table, std::uint64_t offset) const {
    if (table.sh_offset > bytes_.size() || table.sh_size > bytes_.size() - table.sh_offset || offset >= table.sh_size) {
      return {};
    }
    const char* begin = reinterpret_cast<const char*>(bytes_.data() + table.sh_offset + offset);
    const std::size_t room = static_cast<std::size_t>(table.sh_size - offset);
    return {begin, ::strnlen(begin, room)};
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct Sections {
  std::vector<Elf64_Shdr> headers;
  std::vector<std::string_view> names;
};

tl::expected<Sections, std::string> read_sections(const ElfReader& reader) {
  const auto header = reader.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) {
    return tl::unexpected(std::string("it is no 64-bit ELF file"));
  }
  Sections sections;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = reader.at<Elf64_Shdr>(header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (!section) return tl::unexpected(std::string("its section table is cut short"));
    sections.headers.push_back(*section);
  }
  if (header->e_shstrndx >= sections.headers.size()) return tl::unexpected(std::string("it has no section names"));
  for (const auto& section : sections.headers) {
    sections.names.push_back(reader.text(sections.headers[header->e_shstrndx], section.sh_name));
  }
  return sections;
}

bool holds_variables(std::string_view section) {
  return section.starts_with(".nv.constant3") || section.starts_with(".nv.global");
}

/// The part of a demangled name before its parameter list, without the return type of a template.
std::string without_signature(std::string text) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = text.find(unnamed)) != std::string::npos;) text.erase(at, unnamed.size());
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] == '(' && depth == 0) {
      text.erase(i);
      break;
    }
  }
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

/// Removes the component that nvcc puts before names with internal linkage: _INTERNAL_<hash>_<file>_<hash>::
std::string without_internal_part(std::string text) {
  const std::size_t at = text.find("_INTERNAL_");
  const std::size_t end = at == std::string::npos ? at : text.find("::", at);
  if (end != std::string::npos) text.erase(at, end + 2 - at);
  return text;
}

std::string without_template_arguments(const std::string& name) {
  return name.substr(0, name.find('<'));
}

/// The part after the last "::" outside template arguments.
std::string last_part(const std::string& name) {
  const std::size_t at = without_template_arguments(name).rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

std::vector<std::string> own_kernels(const CubinSymbols& symbols) {
  std::vector<std::string> result;
  for (const auto& kernel : symbols.kernels) {
    if (kernel.find(mark) == std::string::npos) result.push_back(kernel);
  }
  return result;
}

std::string no_such_kernel(const CubinSymbols& symbols, std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const auto& kernel : own_kernels(symbols)) names.push_back(source_name(kernel));
  return fmt::format(
      "{} kernel '{}' in the source; {}", what, name,
      names.empty() ? "it holds no __global__ function" : fmt::format("it holds: {}", fmt::join(names, ", ")));
}

}  // namespace

tl::expected<CubinSymbols, std::string> read_cubin(std::span<const std::uint8_t> binary) {
  const ElfReader reader(binary);
  const auto sections = read_sections(reader);
  if (!sections) return tl::unexpected(sections.error());
  CubinSymbols result;
  for (const auto& table : sections->headers) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections->headers.size()) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      if (table.sh_offset > binary.size()) break;
      const auto symbol = reader.at<Elf64_Sym>(table.sh_offset + at);
      if (!symbol) return tl::unexpected(std::string("its symbol table is cut short"));
      const std::string_view name = reader.text(sections->headers[table.sh_link], symbol->st_name);
      if (name.empty() || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= sections->names.size()) continue;
      const int type = ELF64_ST_TYPE(symbol->st_info);
      if (type == STT_FUNC && (symbol->st_other & entry_bit) != 0) result.kernels.emplace_back(name);
      // String literals and the compiler's own variables begin with $ or a dot.
      if (type == STT_OBJECT && holds_variables(sections->names[symbol->st_shndx]) && name[0] != '$' &&
          name[0] != '.') {
        result.variables.emplace_back(name);
      }
    }
  }
  return result;
}

std::string source_name(const std::string& mangled) {
  return without_internal_part(without_signature(demangle(mangled)));
}

tl::expected<std::string, std::string> find_kernel(const CubinSymbols& symbols, std::string_view name) {
  const std::string wanted(name.starts_with("::") ? name.substr(2) : name);
  using Rule = std::function<bool(const std::string& mangled, const std::string& full)>;
  const Rule rules[] = {
      [&](const auto& mangled, const auto&) { return mangled == wanted; },
      [&](const auto&, const auto& full) { return full == wanted; },
      [&](const auto&, const auto& full) { return without_template_arguments(full) == wanted; },
      [&](const auto&, const auto& full) { return last_part(full) == wanted; },
      [&](const auto&, const auto& full) { return without_template_arguments(last_part(full)) == wanted; },
  };
  for (const auto& rule : rules) {
    std::vector<std::string> found;
    for (const auto& kernel : own_kernels(symbols)) {
      if (rule(kernel, source_name(kernel))) found.push_back(kernel);
    }
    if (found.size() == 1) return found.front();
    if (found.size() > 1) return tl::unexpected(no_such_kernel(symbols, name, "there is more than one"));
  }
  return tl::unexpected(no_such_kernel(symbols, name, "there is no"));
}

std::string instantiation(std::string_view expression) {
  return fmt::format(
      "\nnamespace {0} {{\ntemplate <typename F, F f> __global__ void mark() {{}}\n"
      "auto* use = &mark<decltype(&{1}), &{1}>;\n}}\n",
      mark, expression);
}

tl::expected<std::string, std::string> find_instantiated_kernel(const CubinSymbols& symbols,
                                                                std::string_view expression) {
  for (const auto& marked : symbols.kernels) {
    if (marked.find(mark) == std::string::npos) continue;
    const std::string text = demangle(marked);
    for (const auto& kernel : own_kernels(symbols)) {
      if (text.find(fmt::format("&({})", demangle(kernel))) != std::string::npos) return kernel;
    }
  }
  return tl::unexpected(no_such_kernel(symbols, expression, "there is no"));
}

std::map<std::string, std::string> variable_names(const CubinSymbols& symbols) {
  std::map<std::string, std::string> names;
  std::map<std::string, int> short_names;
  for (const auto& variable : symbols.variables) {
    const std::string name = source_name(variable);
    names[name] = variable;
    ++short_names[last_part(name)];
  }
  for (const auto& variable : symbols.variables) {
    const std::string name = last_part(source_name(variable));
    if (short_names[name] == 1) names.emplace(name, variable);
  }
  return names;
}

}  // namespace wattune
