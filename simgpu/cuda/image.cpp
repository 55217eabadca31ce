#include "cuda/image.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <sstream>
#include <string_view>

#include "hash.hpp"

namespace wattune::simgpu {

namespace {

constexpr std::string_view payload_section = ".wattune.simulated";
/// Bit of st_other that tells kernels from device functions.
constexpr unsigned char entry_bit = 0x10;
/// What the constant variables of a CUDA binary lie in.
constexpr const char* constants_section = ".nv.constant3";

std::string payload_of(const Image& image) {
  std::string text = fmt::format("hash {} {}\n", image.variant.kernel_hash, image.variant.variant_hash);
  for (const auto& define : image.variant.defines)
    text += fmt::format("define {} {:.17g}\n", define.name, define.value);
  for (const auto& kernel : image.kernels) {
    text += fmt::format("kernel {} {} {} {} {}\n", kernel.name, kernel.registers, kernel.shared_bytes,
                        kernel.local_bytes, kernel.max_threads);
  }
  for (const auto& variable : image.variables) text += fmt::format("variable {} {}\n", variable.name, variable.bytes);
  return text;
}

Image image_of(const std::string& payload) {
  Image image;
  std::istringstream lines(payload);
  std::string kind;
  while (lines >> kind) {
    if (kind == "hash") {
      lines >> image.variant.kernel_hash >> image.variant.variant_hash;
    } else if (kind == "define") {
      auto& define = image.variant.defines.emplace_back();
      lines >> define.name >> define.value;
    } else if (kind == "kernel") {
      auto& kernel = image.kernels.emplace_back();
      lines >> kernel.name >> kernel.registers >> kernel.shared_bytes >> kernel.local_bytes >> kernel.max_threads;
    } else if (kind == "variable") {
      auto& variable = image.variables.emplace_back();
      lines >> variable.name >> variable.bytes;
    }
  }
  return image;
}

/// Puts sections one after the other into an ELF file.
class ElfWriter {
 public:
  ElfWriter() { section("", SHT_NULL, {}); }
  std::uint16_t section(std::string_view name, Elf64_Word type, std::string_view data) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names_.size());
    header.sh_type = type;
    header.sh_offset = sizeof(Elf64_Ehdr) + data_.size();
    header.sh_size = data.size();
    names_ += name;
    names_ += '\0';
    data_ += data;
    data_.resize((data_.size() + 7) / 8 * 8);
    headers_.push_back(header);
    return static_cast<std::uint16_t>(headers_.size() - 1);
  }
  Elf64_Shdr& header(std::uint16_t section) { return headers_[section]; }

  std::vector<std::uint8_t> finish() {
    const std::string names = names_ + ".shstrtab" + '\0';
    const std::uint16_t names_index = section(".shstrtab", SHT_STRTAB, names);
    Elf64_Ehdr file{};
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_ident[EI_VERSION] = EV_CURRENT;
    file.e_machine = 190;  // EM_CUDA
    file.e_shoff = sizeof file + data_.size();
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = static_cast<Elf64_Half>(headers_.size());
    file.e_shstrndx = names_index;
    std::vector<std::uint8_t> bytes(sizeof file + data_.size() + headers_.size() * sizeof(Elf64_Shdr));
    std::memcpy(bytes.data(), &file, sizeof file);
    std::memcpy(bytes.data() + sizeof file, data_.data(), data_.size());
    std::memcpy(bytes.data() + file.e_shoff, headers_.data(), headers_.size() * sizeof(Elf64_Shdr));
    return bytes;
  }

 private:
  std::string names_;
  std::string data_;
  std::vector<Elf64_Shdr> headers_;
};

class Symbols {
 public:
  void add(const std::string& name, unsigned type, unsigned char other, std::uint16_t section, std::uint64_t bytes) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
    symbol.st_other = other;
    symbol.st_shndx = section;
    symbol.st_size = bytes;
    symbols_.push_back(symbol);
    strings_ += name;
    strings_ += '\0';
  }
  void write(ElfWriter& elf) const {
    const std::string_view table(reinterpret_cast<const char*>(symbols_.data()), symbols_.size() * sizeof(Elf64_Sym));
    const auto strings = elf.section(".strtab", SHT_STRTAB, strings_);
    const auto symbols = elf.section(".symtab", SHT_SYMTAB, table);
    elf.header(symbols).sh_link = strings;
    elf.header(symbols).sh_entsize = sizeof(Elf64_Sym);
  }

 private:
  std::string strings_ = std::string("\0", 1);
  std::vector<Elf64_Sym> symbols_{Elf64_Sym{}};
};

/// Reads an ELF file of which only the beginning is known.
class ElfView {
 public:
  explicit ElfView(const void* data) : bytes_(static_cast<const char*>(data)) {
    std::memcpy(&file_, bytes_, sizeof file_);
    headers_.resize(file_.e_shnum);
    std::memcpy(headers_.data(), bytes_ + file_.e_shoff, headers_.size() * sizeof(Elf64_Shdr));
  }
  [[nodiscard]] const std::vector<Elf64_Shdr>& headers() const { return headers_; }
  [[nodiscard]] std::string_view data(const Elf64_Shdr& header) const {
    return {bytes_ + header.sh_offset, header.sh_type == SHT_NOBITS ? 0 : header.sh_size};
  }
  [[nodiscard]] const char* name(const Elf64_Shdr& header) const {
    return bytes_ + headers_[file_.e_shstrndx].sh_offset + header.sh_name;
  }
  [[nodiscard]] std::string_view whole() const { return {bytes_, file_.e_shoff + file_.e_shnum * sizeof(Elf64_Shdr)}; }

 private:
  const char* bytes_;
  Elf64_Ehdr file_;
  std::vector<Elf64_Shdr> headers_;
};

bool is_elf(const void* data) {
  const auto* identity = static_cast<const unsigned char*>(data);
  return std::memcmp(identity, ELFMAG, SELFMAG) == 0 && identity[EI_CLASS] == ELFCLASS64;
}

/// A binary of NVIDIA's compilers: what its kernels need is in the headers of its sections.
Image read_real(const ElfView& elf) {
  Image image;
  image.variant.kernel_hash = image.variant.variant_hash = hash_of(elf.whole());
  std::map<std::string, std::uint64_t> shared;
  for (const auto& header : elf.headers()) {
    const std::string_view name = elf.name(header);
    if (name.starts_with(".nv.shared.")) shared[std::string(name.substr(11))] = header.sh_size;
  }
  for (const auto& table : elf.headers()) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= elf.headers().size()) continue;
    const std::string_view symbols = elf.data(table);
    const char* strings = elf.data(elf.headers()[table.sh_link]).data();
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= elf.headers().size()) continue;
      const std::string name = strings + symbol.st_name;
      const Elf64_Shdr& section = elf.headers()[symbol.st_shndx];
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && (symbol.st_other & entry_bit) != 0) {
        image.kernels.push_back({name, section.sh_info >> 24, shared[name], 0, 1024});
      } else if (type == STT_OBJECT && !name.empty()) {
        image.variables.push_back({name, symbol.st_size});
      }
    }
  }
  return image;
}

}  // namespace

std::vector<std::uint8_t> write_image(const Image& image) {
  ElfWriter elf;
  elf.section(payload_section, SHT_PROGBITS, payload_of(image));
  const auto text = elf.section(".text", SHT_PROGBITS, {});
  const auto constants = elf.section(constants_section, SHT_PROGBITS, {});
  Symbols symbols;
  for (const auto& kernel : image.kernels) symbols.add(kernel.name, STT_FUNC, entry_bit, text, 0);
  for (const auto& variable : image.variables) symbols.add(variable.name, STT_OBJECT, 0, constants, variable.bytes);
  symbols.write(elf);
  return elf.finish();
}

std::optional<Image> read_image(const void* data) {
  if (data == nullptr || !is_elf(data)) return std::nullopt;
  const ElfView elf(data);
  for (const auto& header : elf.headers()) {
    if (elf.name(header) == payload_section) return image_of(std::string(elf.data(header)));
  }
  return read_real(elf);
}

}  // namespace wattune::simgpu
