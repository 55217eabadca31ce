#include "backend/opencl/opencl_binary.hpp"

#include <algorithm>
#include <string_view>

namespace wattune::opencl {

namespace {

constexpr std::string_view magic = "wattune-opencl-1\n";

}  // namespace

std::vector<std::uint8_t> pack(const ProgramBinary& binary) {
  const std::string head = std::string(magic) + binary.options + '\n';
  std::vector<std::uint8_t> bytes(head.size() + binary.program.size());
  std::copy(binary.program.begin(), binary.program.end(), std::copy(head.begin(), head.end(), bytes.begin()));
  return bytes;
}

std::optional<ProgramBinary> unpack(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < magic.size() || !std::equal(magic.begin(), magic.end(), bytes.begin())) return std::nullopt;
  const auto rest = bytes.subspan(magic.size());
  const auto end = std::find(rest.begin(), rest.end(), static_cast<std::uint8_t>('\n'));
  if (end == rest.end()) return std::nullopt;
  return ProgramBinary{{rest.begin(), end}, {end + 1, rest.end()}};
}

}  // namespace wattune::opencl
