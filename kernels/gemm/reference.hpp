#pragma once
// The matrix product of gemm.cl and gemm.cu, on the host.

namespace wattune {

/// C = alpha * A * B + beta * C. A[k * M + m], B[k * N + n], C[n * M + m]; all sizes positive, any value.
/// Sums run over blocks of K in float and from block to block in double. Uses every core this process may use.
void gemm_reference(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C);

}  // namespace wattune
