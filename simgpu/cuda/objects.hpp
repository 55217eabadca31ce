#pragma once
// What the driver's opaque handles point to. They belong to one process; what processes share is in machine/.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/image.hpp"
#include "driver/cuda_driver.hpp"
#include "machine/machine.hpp"

namespace wattune {

/// What a copy or fill does to memory.
struct MemoryEffect {
  void* target = nullptr;
  const void* source = nullptr;  ///< null: a fill
  std::size_t bytes = 0;         ///< 0: nothing
  unsigned char value = 0;
  bool operator==(const MemoryEffect&) const = default;
  void happen() const;
};

/// One node of a graph, or what a stream is given outside of a capture.
struct SimulatedNode {
  simgpu::Work work;
  bool is_kernel = false;
  MemoryEffect effect;
};

struct CudaStreamOpaque {
  CudaContext context = nullptr;
  std::optional<std::uint64_t> last_ticket;
  CudaGraph captured = nullptr;  ///< while capturing
};

struct CudaContextOpaque {
  std::uint32_t board = 0;
  std::uint32_t slot = 0;
  int retained = 0;
  CudaStreamOpaque default_stream;
  std::map<CudaDevicePointer, std::size_t> allocations;  ///< addresses of this process's own memory
};

struct CudaEventOpaque {
  CudaContext context = nullptr;
  std::uint32_t slot = 0;
  std::optional<std::uint64_t> ticket;  ///< of the last record
};

struct CudaFunctionOpaque {
  CudaContext context = nullptr;
  const simgpu::Image* image = nullptr;
  simgpu::KernelImage kernel;
  std::uint64_t dynamic_shared_limit = 0;
  /// The last launch and the work that it was.
  struct {
    simgpu::LaunchShape shape;
    simgpu::Demand demand;
    std::optional<simgpu::Work> work;
  } last;
};

struct CudaModuleOpaque {
  CudaContext context = nullptr;
  simgpu::Image image;
  std::map<std::string, std::unique_ptr<CudaFunctionOpaque>> functions;
  std::map<std::string, CudaDevicePointer> variables;  ///< are among the context's allocations
};

/// A graph of nodes in a row. Kernels are not executed and change no data, so copies and fills that are repeated, as
/// those that reset arguments are, need to happen only once.
struct CudaGraphOpaque {
  struct Step {
    simgpu::Work work;
    bool is_kernel;
    std::uint64_t repeats;
  };
  std::vector<Step> steps;
  std::vector<MemoryEffect> effects;
  void add(const SimulatedNode& node);
};

struct CudaGraphExecOpaque {
  std::vector<simgpu::Submission> submissions;
  std::vector<MemoryEffect> effects;  ///< that have not happened yet
};

namespace simgpu {

/// Seconds of device time that calls take.
namespace call_seconds {
constexpr double query = 1.0e-6;
constexpr double record = 0.6e-6;
constexpr double launch = 2.2e-6;
constexpr double graph_launch = 5e-6;
constexpr double allocate = 100e-6;
constexpr double load_module = 0.4e-3;
constexpr double open_context = 0.2;
constexpr double host_copy_per_byte = 1.0 / 12e9;  // of a PCIe link
}  // namespace call_seconds

/// The context of the calling thread; null where there is none.
CudaContext& current_context();
/// The stream that a call means: the context's own for null.
CudaStream stream_or_default(CudaStream stream);

/// Runs a function of the driver: whatever it throws becomes a result.
CudaResult guarded(const std::function<CudaResult()>& function) noexcept;
/// The same for those that need a context in good order; what poisons it is their result.
CudaResult in_context(const std::function<CudaResult(CudaContext)>& function) noexcept;
/// What is to go wrong at a point, as the call's result; success where nothing is. May end or hang the process.
CudaResult fault_at(std::string_view point, std::uint32_t board);
/// Never returns; the process is ended from outside.
[[noreturn]] void hang();

/// Adds to what the stream has to do, or to the graph that it captures.
CudaResult enqueue(CudaStream stream, const SimulatedNode& node);

/// Device memory that nothing has been written to.
CudaDevicePointer allocate(CudaContext context, std::size_t bytes);
void release(CudaContext context, CudaDevicePointer pointer);

/// What the next launches of this process compute and move (extension).
Demand& next_demand();

/// The board that a device of the CUDA driver is: CUDA puts the fastest first, NVML goes by PCI id.
std::optional<std::uint32_t> board_of(CudaDeviceHandle device);
std::array<std::uint8_t, 16> board_uuid(std::uint32_t board);
/// Domain, bus and device number.
struct PciId {
  unsigned domain, bus, device;
};
PciId board_pci(std::uint32_t board);

}  // namespace simgpu
}  // namespace wattune
