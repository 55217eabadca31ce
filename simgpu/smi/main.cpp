// The voltage read-out of simulated GPUs, as "nvidia-smi -q -d VOLTAGE [-i UUID or index]" prints that of real ones.
// Reads the machine that WATTUNE_SIM_STATE names.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cuda/objects.hpp"
#include "machine/machine.hpp"

namespace {

using namespace wattune::simgpu;

std::string uuid_of(std::uint32_t board) {
  std::string text = "GPU";
  const auto bytes = board_uuid(board);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

void print_board(std::uint32_t board) {
  Machine& machine = Machine::instance();
  const PciId id = board_pci(board);
  const double volts = machine.with_board(board, [](Board& physics, const BoardSlot&) { return physics.voltage(); });
  // Boards without a read-out say so in the number's place.
  const std::string value =
      machine.description(board).has_voltage_readout ? fmt::format("{:.3f} mV", 1e3 * volts) : "N/A";
  fmt::print("GPU {:08X}:{:02X}:{:02X}.0\n    Voltage\n        {:<34}: {}\n\n", id.domain, id.bus, id.device,
             "Graphics", value);
}

int run(const std::vector<std::string>& arguments) {
  std::string wanted;
  bool query = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "-q") {
      query = true;
    } else if (arguments[i] == "-i" && has_value) {
      wanted = arguments[++i];
    } else if (!(arguments[i] == "-d" && has_value && arguments[++i] == "VOLTAGE")) {
      query = false;
      break;
    }
  }
  if (!query) {
    fmt::print(stderr, "usage: wattune-simulated-smi -q -d VOLTAGE [-i UUID or index]\n");
    return 2;
  }
  Machine& machine = Machine::instance();
  std::vector<std::uint32_t> boards;
  for (std::uint32_t board = 0; board < machine.board_count(); ++board) {
    const bool meant = wanted.empty() || wanted == std::to_string(board) || wanted == uuid_of(board);
    if (meant && !machine.lost(board)) boards.push_back(board);
  }
  if (boards.empty()) {
    fmt::print(stderr, "No devices were found\n");
    return 6;
  }
  fmt::print("\n==============NVSMI LOG==============\n\n{:<42}: simulated\n{:<42}: {}\n", "Driver Version",
             "Attached GPUs", machine.board_count());
  for (const auto board : boards) print_board(board);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "wattune-simulated-smi: {}\n", error.what());
    return 3;
  }
}
