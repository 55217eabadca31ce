// Each block reverses a chunk of 25,600 floats in 102,400 bytes of dynamic shared memory: more than the 48 KB that a
// launch may have without asking for it.

#define CHUNK 25600

extern __shared__ float chunk[];

extern "C" __global__ void reverse(const float* in, float* out) {
  in += blockIdx.x * CHUNK;
  out += blockIdx.x * CHUNK;
  for (int i = threadIdx.x; i < CHUNK; i += blockDim.x) chunk[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < CHUNK; i += blockDim.x) out[i] = chunk[CHUNK - 1 - i];
}

extern "C" __global__ void reverse_reference(const float* in, float* out) {
  in += blockIdx.x * CHUNK;
  out += blockIdx.x * CHUNK;
  for (int i = threadIdx.x; i < CHUNK; i += blockDim.x) out[i] = in[CHUNK - 1 - i];
}
