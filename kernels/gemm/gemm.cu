// Matrix product, CUDA C++ (NVRTC and nvcc): see README.md for what the parameters mean.

#define KERNEL extern "C" __global__ __launch_bounds__(MDIMC * NDIMC)
#define GLOBAL
#define LOCAL __shared__
#define RESTRICT __restrict__
#define ALIGNED(bytes) __align__(bytes)
#define OFFSET long long
#define BARRIER __syncthreads()
#define LOCAL_X threadIdx.x
#define LOCAL_Y threadIdx.y
#define GROUP_X blockIdx.x
#define GROUP_Y blockIdx.y

#include "gemm_tiles.h"
