#pragma once
// The chains of fma_chain.cl and fma_chain.cu, on the host.

namespace wattune {

/// result[i], 0 <= i < chains: where x -> x * x - c ends after `length` steps from the start of chain i. Every step is
/// rounded once, so the results are those of a device to the last bit.
void fma_chain_reference(int chains, int length, float c, float* result);

}  // namespace wattune
