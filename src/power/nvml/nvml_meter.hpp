#pragma once
// The meter of an NVIDIA board, read through NVML.

#include <memory>
#include <string>

#include "driver/nvml.hpp"
#include "power/meter.hpp"

namespace wattune {

/// Opens the meter of a board. It is found by UUID, else by PCI bus id, never by index, for CUDA and NVML number boards
/// differently.
/// @param uuid "GPU-..."; may be empty. @param pci "0000:65:00.0"; may be empty.
/// @param why_not set, to one line, where the result is null: no NVML, no such board, neither energy nor power, or an
/// instance of a divided (MIG) board, for which NVML tells only the whole board's power. May be null.
/// @param library path of NVML; empty: as load_nvml().
std::unique_ptr<PowerMeter> open_nvml_meter(const std::string& uuid, const std::string& pci, std::string* why_not,
                                            const std::string& library = {});

/// Names for the bits of NVML's clock event reasons that hold a clock back; each name once.
std::vector<std::string> throttle_reason_names(unsigned long long bits);

}  // namespace wattune
