#include "kernels/stream_copy/reference.hpp"

#include <algorithm>

namespace wattune {

void stream_copy_reference(int count, const float* from, float* to) {
  std::copy_n(from, count, to);
}

}  // namespace wattune
