#include "kernels/fma_chain/reference.hpp"

#include <algorithm>
#include <cmath>

namespace wattune {

void fma_chain_reference(int chains, int length, float c, float* result) {
  constexpr int distinct = 256;  // chain i is the same as chain i + 256
  for (int i = 0; i < std::min(chains, distinct); ++i) {
    float x = 0.25F + static_cast<float>(i) * (0.5F / distinct);
    for (int step = 0; step < length; ++step) {
      x = std::fma(x, x, -c);
    }
    result[i] = x;
  }
  for (int i = distinct; i < chains; ++i) {
    result[i] = result[i - distinct];
  }
}

}  // namespace wattune
