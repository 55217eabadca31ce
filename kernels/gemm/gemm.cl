// Matrix product, OpenCL C 1.2: see README.md for what the parameters mean.

#define KERNEL __kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))
#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define OFFSET size_t
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define LOCAL_X get_local_id(0)
#define LOCAL_Y get_local_id(1)
#define GROUP_X get_group_id(0)
#define GROUP_Y get_group_id(1)

#include "gemm_tiles.h"
