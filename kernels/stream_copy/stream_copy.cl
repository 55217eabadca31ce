// Copies memory, OpenCL C 1.2: see README.md.

#if VECTOR == 4
typedef float4 element;
#elif VECTOR == 2
typedef float2 element;
#else
typedef float element;
#endif

__kernel void stream_copy(const int count, __global const float* restrict from, __global float* restrict to) {
  __global const element* source = (__global const element*)from;
  __global element* target = (__global element*)to;
  const int elements = count / VECTOR;
  const int thread = (int)get_global_id(0);
  const int threads = (int)get_global_size(0);

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
