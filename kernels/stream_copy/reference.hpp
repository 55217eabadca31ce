#pragma once
// The copy of stream_copy.cl and stream_copy.cu, on the host.

namespace wattune {

/// to[i] = from[i], 0 <= i < count.
void stream_copy_reference(int count, const float* from, float* to);

}  // namespace wattune
