#pragma once
// The voltage of a GPU's core, which NVML does not tell, and nvidia-smi does on some boards.

#include <optional>
#include <string>
#include <string_view>

namespace wattune {

/// V from what "nvidia-smi -q -d VOLTAGE -i GPU" prints ("Graphics : 712.500 mV"), or from a number with its unit, mV
/// or V, alone. Nothing where the board has none ("N/A").
/// @throws UsageError saying in one line why it is neither, or that it is of several boards.
std::optional<double> parse_voltage(std::string_view text);

/// The command that tells a board's voltage: of nvidia-smi where it is installed, of the simulated one beside this
/// program for simulated boards. Empty where there is none. {uuid} stands for the board.
std::string default_voltage_command(bool simulated);

}  // namespace wattune
