// y += a * x; each thread does TILE elements.
extern "C" __global__ void axpy(float* y, const float* x, float a, int n) {
  for (int k = 0; k < TILE; ++k) {
    const int i = (blockIdx.x * TILE + k) * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
  }
}
