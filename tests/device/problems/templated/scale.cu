// A kernel template in a namespace: its instance is named by the problem file, and its name in the binary is mangled.

namespace physics {

template <typename Real, int items>
__global__ void scale(int n, Real factor, const Real* in, Real* out) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * items;
#pragma unroll
  for (int i = first; i < first + items; ++i) {
    if (i < n) out[i] = factor * in[i];
  }
}

template <typename Real>
__global__ void scale_reference(int n, Real factor, const Real* in, Real* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = factor * in[i];
}

}  // namespace physics
