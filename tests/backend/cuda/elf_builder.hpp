#pragma once
// Small CUDA binaries: ELF files with a symbol table and nothing in it that runs.

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace wattune {

class ElfBuilder {
 public:
  ElfBuilder& kernel(const std::string& name) { return add(name, STT_FUNC, 0x10, text_); }
  ElfBuilder& device_function(const std::string& name) { return add(name, STT_FUNC, 0, text_); }
  ElfBuilder& constant(const std::string& name) { return add(name, STT_OBJECT, 0, constant_); }
  ElfBuilder& variable(const std::string& name) { return add(name, STT_OBJECT, 0, global_); }
  ElfBuilder& parameters(const std::string& name) { return add(name, STT_OBJECT, 0, constant0_); }

  [[nodiscard]] std::vector<std::uint8_t> build() const {
    std::string section_names("\0", 1);
    std::vector<Elf64_Shdr> sections(8);
    const char* names[] = {"",        ".shstrtab",     ".strtab",         ".symtab",
                           ".text.k", ".nv.constant3", ".nv.global.init", ".nv.constant0.k"};
    for (std::size_t i = 1; i < sections.size(); ++i) {
      sections[i].sh_name = static_cast<Elf64_Word>(section_names.size());
      section_names += names[i];
      section_names += '\0';
    }
    std::vector<std::uint8_t> file(sizeof(Elf64_Ehdr));
    auto append = [&](Elf64_Shdr& section, Elf64_Word type, const void* data, std::size_t bytes) {
      section.sh_type = type;
      section.sh_offset = file.size();
      section.sh_size = bytes;
      const auto* begin = static_cast<const std::uint8_t*>(data);
      file.insert(file.end(), begin, begin + bytes);
    };
    append(sections[1], SHT_STRTAB, section_names.data(), section_names.size());
    append(sections[2], SHT_STRTAB, strings_.data(), strings_.size());
    append(sections[3], SHT_SYMTAB, symbols_.data(), symbols_.size() * sizeof(Elf64_Sym));
    sections[3].sh_link = 2;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shoff = file.size();
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shstrndx = 1;
    std::memcpy(file.data(), &header, sizeof header);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(sections.data());
    file.insert(file.end(), begin, begin + sections.size() * sizeof(Elf64_Shdr));
    return file;
  }

 private:
  static constexpr Elf64_Section text_ = 4, constant_ = 5, global_ = 6, constant0_ = 7;

  ElfBuilder& add(const std::string& name, unsigned type, unsigned char other, Elf64_Section section) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
    symbol.st_other = other;
    symbol.st_shndx = section;
    symbols_.push_back(symbol);
    strings_ += name;
    strings_ += '\0';
    return *this;
  }

  std::string strings_ = std::string("\0", 1);
  std::vector<Elf64_Sym> symbols_{Elf64_Sym{}};
};

}  // namespace wattune
