// C = alpha * A * B + beta * C in tiles: the kernel itself, in what OpenCL C and CUDA C++ have in common. gemm.cl and
// gemm.cu name the differences and include it.
//
// Layout: A holds K rows of M floats, B holds K rows of N floats, C holds N rows of M floats (in the terms of BLAS: all
// column by column, B transposed). So A and C are contiguous along m, B along n, and vectors run along these.
// M, N and K must be multiples of MWG, NWG and KWG.

#if PRECISION != 32
#error "gemm: PRECISION must be 32 (single precision)"
#endif

// The share of one thread: MWI x NWI results; of each tile of A, MWA x KWA elements to fetch; of B, NWB x KWB.
#define THREADS (MDIMC * NDIMC)
#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)
#define KDIMA (THREADS / MDIMA)
#define KDIMB (THREADS / NDIMB)
#define MWA (MWG / MDIMA)
#define NWB (NWG / NDIMB)
#define KWA (KWG / KDIMA)
#define KWB (KWG / KDIMB)

#if KWG % KWI || MWG % (MDIMC * VWM) || NWG % (NDIMC * VWN) || MWG % (MDIMA * VWM) || NWG % (NDIMB * VWN) || \
    THREADS % MDIMA || THREADS % NDIMB || KWG % KDIMA || KWG % KDIMB
#error "gemm: the tile sizes do not divide as the restrictions of problem.json ask"
#endif

// Vectors are aligned for the widest load there is, 16 bytes; eight floats take two of these.
typedef struct ALIGNED(VWM < 4 ? 4 * VWM : 16) {
  float s[VWM];
} VectorM;
typedef struct ALIGNED(VWN < 4 ? 4 * VWN : 16) {
  float s[VWN];
} VectorN;

// The i-th vector of thread `id` out of `ids`, where each has `count`: a block of neighbours, or every ids-th (strided).
#define BLOCKED(i, id, ids, count) ((id) * (count) + (i))
#define STRIDED(i, id, ids, count) ((i) * (ids) + (id))
#if STRM
#define PLACE_M STRIDED
#else
#define PLACE_M BLOCKED
#endif
#if STRN
#define PLACE_N STRIDED
#else
#define PLACE_N BLOCKED
#endif

KERNEL void gemm(const int M, const int N, const int K, const float alpha, const float beta,
                 GLOBAL const VectorM* RESTRICT A, GLOBAL const VectorN* RESTRICT B, GLOBAL VectorM* RESTRICT C) {
#if SA
  LOCAL VectorM a_tile[KWG][MWG / VWM];
#endif
#if SB
  LOCAL VectorN b_tile[KWG][NWG / VWN];
#endif
  const int thread_m = LOCAL_X;
  const int thread_n = LOCAL_Y;
  const int row_a = M / VWM;  // vectors in a row of A, and of C
  const int row_b = N / VWN;
#if SA || SB
  const int thread = thread_n * MDIMC + thread_m;
#endif

  // Pointers move along with the tiles, so that offsets within one stay small: matrices may exceed 2^31 elements.
  A += GROUP_X * (MWG / VWM);
  B += GROUP_Y * (NWG / VWN);

  float sum[NWI][MWI];
#pragma unroll
  for (int n = 0; n < NWI; ++n) {
#pragma unroll
    for (int m = 0; m < MWI; ++m) {
      sum[n][m] = 0.0f;
    }
  }

  for (int k_tile = 0; k_tile < K; k_tile += KWG) {
#if SA
#pragma unroll
    for (int i = 0; i < KWA; ++i) {
      const int k = i * KDIMA + thread / MDIMA;
#pragma unroll
      for (int j = 0; j < MWA / VWM; ++j) {
        const int m = PLACE_M(j, thread % MDIMA, MDIMA, MWA / VWM);
        a_tile[k][m] = A[k * row_a + m];
      }
    }
#endif
#if SB
#pragma unroll
    for (int i = 0; i < KWB; ++i) {
      const int k = i * KDIMB + thread / NDIMB;
#pragma unroll
      for (int j = 0; j < NWB / VWN; ++j) {
        const int n = PLACE_N(j, thread % NDIMB, NDIMB, NWB / VWN);
        b_tile[k][n] = B[k * row_b + n];
      }
    }
#endif
#if SA || SB
    BARRIER;
#endif

#pragma unroll 1
    for (int k_step = 0; k_step < KWG; k_step += KWI) {
#pragma unroll
      for (int i = 0; i < KWI; ++i) {
        const int k = k_step + i;
        VectorM a[MWI / VWM];
        VectorN b[NWI / VWN];
#pragma unroll
        for (int j = 0; j < MWI / VWM; ++j) {
          const int m = PLACE_M(j, thread_m, MDIMC, MWI / VWM);
#if SA
          a[j] = a_tile[k][m];
#else
          a[j] = A[k * row_a + m];
#endif
        }
#pragma unroll
        for (int j = 0; j < NWI / VWN; ++j) {
          const int n = PLACE_N(j, thread_n, NDIMC, NWI / VWN);
#if SB
          b[j] = b_tile[k][n];
#else
          b[j] = B[k * row_b + n];
#endif
        }
#pragma unroll
        for (int n = 0; n < NWI; ++n) {
#pragma unroll
          for (int m = 0; m < MWI; ++m) {
            sum[n][m] += a[m / VWM].s[m % VWM] * b[n / VWN].s[n % VWN];
          }
        }
      }
    }
#if SA || SB
    BARRIER;
#endif
    A += KWG * (OFFSET)row_a;
    B += KWG * (OFFSET)row_b;
  }

  C += GROUP_Y * (OFFSET)NWG * row_a + GROUP_X * (MWG / VWM);
#pragma unroll
  for (int n = 0; n < NWI; ++n) {
    const int row = PLACE_N(n / VWN, thread_n, NDIMC, NWI / VWN) * VWN + n % VWN;
#pragma unroll
    for (int j = 0; j < MWI / VWM; ++j) {
      const int m = PLACE_M(j, thread_m, MDIMC, MWI / VWM);
      VectorM c = C[row * row_a + m];
#pragma unroll
      for (int i = 0; i < VWM; ++i) {
        c.s[i] = alpha * sum[n][j * VWM + i] + beta * c.s[i];
      }
      C[row * row_a + m] = c;
    }
  }
}
