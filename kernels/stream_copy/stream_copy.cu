// Copies memory, CUDA C++ (NVRTC and nvcc): see README.md.

#if VECTOR == 4
typedef float4 element;
#elif VECTOR == 2
typedef float2 element;
#else
typedef float element;
#endif

extern "C" __global__ void stream_copy(const int count, const float* __restrict__ from, float* __restrict__ to) {
  const element* source = reinterpret_cast<const element*>(from);
  element* target = reinterpret_cast<element*>(to);
  const int elements = count / VECTOR;
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int threads = static_cast<int>(gridDim.x * blockDim.x);

#pragma unroll 1
  for (int first = thread; first < elements; first += threads * ITEMS) {
    element held[ITEMS];
    // All loads of a turn are under way before the first store waits for one.
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      if (first + i * threads < elements) {
        held[i] = source[first + i * threads];
      }
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      if (first + i * threads < elements) {
        target[first + i * threads] = held[i];
      }
    }
  }
}
