// y[i] = 3 x[i], and in how many ways that can go wrong on a GPU. Every fault is harmless to the card: it ends with the
// process at the latest, and the endless loop by its own clock.
extern "C" __global__ void scale(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT == 1
  if (i < n) y[i] = 3.0f * x[i] + 1.0f;
#elif FAULT == 2
  if (i < n) y[i] = 3.0f * x[i];
  if (i == 0) y[n] = 1.0f;
#elif FAULT == 3
#error this variant does not compile
#elif FAULT == 4
  if (i < n) y[i] = 3.0f * x[i];
  *(volatile float*)16 = 1.0f;
#elif FAULT == 5
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < 20000000000ull);
  if (i < n) y[i] = 3.0f * x[i];
#elif FAULT == 6
  if (i < n && i != 7) y[i] = 3.0f * x[i];
#elif FAULT == 7
  if (i < n) y[i] = 3.0f * x[i];
  __trap();
#else
  if (i < n) y[i] = 3.0f * x[i];
#endif
}
