// Chains of dependent fused multiply-adds, OpenCL C 1.2: see README.md.

// Chain i is the same as chain i + DISTINCT, so that a host can check all of them.
#define DISTINCT 256

__kernel void fma_chain(const int chains, const int length, const float c, __global float* restrict result) {
  const int thread = (int)get_global_id(0);
  const int threads = (int)get_global_size(0);

#pragma unroll 1
  for (int first = thread; first < chains; first += threads * CHAINS) {
    float x[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
      x[i] = 0.25f + (float)((first + i * threads) % DISTINCT) * (0.5f / DISTINCT);
    }
#pragma unroll 1
    for (int step = 0; step < length; step += UNROLL) {
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
#pragma unroll
        for (int i = 0; i < CHAINS; ++i) {
          x[i] = fma(x[i], x[i], -c);
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
