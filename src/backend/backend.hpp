#pragma once
// What every kind of device offers: a compiler, and a device that holds memory, loads binaries, launches and times
// them. Objects live in one process and one thread; only worker and compile processes make them, never the coordinator.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "problem/problem.hpp"
#include "result/outcome.hpp"

namespace wattune {

/// A device as found, before it is opened.
struct DeviceInfo {
  std::string id;  ///< "opencl:0", "cuda:1": how the user names it
  std::string name;
  std::string backend;               ///< "opencl" or "cuda"
  std::string kind;                  ///< "gpu", "cpu" or "accelerator"
  std::string uuid;                  ///< "GPU-..." where there is one; empty otherwise
  std::string pci;                   ///< "0000:65:00.0" in lower case; empty where there is none
  std::string platform;              ///< OpenCL platform, or "CUDA"
  std::string driver;                ///< version of the driver
  std::string architecture;          ///< compile target: "sm_90"; empty for OpenCL
  std::uint64_t global_memory = 0;   ///< bytes
  std::uint64_t local_memory = 0;    ///< bytes of local (shared) memory a work-group may have, opting in where needed
  std::uint64_t max_work_group = 0;  ///< items
  std::array<std::uint64_t, 3> max_block{};  ///< items per dimension
  std::array<std::uint64_t, 3> max_grid{};   ///< work-groups per dimension; 0: no limit
  std::uint64_t max_allocation = 0;          ///< bytes of one buffer
  unsigned compute_units = 0;
  bool simulated = false;

  /// What identifies the board in journals: uuid, else pci, else name and platform.
  [[nodiscard]] std::string board() const;
};

struct CompileRequest {
  std::string device;  ///< DeviceInfo::id
  std::string source;  ///< text, without the defines
  std::string file;    ///< path of the source, for messages and relative includes
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<std::string> options;  ///< the problem's compiler options
  std::vector<std::string> include_paths;
  std::string includes_hash;  ///< of the content of the files that the source includes
  std::string kernel_name;    ///< with template arguments where there are any
};

struct CompileResult {
  std::vector<std::uint8_t> binary;
  std::string entry;                              ///< the name to look the kernel up by (mangled for templates)
  std::map<std::string, std::string> symbols;     ///< constant symbols by source name: the name in the binary
  std::string log;                                ///< the compiler's output, warnings included
  std::map<std::string, std::int64_t> resources;  ///< registers, spill_bytes, static_shared_bytes, ... where known
  std::string compiler;                           ///< "nvrtc 13.0", "nvcc 13.0", "opencl": with what it was made
  double seconds = 0;
  bool cached = false;  ///< not compiled now, but found in a cache
};

/// Compiles for one device. Lives in a compile process.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// What decides, beside the request, which binary comes out: compilers with their versions, and the target. Equal
  /// identities and equal requests give equal binaries, in this process and any other.
  virtual std::string identity() = 0;
  /// Failure: outcome compile, message the build log. @throws DeviceError where the compiler itself is missing.
  virtual tl::expected<CompileResult, Failure> compile(const CompileRequest& request) = 0;
};

/// Device memory.
class Buffer {
 public:
  virtual ~Buffer() = default;
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
};

/// Memory of the host that a device copies to fast.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  [[nodiscard]] virtual std::span<std::byte> bytes() noexcept = 0;
};

/// A kernel loaded into a device from a binary.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// registers, local_bytes (spills and stack), static_shared_bytes, max_work_group, ... as the device reports them.
  [[nodiscard]] virtual std::map<std::string, std::int64_t> resources() const = 0;
};

/// A buffer and where the argument begins in it, bytes of a scalar, or bytes of local memory.
struct BufferArgument {
  Buffer* buffer;
  std::size_t offset;  ///< bytes; a multiple of Device::buffer_alignment()
  std::size_t bytes;   ///< the argument's own size
};
struct ScalarArgument {
  std::vector<std::byte> bytes;
};
/// OpenCL: a parameter of the kernel. CUDA: no parameter, its bytes are added to Launch::shared_bytes by the device.
struct LocalArgument {
  std::size_t bytes;
};
using KernelArgument = std::variant<BufferArgument, ScalarArgument, LocalArgument>;

struct Launch {
  Kernel* kernel = nullptr;
  LaunchShape shape;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
  std::vector<KernelArgument> arguments;
};

/// A copy within device memory, for example before each launch to keep the work the same (Reset of an argument).
struct ResetCopy {
  Buffer* target;
  Buffer* source;      ///< null: fill with zeros
  std::size_t offset;  ///< bytes, in both
  std::size_t bytes;
};

/// What a device does in order, once or again and again: one launch in most cases; more where resets or a launch
/// function are involved.
using Step = std::variant<Launch, ResetCopy>;

/// A fixed number of repetitions of steps that is queued as one, again and again (a CUDA graph; for OpenCL a run of
/// enqueues).
class Batch {
 public:
  virtual ~Batch() = default;
  /// Repetitions of the steps.
  [[nodiscard]] virtual unsigned launches() const noexcept = 0;
  /// Queues one replay. Does not wait.
  virtual std::optional<Failure> enqueue() = 0;
  /// Replays queued and not yet taken by poll() or wait().
  [[nodiscard]] virtual unsigned outstanding() const noexcept = 0;
  /// The device seconds of the oldest outstanding replay once it has finished; nothing while it runs.
  virtual tl::expected<std::optional<double>, Failure> poll() = 0;
  /// The same, waiting for it.
  virtual tl::expected<double, Failure> wait() = 0;
};

/// An opened device. A Failure with outcome `crash` or `lost_device` means that the context is poisoned: the worker
/// must be replaced.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  /// Sub-ranges of buffers that are passed as arguments begin at multiples of this, in bytes.
  [[nodiscard]] virtual std::size_t buffer_alignment() const noexcept = 0;
  /// Whether `constant` arguments are symbols of the kernel's module that write_symbol() fills (CUDA's __constant__)
  /// and no parameters of the kernel. Otherwise they are passed as buffers (OpenCL's __constant).
  [[nodiscard]] virtual bool constant_arguments_are_symbols() const noexcept { return false; }
  /// The clock by which the device's time passes; null: the machine's. Simulated devices have one of their own.
  [[nodiscard]] virtual Clock* clock() noexcept { return nullptr; }
  /// What each of the next launches computes (FLOP) and moves (bytes); 0: unknown. Only simulated devices, which
  /// execute nothing, need to be told.
  virtual void expect_work(double /*flop*/, double /*bytes*/) {}

  /// @throws DeviceError where memory is out.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  /// Ordinary memory where the device knows none that is faster.
  virtual std::unique_ptr<HostMemory> allocate_host(std::size_t bytes);
  virtual void write(Buffer& buffer, std::size_t offset, std::span<const std::byte> data) = 0;
  virtual void read(const Buffer& buffer, std::size_t offset, std::span<std::byte> data) = 0;
  virtual void copy(Buffer& target, std::size_t target_offset, const Buffer& source, std::size_t source_offset,
                    std::size_t bytes) = 0;
  /// Repeats a byte.
  virtual void fill(Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) = 0;

  /// Loads a binary. Failure: outcome resources or compile.
  virtual tl::expected<std::unique_ptr<Kernel>, Failure> load(const CompileResult& binary) = 0;
  /// Writes a constant symbol of a loaded kernel's module (CUDA). Failure where there is no such symbol.
  virtual std::optional<Failure> write_symbol(Kernel& kernel, const std::string& name,
                                              std::span<const std::byte> data) = 0;

  /// Checks without launching that a launch fits the device and the kernel. Failure: outcome resources or launch.
  virtual std::optional<Failure> check(const Launch& launch) = 0;
  /// Launches once and waits.
  virtual std::optional<Failure> run(const Launch& launch) = 0;
  /// The share of its resident threads that a multiprocessor can hold while it runs this launch, 0 to 1; nothing where
  /// the driver does not tell.
  virtual std::optional<double> occupancy(const Launch& /*launch*/) { return std::nullopt; }
  /// `repetitions` times all steps, in order. Kernels and buffers must outlive the batch.
  virtual tl::expected<std::unique_ptr<Batch>, Failure> make_batch(const std::vector<Step>& steps,
                                                                   unsigned repetitions) = 0;
  /// `launches` times the resets, in order, and then the launch. With a null kernel: the resets alone.
  tl::expected<std::unique_ptr<Batch>, Failure> batch(const Launch& launch, unsigned launches,
                                                      const std::vector<ResetCopy>& resets) {
    std::vector<Step> steps(resets.begin(), resets.end());
    if (launch.kernel != nullptr) steps.emplace_back(launch);
    return make_batch(steps, launches);
  }
};

inline std::unique_ptr<HostMemory> Device::allocate_host(std::size_t bytes) {
  class Ordinary final : public HostMemory {
   public:
    explicit Ordinary(std::size_t size) : bytes_(size) {}
    [[nodiscard]] std::span<std::byte> bytes() noexcept override { return bytes_; }

   private:
    std::vector<std::byte> bytes_;
  };
  return std::make_unique<Ordinary>(bytes);
}

/// One kind of device ("opencl", "cuda").
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// The language of its kernels: "OpenCL" or "CUDA".
  [[nodiscard]] virtual std::string language() const = 0;
  /// All devices. @throws DeviceError where the driver or loader is missing, saying what to install.
  virtual std::vector<DeviceInfo> devices() = 0;
  /// @param id as in DeviceInfo::id. @throws DeviceError that lists the devices there are.
  virtual std::unique_ptr<Device> open(const std::string& id) = 0;
  virtual std::unique_ptr<Compiler> compiler(const std::string& id) = 0;
};

}  // namespace wattune
