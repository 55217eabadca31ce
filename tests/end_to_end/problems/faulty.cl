#include "faulty.h"

// y[i] = SCALE * x[i], and in how many ways that can go wrong.
__kernel void scale(__global float* y, __global const float* x, const int n) {
  const int i = (int)get_global_id(0);
#if FAULT == 1
  if (i < n) y[i] = SCALE * x[i] + 1.0f;
#elif FAULT == 2
  if (i < n) y[i] = SCALE * x[i];
  if (i == 0) y[n] = 1.0f;
#elif FAULT == 3
#error this variant does not compile
#elif FAULT == 4
  if (i < n) y[i] = SCALE * x[i];
  *(volatile __global float*)0 = 1.0f;
#elif FAULT == 5
  volatile __global float* v = y;
  while (v[0] != 12345.0f) {
  }
#elif FAULT == 7
#pragma clang __debug crash
#elif FAULT == 8
#include "faulty_endless.h"
#elif FAULT == 6
  if (i < n && i != 7) y[i] = SCALE * x[i];
#else
  if (i < n) y[i] = SCALE * x[i];
#endif
}
