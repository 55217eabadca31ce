// Chains of dependent fused multiply-adds, CUDA C++ (NVRTC and nvcc): see README.md.

// Chain i is the same as chain i + DISTINCT, so that a host can check all of them.
#define DISTINCT 256

extern "C" __global__ void fma_chain(const int chains, const int length, const float c, float* __restrict__ result) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int threads = static_cast<int>(gridDim.x * blockDim.x);

#pragma unroll 1
  for (int first = thread; first < chains; first += threads * CHAINS) {
    float x[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
      x[i] = 0.25f + static_cast<float>((first + i * threads) % DISTINCT) * (0.5f / DISTINCT);
    }
#pragma unroll 1
    for (int step = 0; step < length; step += UNROLL) {
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
#pragma unroll
        for (int i = 0; i < CHAINS; ++i) {
          x[i] = fmaf(x[i], x[i], -c);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
      const int chain = first + i * threads;
      if (chain < chains) {
        result[chain] = x[i];
      }
    }
  }
}
