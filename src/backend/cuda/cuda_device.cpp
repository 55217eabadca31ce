#include "backend/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "backend/cuda/cuda_error.hpp"
#include "base/error.hpp"

namespace wattune {

namespace {

double mebibytes(std::size_t bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0);
}

Failure too_much(std::string_view kernel, std::string_view what, std::uint64_t wanted, std::uint64_t limit,
                 std::string_view unit) {
  return {Outcome::resources,
          fmt::format("kernel '{}' needs {} {} {}; at most {} are possible", kernel, wanted, unit, what, limit)};
}

}  // namespace

CudaSession::CudaSession(std::shared_ptr<const CudaDriver> driver, CudaDeviceHandle device, const DeviceInfo& info)
    : driver_(std::move(driver)), device_(device) {
  const CudaResult retained = driver_->primary_context_retain(&context_, device_);
  if (retained == CudaResult::device_unavailable) {
    throw DeviceError(
        fmt::format("cannot use {} ({}): {}; another process may hold it exclusively, or its compute mode "
                    "forbids contexts (nvidia-smi -q -d COMPUTE)",
                    info.id, info.name, driver_->describe(retained)));
  }
  require(*driver_, retained, fmt::format("make a context on {} ({})", info.id, info.name));
  CudaResult result = driver_->context_set_current(context_);
  if (result == CudaResult::success) result = driver_->stream_create(&stream_, cuda_stream_non_blocking);
  if (result != CudaResult::success) {
    driver_->primary_context_release(device_);
    require(*driver_, result, fmt::format("make a stream on {} ({})", info.id, info.name));
  }
}

CudaSession::~CudaSession() {
  activate();
  // In a poisoned context these fail, and there is nothing left to do about it.
  driver_->stream_destroy(stream_);
  driver_->primary_context_release(device_);
}

void CudaSession::activate() const {
  driver_->context_set_current(context_);
}

int CudaSession::attribute(CudaDeviceAttribute attribute) const {
  int value = 0;
  return driver_->device_get_attribute(&value, attribute, device_) == CudaResult::success ? value : 0;
}

Failure CudaSession::failed(CudaResult result, std::string_view doing) {
  Failure failure = cuda_failure(*driver_, result, doing);
  if (poisons(failure.outcome) && !poisoned_) poisoned_ = failure;
  return failure;
}

CudaBuffer::~CudaBuffer() {
  session_->activate();
  session_->driver().memory_free(pointer_);
}

CudaDevicePointer CudaBuffer::range(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    throw std::out_of_range(fmt::format("bytes {} to {} of a buffer of {}", offset, offset + bytes, bytes_));
  }
  return pointer_ + offset;
}

CudaDevice::CudaDevice(std::shared_ptr<const CudaDriver> driver, CudaDeviceHandle device, DeviceInfo info,
                       std::shared_ptr<const Simulation> simulation)
    : info_(std::move(info)),
      simulation_(std::move(simulation)),
      clock_(simulation_ ? simulation_->clock(simulation_->board_of(device)) : nullptr),
      session_(std::make_shared<CudaSession>(std::move(driver), device, info_)) {}

void CudaDevice::expect_work(double flop, double bytes) {
  if (simulation_) simulation_->expect(flop, bytes);
}

namespace {

/// Memory that the device copies to without a detour: ten times as fast.
class PageLocked final : public HostMemory {
 public:
  PageLocked(std::shared_ptr<CudaSession> session, void* pointer, std::size_t bytes)
      : session_(std::move(session)), bytes_(static_cast<std::byte*>(pointer), bytes) {}
  ~PageLocked() override {
    session_->activate();
    session_->driver().host_free(bytes_.data());
  }
  PageLocked(const PageLocked&) = delete;
  PageLocked& operator=(const PageLocked&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() noexcept override { return bytes_; }

 private:
  std::shared_ptr<CudaSession> session_;
  std::span<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<HostMemory> CudaDevice::allocate_host(std::size_t bytes) {
  session_->activate();
  const CudaDriver& driver = session_->driver();
  void* pointer = nullptr;
  if (driver.host_allocate == nullptr || driver.host_free == nullptr ||
      driver.host_allocate(&pointer, std::max<std::size_t>(bytes, 1)) != CudaResult::success) {
    return Device::allocate_host(bytes);
  }
  return std::make_unique<PageLocked>(session_, pointer, bytes);
}

std::unique_ptr<Buffer> CudaDevice::allocate(std::size_t bytes) {
  session_->activate();
  const CudaDriver& driver = session_->driver();
  CudaDevicePointer pointer = 0;
  const CudaResult result = driver.memory_allocate(&pointer, std::max<std::size_t>(bytes, 1));
  if (result != CudaResult::success) {
    std::size_t available = 0;
    std::size_t total = 0;
    const bool told = driver.memory_get_info(&available, &total) == CudaResult::success;
    throw DeviceError(fmt::format(
        "cannot allocate {:.1f} MiB on {} ({}): {}{}; make the problem smaller, or free the device "
        "of other programs",
        mebibytes(bytes), info_.id, info_.name, driver.describe(result),
        told ? fmt::format("; {:.1f} of {:.1f} MiB are free", mebibytes(available), mebibytes(total)) : std::string()));
  }
  return std::make_unique<CudaBuffer>(session_, pointer, bytes);
}

void CudaDevice::finish(CudaResult result, std::string_view doing) {
  if (result == CudaResult::success) result = session_->driver().stream_synchronize(session_->stream());
  if (result == CudaResult::success) return;
  session_->failed(result, doing);
  require(session_->driver(), result, fmt::format("{} on {} ({})", doing, info_.id, info_.name));
}

void CudaDevice::write(Buffer& buffer, std::size_t offset, std::span<const std::byte> data) {
  if (data.empty()) return;
  session_->activate();
  const auto target = static_cast<CudaBuffer&>(buffer).range(offset, data.size());
  finish(session_->driver().copy_to_device(target, data.data(), data.size(), session_->stream()),
         "write device memory");
}

void CudaDevice::read(const Buffer& buffer, std::size_t offset, std::span<std::byte> data) {
  if (data.empty()) return;
  session_->activate();
  const auto source = static_cast<const CudaBuffer&>(buffer).range(offset, data.size());
  finish(session_->driver().copy_to_host(data.data(), source, data.size(), session_->stream()), "read device memory");
}

void CudaDevice::copy(Buffer& target, std::size_t target_offset, const Buffer& source, std::size_t source_offset,
                      std::size_t bytes) {
  if (bytes == 0) return;
  session_->activate();
  const auto to = static_cast<CudaBuffer&>(target).range(target_offset, bytes);
  const auto from = static_cast<const CudaBuffer&>(source).range(source_offset, bytes);
  finish(session_->driver().copy_on_device(to, from, bytes, session_->stream()), "copy device memory");
}

void CudaDevice::fill(Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) {
  if (bytes == 0) return;
  session_->activate();
  const auto target = static_cast<CudaBuffer&>(buffer).range(offset, bytes);
  finish(session_->driver().fill_bytes(target, static_cast<unsigned char>(value), bytes, session_->stream()),
         "fill device memory");
}

tl::expected<std::unique_ptr<Kernel>, Failure> CudaDevice::load(const CompileResult& binary) {
  if (session_->poisoned()) return tl::unexpected(*session_->poisoned());
  if (binary.binary.empty()) {
    return tl::unexpected(
        Failure{Outcome::compile, fmt::format("loading kernel '{}': the binary is empty", binary.entry)});
  }
  session_->activate();
  CudaModule module = nullptr;
  const CudaResult loaded = session_->driver().module_load_data(&module, binary.binary.data());
  if (loaded != CudaResult::success) {
    return tl::unexpected(session_->failed(loaded, fmt::format("loading the binary of kernel '{}'", binary.entry)));
  }
  auto kernel = std::make_unique<CudaKernel>(session_, module);
  if (auto failure = kernel->find(binary)) return tl::unexpected(std::move(*failure));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

std::optional<Failure> CudaDevice::write_symbol(Kernel& kernel, const std::string& name,
                                                std::span<const std::byte> data) {
  if (session_->poisoned()) return session_->poisoned();
  session_->activate();
  const auto& own = static_cast<const CudaKernel&>(kernel);
  const CudaDriver& driver = session_->driver();
  CudaDevicePointer pointer = 0;
  std::size_t bytes = 0;
  const CudaResult found = driver.module_get_global(&pointer, &bytes, own.module(), own.symbol(name).c_str());
  if (found == CudaResult::not_found) {
    return Failure{Outcome::launch,
                   fmt::format("kernel '{}' has no __constant__ or __device__ variable '{}' (an unused one "
                               "is left out by the compiler)",
                               own.name(), name)};
  }
  if (found != CudaResult::success) return session_->failed(found, fmt::format("finding variable '{}'", name));
  const std::size_t written = std::min(bytes, data.size());
  if (written == 0) return std::nullopt;
  CudaResult result = driver.copy_to_device(pointer, data.data(), written, session_->stream());
  if (result == CudaResult::success) result = driver.stream_synchronize(session_->stream());
  if (result != CudaResult::success) return session_->failed(result, fmt::format("writing variable '{}'", name));
  return std::nullopt;
}

std::optional<Failure> CudaDevice::check_shape(const Launch& launch, const CudaKernel& kernel) const {
  constexpr std::string_view dimensions = "xyz";
  std::uint64_t items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto block = launch.shape.block[i];
    const auto grid = launch.shape.grid[i];
    if (block == 0 || grid == 0) {
      return Failure{Outcome::launch, fmt::format("kernel '{}' is launched with {} 0 in {}", kernel.name(),
                                                  block == 0 ? "block size" : "grid size", dimensions[i])};
    }
    if (block > info_.max_block[i]) {
      return too_much(kernel.name(), fmt::format("per block in {}", dimensions[i]), block, info_.max_block[i],
                      "threads");
    }
    if (grid > info_.max_grid[i]) {
      return too_much(kernel.name(), fmt::format("in {}", dimensions[i]), grid, info_.max_grid[i], "blocks");
    }
    items *= block;  // three dimensions of at most 1024 cannot overflow
  }
  if (items > info_.max_work_group) return too_much(kernel.name(), "per block", items, info_.max_work_group, "threads");
  const auto most = static_cast<std::uint64_t>(kernel.resource("max_work_group"));
  if (items > most) {
    return Failure{
        Outcome::resources,
        fmt::format("kernel '{}' is launched with {} threads per block; with its {} registers a thread (or its "
                    "__launch_bounds__) it may have {}",
                    kernel.name(), items, kernel.resource("registers"), most)};
  }
  return std::nullopt;
}

std::optional<Failure> CudaDevice::check_arguments(const CudaKernel& kernel, const PackedLaunch& packed) {
  if (!kernel.parameters()) return std::nullopt;
  const auto& wanted = *kernel.parameters();
  const auto& given = packed.sizes();
  if (wanted.size() != given.size()) {
    return Failure{Outcome::launch, fmt::format("kernel '{}' has {} parameters, but the problem gives {} arguments",
                                                kernel.name(), wanted.size(), given.size())};
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == given[i]) continue;
    return Failure{Outcome::launch,
                   fmt::format("parameter {} of kernel '{}' has {} bytes, but the problem's argument has {}", i + 1,
                               kernel.name(), wanted[i], given[i])};
  }
  return std::nullopt;
}

std::optional<Failure> CudaDevice::check(const Launch& launch) {
  if (session_->poisoned()) return session_->poisoned();
  const auto& kernel = static_cast<const CudaKernel&>(*launch.kernel);
  const PackedLaunch packed(launch);
  if (auto failure = check_shape(launch, kernel)) return failure;
  const auto fixed = static_cast<std::uint64_t>(kernel.resource("static_shared_bytes"));
  const std::uint64_t shared = fixed + packed.shared_bytes();
  if (shared > info_.local_memory) {
    return too_much(kernel.name(), "of shared memory per block", shared, info_.local_memory, "bytes");
  }
  return check_arguments(kernel, packed);
}

std::optional<Failure> CudaDevice::prepare(const Launch& launch, const PackedLaunch& packed) {
  session_->activate();
  if (auto failure = check(launch)) return failure;
  return static_cast<CudaKernel&>(*launch.kernel).allow_shared(packed.shared_bytes());
}

std::optional<Failure> CudaDevice::run(const Launch& launch) {
  PackedLaunch packed(launch);
  if (auto failure = prepare(launch, packed)) return failure;
  const std::string& name = static_cast<const CudaKernel&>(*launch.kernel).name();
  if (const CudaResult result = packed.enqueue(*session_); result != CudaResult::success) {
    return session_->failed(result, fmt::format("launching kernel '{}'", name));
  }
  if (const CudaResult result = session_->driver().stream_synchronize(session_->stream());
      result != CudaResult::success) {
    return session_->failed(result, fmt::format("running kernel '{}'", name));
  }
  return std::nullopt;
}

tl::expected<std::unique_ptr<Batch>, Failure> CudaDevice::make_batch(const std::vector<Step>& steps,
                                                                     unsigned repetitions) {
  if (session_->poisoned()) return tl::unexpected(*session_->poisoned());
  std::vector<PackedStep> packed;
  for (const Step& step : steps) {
    if (const auto* reset = std::get_if<ResetCopy>(&step)) {
      packed.emplace_back(*reset);
      continue;
    }
    const Launch& launch = std::get<Launch>(step);
    PackedLaunch packed_launch(launch);
    if (auto failure = prepare(launch, packed_launch)) return tl::unexpected(std::move(*failure));
    packed.emplace_back(std::move(packed_launch));
  }
  session_->activate();
  return make_cuda_batch(session_, std::move(packed), repetitions);
}

std::optional<double> CudaDevice::occupancy(const Launch& launch) {
  const CudaDriver& driver = session_->driver();
  if (driver.max_active_blocks == nullptr || session_->poisoned()) return std::nullopt;
  session_->activate();
  const auto& block = launch.shape.block;
  const auto threads = block[0] * block[1] * block[2];
  int blocks = 0;
  if (driver.max_active_blocks(&blocks, static_cast<const CudaKernel&>(*launch.kernel).function(),
                               static_cast<int>(threads), PackedLaunch(launch).shared_bytes()) != CudaResult::success) {
    return std::nullopt;
  }
  const int most = session_->attribute(CudaDeviceAttribute::max_threads_per_multiprocessor);
  if (most <= 0) return std::nullopt;
  return static_cast<double>(blocks) * static_cast<double>(threads) / most;
}

}  // namespace wattune
