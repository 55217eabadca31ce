#pragma once
// An opened CUDA device: one primary context and one stream, on which everything happens in order.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/simulation.hpp"
#include "driver/cuda_driver.hpp"

namespace wattune {

/// A retained primary context and its stream. Shared by the device and all that was made from it, so that these may be
/// destroyed in any order.
class CudaSession {
 public:
  /// @throws DeviceError where the context cannot be made.
  CudaSession(std::shared_ptr<const CudaDriver> driver, CudaDeviceHandle device, const DeviceInfo& info);
  ~CudaSession();
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;

  [[nodiscard]] const CudaDriver& driver() const noexcept { return *driver_; }
  [[nodiscard]] CudaStream stream() const noexcept { return stream_; }
  /// Makes the context current in this thread: several devices may be open.
  void activate() const;
  /// An attribute of the device; 0 where the driver does not know it.
  [[nodiscard]] int attribute(CudaDeviceAttribute attribute) const;

  /// The failure for a result; remembered where it leaves the context unusable.
  Failure failed(CudaResult result, std::string_view doing);
  /// What made the context unusable. Every later use of it fails with this.
  [[nodiscard]] const std::optional<Failure>& poisoned() const noexcept { return poisoned_; }

 private:
  std::shared_ptr<const CudaDriver> driver_;
  CudaDeviceHandle device_;
  CudaContext context_ = nullptr;
  CudaStream stream_ = nullptr;
  std::optional<Failure> poisoned_;
};

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(std::shared_ptr<CudaSession> session, CudaDevicePointer pointer, std::size_t bytes)
      : session_(std::move(session)), pointer_(pointer), bytes_(bytes) {}
  ~CudaBuffer() override;
  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }
  /// The address of a range. @throws std::out_of_range where it does not lie in the buffer.
  [[nodiscard]] CudaDevicePointer range(std::size_t offset, std::size_t bytes) const;

 private:
  std::shared_ptr<CudaSession> session_;
  CudaDevicePointer pointer_;
  std::size_t bytes_;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(std::shared_ptr<CudaSession> session, CudaModule module) : session_(std::move(session)), module_(module) {}
  ~CudaKernel() override;
  [[nodiscard]] std::map<std::string, std::int64_t> resources() const override { return resources_; }
  [[nodiscard]] std::int64_t resource(const std::string& name) const { return resources_.at(name); }

  /// Finds the function and reads what it needs.
  std::optional<Failure> find(const CompileResult& binary);

  [[nodiscard]] CudaModule module() const noexcept { return module_; }
  [[nodiscard]] CudaFunction function() const noexcept { return function_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The name in the module of a symbol.
  [[nodiscard]] std::string symbol(const std::string& source_name) const;
  /// Sizes of the parameters in bytes; nothing where the driver does not tell.
  [[nodiscard]] const std::optional<std::vector<std::size_t>>& parameters() const noexcept { return parameters_; }
  /// Allows this much dynamic shared memory, which beyond 48 KB a kernel must ask for.
  std::optional<Failure> allow_shared(std::size_t bytes);

 private:
  void read_parameters();

  std::shared_ptr<CudaSession> session_;
  CudaModule module_;
  CudaFunction function_ = nullptr;
  std::string name_;
  std::map<std::string, std::string> symbols_;
  std::map<std::string, std::int64_t> resources_;
  std::optional<std::vector<std::size_t>> parameters_;
  std::size_t allowed_shared_ = 0;
};

/// A launch with its arguments as the driver wants them.
class PackedLaunch {
 public:
  explicit PackedLaunch(const Launch& launch);
  CudaResult enqueue(const CudaSession& session);
  /// Dynamic shared memory, that of local arguments included, in bytes.
  [[nodiscard]] std::size_t shared_bytes() const noexcept { return shared_bytes_; }
  /// Sizes of the kernel's arguments in bytes.
  [[nodiscard]] const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }

 private:
  CudaKernel* kernel_;
  LaunchShape shape_;
  std::size_t shared_bytes_;
  std::vector<std::vector<std::byte>> values_;
  std::vector<std::size_t> sizes_;
};

class CudaDevice final : public Device {
 public:
  /// @param simulation where the driver is that of simulated GPUs; else null
  CudaDevice(std::shared_ptr<const CudaDriver> driver, CudaDeviceHandle device, DeviceInfo info,
             std::shared_ptr<const Simulation> simulation = nullptr);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::size_t buffer_alignment() const noexcept override { return 256; }
  [[nodiscard]] bool constant_arguments_are_symbols() const noexcept override { return true; }
  [[nodiscard]] Clock* clock() noexcept override { return clock_.get(); }
  void expect_work(double flop, double bytes) override;

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override;
  std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) override;
  void write(Buffer& buffer, std::size_t offset, std::span<const std::byte> data) override;
  void read(const Buffer& buffer, std::size_t offset, std::span<std::byte> data) override;
  void copy(Buffer& target, std::size_t target_offset, const Buffer& source, std::size_t source_offset,
            std::size_t bytes) override;
  void fill(Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) override;

  tl::expected<std::unique_ptr<Kernel>, Failure> load(const CompileResult& binary) override;
  /// Arguments are sized for the largest variant: of longer data as much is written as the symbol holds.
  std::optional<Failure> write_symbol(Kernel& kernel, const std::string& name,
                                      std::span<const std::byte> data) override;

  std::optional<Failure> check(const Launch& launch) override;
  std::optional<Failure> run(const Launch& launch) override;
  std::optional<double> occupancy(const Launch& launch) override;
  tl::expected<std::unique_ptr<Batch>, Failure> make_batch(const std::vector<Step>& steps,
                                                           unsigned repetitions) override;

 private:
  /// Checks, and readies the kernel. Failure: as check(), or what poisoned the context.
  std::optional<Failure> prepare(const Launch& launch, const PackedLaunch& packed);
  void finish(CudaResult result, std::string_view doing);
  std::optional<Failure> check_shape(const Launch& launch, const CudaKernel& kernel) const;
  static std::optional<Failure> check_arguments(const CudaKernel& kernel, const PackedLaunch& packed);

  DeviceInfo info_;
  std::shared_ptr<const Simulation> simulation_;
  std::unique_ptr<Clock> clock_;
  std::shared_ptr<CudaSession> session_;
};

using PackedStep = std::variant<PackedLaunch, ResetCopy>;

tl::expected<std::unique_ptr<Batch>, Failure> make_cuda_batch(std::shared_ptr<CudaSession> session,
                                                              std::vector<PackedStep> steps, unsigned repetitions);

}  // namespace wattune
