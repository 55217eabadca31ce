// A constant symbol that the host fills, and scalars of several sizes, so that a wrong offset of one spoils the rest.

__constant__ float weights[8];

__global__ void weigh(int n, signed char shift, long long start, float scale, short step, double offset,
                      unsigned char invert, const int* in, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const long long place = (start + (long long)i * step) % 8;
    const double value = (double)(scale * weights[place]) * (in[i] + shift) + offset;
    out[i] = (float)(invert ? -value : value);
  }
}
