// The smallest program that uses the installed library: it builds a search space and prints its size.
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "space/search_space.hpp"

namespace {

wattune::Parameter parameter(std::string name, const std::vector<std::int64_t>& values) {
  wattune::Parameter parameter{std::move(name), {}};
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  return parameter;
}

}  // namespace

int main() {
  const auto space =
      wattune::SearchSpace::build({parameter("block_size_x", {16, 32, 64, 128}), parameter("tile", {1, 2, 4})},
                                  {wattune::Restriction{"32 <= block_size_x * tile <= 128", "space_size.cpp"}});
  std::printf("%s of %s configurations are valid\n", wattune::to_string(space.size()).c_str(),
              wattune::to_string(space.cartesian()).c_str());
}
