#pragma once
// What the driver's error codes mean for a configuration.

#include <string_view>

#include "driver/cuda_driver.hpp"
#include "result/outcome.hpp"

namespace wattune {

/// The failure of a configuration for which a driver call failed. crash and lost_device mean that the context cannot be
/// used any more. @param doing for the message: "launching kernel 'gemm'".
Failure cuda_failure(const CudaDriver& driver, CudaResult result, std::string_view doing);

/// Whether an outcome leaves the context unusable.
bool poisons(Outcome outcome) noexcept;

/// For calls whose failure is no configuration's fault. @throws DeviceError "cannot <doing>: <error>".
void require(const CudaDriver& driver, CudaResult result, std::string_view doing);

}  // namespace wattune
