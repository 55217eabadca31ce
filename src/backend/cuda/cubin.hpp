#pragma once
// The kernels and variables in a CUDA binary (an ELF file), by their names in the source.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace wattune {

struct CubinSymbols {
  std::vector<std::string> kernels;    ///< mangled
  std::vector<std::string> variables;  ///< mangled; __constant__ and __device__
};

/// Reads the symbol table. Error: what is wrong with the binary.
tl::expected<CubinSymbols, std::string> read_cubin(std::span<const std::uint8_t> binary);

/// The name of a kernel or variable as a source would write it: "ns::gemm<16, float>" for
/// _ZN2ns4gemmILi16EfEEvPT0_i; unnamed namespaces are left out.
std::string source_name(const std::string& mangled);

/// The kernel that a plain name ("gemm", "ns::gemm", or a mangled name) means. Template arguments and namespaces may
/// be left out where one kernel only is meant. Error: a line that lists the kernels there are.
tl::expected<std::string, std::string> find_kernel(const CubinSymbols& symbols, std::string_view name);

/// Lines of source that instantiate a kernel template and leave a mark by which find_instantiated_kernel() finds its
/// name whatever way its arguments are written.
std::string instantiation(std::string_view expression);
tl::expected<std::string, std::string> find_instantiated_kernel(const CubinSymbols& symbols,
                                                                std::string_view expression);

/// Variables by source name; also by the last part of it ("weights" for "ns::weights") where that is unique.
std::map<std::string, std::string> variable_names(const CubinSymbols& symbols);

}  // namespace wattune
