// TILE elements a thread.
extern "C" __global__ __launch_bounds__(block_size_x) void scale(float* y, const float* x, int n) {
  const int first = (blockIdx.x * block_size_x + threadIdx.x) * TILE;
  float values[TILE];
  for (int i = 0; i < TILE; ++i) values[i] = first + i < n ? x[first + i] : 0.0f;
  for (int i = 0; i < TILE; ++i) {
    for (int step = 0; step < 32; ++step) values[i] = values[i] * 1.5f + 0.25f;
    if (first + i < n) y[first + i] = values[i];
  }
}
