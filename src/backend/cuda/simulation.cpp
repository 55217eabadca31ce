#include "backend/cuda/simulation.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/subprocess.hpp"

namespace wattune {

namespace {

constexpr const char* library_name = "libwattune_simgpu.so";

class SimulatedClock final : public Clock {
 public:
  SimulatedClock(double (*now)(unsigned), void (*sleep_until)(unsigned, double), unsigned board)
      : now_(now), sleep_until_(sleep_until), board_(board) {}
  double now() override { return now_(board_); }
  void sleep_until(double seconds) override { sleep_until_(board_, seconds); }

 private:
  double (*now_)(unsigned);
  void (*sleep_until_)(unsigned, double);
  unsigned board_;
};

}  // namespace

std::string simulation_library() {
  if (const std::string named = environment("WATTUNE_SIMGPU"); !named.empty()) return named;
  namespace fs = std::filesystem;
  const fs::path program = fs::path(own_executable()).parent_path();
  std::string places;
  for (const char* folder : {"../lib/wattune", "../lib64/wattune"}) {
    const fs::path candidate = (program / folder / library_name).lexically_normal();
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return candidate.string();
    places += fmt::format("{}{}", places.empty() ? "" : ", ", candidate.string());
  }
  throw DeviceError(
      fmt::format("cannot use simulated GPUs: their library was not found as {}; name it in WATTUNE_SIMGPU", places));
}

Simulation::Simulation(SharedLibrary library) : library_(std::move(library)) {
  library_.required(check_, "wattune_sim_check");
  library_.required(board_name_, "wattune_sim_board_name");
  library_.required(board_of_, "wattune_sim_board_of");
  library_.required(workload_, "wattune_sim_workload");
  library_.required(now_, "wattune_sim_now");
  library_.required(sleep_until_, "wattune_sim_sleep_until");
  char message[1024] = "";
  if (check_(message, sizeof message) != 0) throw UsageError(message);
}

std::shared_ptr<const Simulation> Simulation::load() {
  const std::string path = simulation_library();
  std::string why_not;
  auto library = SharedLibrary::open(path, why_not);
  if (!library) throw DeviceError(fmt::format("cannot use simulated GPUs: '{}' cannot be loaded: {}", path, why_not));
  auto simulation = of(*library);
  if (!simulation) throw DeviceError(fmt::format("cannot use simulated GPUs: '{}' is no library of them", path));
  return simulation;
}

std::shared_ptr<const Simulation> Simulation::of(const SharedLibrary& library) {
  if (library.symbol("wattune_sim_check") == nullptr) return nullptr;
  return std::shared_ptr<const Simulation>(new Simulation(library));
}

std::vector<std::string> Simulation::board_names() const {
  std::vector<std::string> names;
  char name[128] = "";
  for (unsigned board = 0; board_name_(board, name, sizeof name) == 0; ++board) names.emplace_back(name);
  return names;
}

unsigned Simulation::board_of(int cuda_ordinal) const {
  const int board = board_of_(cuda_ordinal);
  if (board < 0) throw DeviceError(fmt::format("there is no simulated GPU {} any more", cuda_ordinal));
  return static_cast<unsigned>(board);
}

std::string Simulation::board_name(unsigned board) const {
  char name[128] = "";
  return board_name_(board, name, sizeof name) == 0 ? name : "";
}

void Simulation::expect(double flop, double bytes) const {
  workload_(flop, bytes);
}

std::unique_ptr<Clock> Simulation::clock(unsigned board) const {
  return std::make_unique<SimulatedClock>(now_, sleep_until_, board);
}

}  // namespace wattune
