// A whole program around a kernel, as users have them: NVRTC refuses its headers, nvcc -cubin compiles it.
#include <cmath>
#include <cstdint>
#include <cstdio>

#ifndef block_size_x
#define block_size_x 256
#endif
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void axpy(std::uint32_t n, float a, const float* x, float* y) {
  const std::uint32_t first = blockIdx.x * block_size_x * ITEMS + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const std::uint32_t i = first + item * block_size_x;
    if (i < n) y[i] = std::fma(a, x[i], y[i]);
  }
}

__global__ void axpy_reference(std::uint32_t n, float a, const float* x, float* y) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = std::fma(a, x[i], y[i]);
  }
}

static void report(float first) { std::printf("y[0] = %g\n", std::sqrt(first * first)); }

int main() {
  constexpr std::uint32_t n = 1 << 20;
  float* x = nullptr;
  float* y = nullptr;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (std::uint32_t i = 0; i < n; ++i) {
    x[i] = 1.0f;
    y[i] = 2.0f;
  }
  axpy<<<(n + block_size_x * ITEMS - 1) / (block_size_x * ITEMS), block_size_x>>>(n, 3.0f, x, y);
  cudaDeviceSynchronize();
  report(y[0]);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
