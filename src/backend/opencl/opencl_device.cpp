#include "backend/opencl/opencl_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

#include "backend/opencl/opencl_binary.hpp"
#include "backend/opencl/opencl_compiler.hpp"

namespace wattune::opencl {

namespace {

struct OpenClBuffer final : Buffer {
  OpenClBuffer(MemoryOwner owner, std::size_t size) : memory(std::move(owner)), size(size) {}
  [[nodiscard]] std::size_t bytes() const noexcept override { return size; }

  MemoryOwner memory;
  std::size_t size;
};

cl_mem memory_of(const Buffer& buffer) {
  return dynamic_cast<const OpenClBuffer&>(buffer).memory.get();
}

struct OpenClKernel final : Kernel {
  [[nodiscard]] std::map<std::string, std::int64_t> resources() const override {
    return {{"max_work_group", static_cast<std::int64_t>(max_work_group)},
            {"work_group_multiple", static_cast<std::int64_t>(work_group_multiple)},
            {"local_bytes", static_cast<std::int64_t>(private_bytes)},
            {"static_shared_bytes", static_cast<std::int64_t>(local_bytes)}};
  }

  ProgramOwner program;
  KernelOwner kernel;
  std::string name;
  cl_uint parameters = 0;
  std::size_t max_work_group = 0;
  std::size_t work_group_multiple = 0;
  std::array<std::size_t, 3> required_block{};  ///< zeros where the kernel leaves it open
  cl_ulong local_bytes = 0;                     ///< static
  cl_ulong private_bytes = 0;
};

/// A kernel whose arguments are set; keeps sub-buffers alive for as long as commands may use them.
struct Prepared {
  cl_kernel kernel = nullptr;
  std::array<std::size_t, 3> global{};
  std::array<std::size_t, 3> local{};
  std::vector<MemoryOwner> sub_buffers;
};

class OpenClDevice;

class OpenClBatch final : public Batch {
 public:
  OpenClBatch(OpenClDevice& device, std::vector<Step> steps, unsigned repetitions)
      : device_(device), steps_(std::move(steps)), repetitions_(repetitions) {}
  ~OpenClBatch() override;

  [[nodiscard]] unsigned launches() const noexcept override { return repetitions_; }
  std::optional<Failure> enqueue() override;
  [[nodiscard]] unsigned outstanding() const noexcept override { return static_cast<unsigned>(replays_.size()); }
  tl::expected<std::optional<double>, Failure> poll() override;
  tl::expected<double, Failure> wait() override;

  /// Sets each launch's arguments once, to find what is wrong with them.
  std::optional<Failure> prepare();

 private:
  struct Replay {
    EventOwner first;
    EventOwner last;  ///< nothing where the first command is the only one
    [[nodiscard]] cl_event end() const { return last ? last.get() : first.get(); }
  };
  tl::expected<double, Failure> take_oldest(cl_int status);
  cl_int enqueue_step(std::size_t index, cl_event* event);

  OpenClDevice& device_;
  std::vector<Step> steps_;
  std::vector<Prepared> prepared_;  ///< one per step; empty for copies
  unsigned repetitions_;
  bool shares_kernels_ = false;  ///< two launches are of one kernel, whose arguments are set anew for each
  std::deque<Replay> replays_;
};

class OpenClDevice final : public Device {
 public:
  OpenClDevice(std::shared_ptr<const Api> api, FoundDevice device);
  ~OpenClDevice() override {
    if (queue_) api_->clFinish(queue_.get());
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_.info; }
  [[nodiscard]] std::size_t buffer_alignment() const noexcept override { return device_.alignment; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override;
  void write(Buffer& buffer, std::size_t offset, std::span<const std::byte> data) override;
  void read(const Buffer& buffer, std::size_t offset, std::span<std::byte> data) override;
  void copy(Buffer& target, std::size_t target_offset, const Buffer& source, std::size_t source_offset,
            std::size_t bytes) override;
  void fill(Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) override;
  tl::expected<std::unique_ptr<Kernel>, Failure> load(const CompileResult& binary) override;
  std::optional<Failure> write_symbol(Kernel& kernel, const std::string& name,
                                      std::span<const std::byte> data) override;
  std::optional<Failure> check(const Launch& launch) override;
  std::optional<Failure> run(const Launch& launch) override;
  tl::expected<std::unique_ptr<Batch>, Failure> make_batch(const std::vector<Step>& steps,
                                                           unsigned repetitions) override;

  /// Sets the kernel's arguments.
  std::optional<Failure> prepare(const Launch& launch, Prepared& prepared);
  cl_int enqueue_kernel(const Prepared& prepared, cl_event* event);
  cl_int enqueue_reset(const ResetCopy& reset, cl_event* event);
  /// A failure of this code; remembers when it leaves the context unusable.
  Failure failure(cl_int code, Stage stage, const std::string& what);
  [[nodiscard]] EventOwner own(cl_event event) const { return {event, api_->clReleaseEvent}; }
  [[nodiscard]] const Api& api() const { return *api_; }
  [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }

 private:
  std::optional<Failure> set_buffer(const OpenClKernel& kernel, cl_uint index, const BufferArgument& argument,
                                    Prepared& prepared);
  std::optional<Failure> set_argument(const OpenClKernel& kernel, cl_uint index, const KernelArgument& argument,
                                      Prepared& prepared);
  void throw_if(cl_int code, const std::string& action) const;

  std::shared_ptr<const Api> api_;
  FoundDevice device_;
  ContextOwner context_;
  QueueOwner queue_;
  std::optional<Failure> poisoned_;
};

// ---- memory

OpenClDevice::OpenClDevice(std::shared_ptr<const Api> api, FoundDevice device)
    : api_(std::move(api)), device_(std::move(device)) {
  cl_int code = CL_SUCCESS;
  context_ = {api_->clCreateContext(nullptr, 1, &device_.id, nullptr, nullptr, &code), api_->clReleaseContext};
  opencl::check(code, "make an OpenCL context on " + info().id + " (" + info().name + ")");
  queue_ = {api_->clCreateCommandQueue(context_.get(), device_.id, CL_QUEUE_PROFILING_ENABLE, &code),
            api_->clReleaseCommandQueue};
  opencl::check(code, "make an OpenCL queue on " + info().id + " (" + info().name + ")");
}

void OpenClDevice::throw_if(cl_int code, const std::string& action) const {
  if (code != CL_SUCCESS) opencl::check(code, fmt::format("{} on {} ({})", action, info().id, info().name));
}

std::unique_ptr<Buffer> OpenClDevice::allocate(std::size_t bytes) {
  cl_int code = CL_SUCCESS;
  MemoryOwner memory(api_->clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code),
                     api_->clReleaseMemObject);
  if (code != CL_SUCCESS) {
    throw DeviceError(
        fmt::format("cannot allocate {} bytes on {} ({}): {}; it has {} bytes, at most {} for one buffer; "
                    "use a smaller problem size",
                    bytes, info().id, info().name, error_text(code), info().global_memory, info().max_allocation));
  }
  return std::make_unique<OpenClBuffer>(std::move(memory), bytes);
}

void OpenClDevice::write(Buffer& buffer, std::size_t offset, std::span<const std::byte> data) {
  if (data.empty()) return;
  throw_if(api_->clEnqueueWriteBuffer(queue_.get(), memory_of(buffer), CL_TRUE, offset, data.size(), data.data(), 0,
                                      nullptr, nullptr),
           fmt::format("write {} bytes to a buffer", data.size()));
}

void OpenClDevice::read(const Buffer& buffer, std::size_t offset, std::span<std::byte> data) {
  if (data.empty()) return;
  throw_if(api_->clEnqueueReadBuffer(queue_.get(), memory_of(buffer), CL_TRUE, offset, data.size(), data.data(), 0,
                                     nullptr, nullptr),
           fmt::format("read {} bytes of a buffer", data.size()));
}

void OpenClDevice::copy(Buffer& target, std::size_t target_offset, const Buffer& source, std::size_t source_offset,
                        std::size_t bytes) {
  if (bytes == 0) return;
  throw_if(api_->clEnqueueCopyBuffer(queue_.get(), memory_of(source), memory_of(target), source_offset, target_offset,
                                     bytes, 0, nullptr, nullptr),
           fmt::format("copy {} bytes", bytes));
}

void OpenClDevice::fill(Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) {
  if (bytes == 0) return;
  throw_if(api_->clEnqueueFillBuffer(queue_.get(), memory_of(buffer), &value, 1, offset, bytes, 0, nullptr, nullptr),
           fmt::format("fill {} bytes", bytes));
}

// ---- kernels

tl::expected<std::unique_ptr<Kernel>, Failure> OpenClDevice::load(const CompileResult& binary) {
  auto result = std::make_unique<OpenClKernel>();
  result->name = binary.entry;
  const auto unpacked = unpack(binary.binary);
  if (!unpacked) {
    return tl::unexpected(
        Failure{Outcome::compile, fmt::format("the program of kernel {} was not made by this backend", result->name)});
  }
  const std::size_t size = unpacked->program.size();
  const unsigned char* data = unpacked->program.data();
  cl_int code = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  result->program = {api_->clCreateProgramWithBinary(context_.get(), 1, &device_.id, &size, &data, &status, &code),
                     api_->clReleaseProgram};
  if (code != CL_SUCCESS)
    return tl::unexpected(failure(code, Stage::enqueue, "load the program of kernel " + result->name));
  std::string log;
  code = build(*api_, result->program.get(), device_.id, unpacked->options, log);
  if (code != CL_SUCCESS) {
    return tl::unexpected(Failure{Outcome::compile, fmt::format("the program of kernel {} could not be linked: {}\n{}",
                                                                result->name, error_text(code), log)});
  }
  result->kernel = {api_->clCreateKernel(result->program.get(), result->name.c_str(), &code), api_->clReleaseKernel};
  if (code != CL_SUCCESS) return tl::unexpected(failure(code, Stage::enqueue, "make kernel " + result->name));

  const auto query = [&](cl_kernel_work_group_info what, auto& value) {
    api_->clGetKernelWorkGroupInfo(result->kernel.get(), device_.id, what, sizeof value, &value, nullptr);
  };
  query(CL_KERNEL_WORK_GROUP_SIZE, result->max_work_group);
  query(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, result->work_group_multiple);
  query(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, result->required_block);
  query(CL_KERNEL_LOCAL_MEM_SIZE, result->local_bytes);
  query(CL_KERNEL_PRIVATE_MEM_SIZE, result->private_bytes);
  api_->clGetKernelInfo(result->kernel.get(), CL_KERNEL_NUM_ARGS, sizeof result->parameters, &result->parameters,
                        nullptr);
  return result;
}

std::optional<Failure> OpenClDevice::write_symbol(Kernel& kernel, const std::string& name, std::span<const std::byte>) {
  return Failure{
      Outcome::launch,
      fmt::format("argument {} of kernel {} is a symbol, which OpenCL does not have; declare it as a constant "
                  "argument",
                  name, dynamic_cast<OpenClKernel&>(kernel).name)};
}

std::optional<Failure> OpenClDevice::check(const Launch& launch) {
  const auto& kernel = dynamic_cast<const OpenClKernel&>(*launch.kernel);
  const auto& grid = launch.shape.grid;
  const auto& block = launch.shape.block;
  const auto refuse = [&](Outcome outcome, const std::string& reason) {
    return Failure{outcome, fmt::format("work-group {}x{}x{} of kernel {}: {}", block[0], block[1], block[2],
                                        kernel.name, reason)};
  };
  constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < 3; ++i) {
    if (block[i] == 0 || grid[i] == 0) return refuse(Outcome::launch, "a size is zero");
    if (grid[i] > limit / block[i])
      return refuse(Outcome::resources, fmt::format("{} work-groups are too many", grid[i]));
    if (info().max_block[i] != 0 && block[i] > info().max_block[i]) {
      return refuse(Outcome::resources,
                    fmt::format("the device allows {} items in dimension {}", info().max_block[i], i));
    }
  }
  // No dimension is above the device's limit, so that the product of three cannot overflow.
  const std::uint64_t items = block[0] * block[1] * block[2];
  if (items > info().max_work_group) {
    return refuse(Outcome::resources, fmt::format("{} items; the device allows {}", items, info().max_work_group));
  }
  if (kernel.max_work_group != 0 && items > kernel.max_work_group) {
    return refuse(Outcome::resources, fmt::format("{} items; the kernel can have {}", items, kernel.max_work_group));
  }
  const auto& required = kernel.required_block;
  if (required[0] != 0 && !std::equal(required.begin(), required.end(), block.begin())) {
    return refuse(Outcome::launch, fmt::format("its source requires {}x{}x{}", required[0], required[1], required[2]));
  }
  std::uint64_t local_bytes = kernel.local_bytes;
  for (const KernelArgument& argument : launch.arguments) {
    if (const auto* local = std::get_if<LocalArgument>(&argument)) local_bytes += local->bytes;
  }
  if (local_bytes > info().local_memory) {
    return refuse(Outcome::resources,
                  fmt::format("{} bytes of local memory; the device has {}", local_bytes, info().local_memory));
  }
  return std::nullopt;
}

// ---- launches

std::optional<Failure> OpenClDevice::set_buffer(const OpenClKernel& kernel, cl_uint index,
                                                const BufferArgument& argument, Prepared& prepared) {
  cl_mem memory = memory_of(*argument.buffer);
  if (argument.offset != 0 || argument.bytes != argument.buffer->bytes()) {
    const cl_buffer_region region{argument.offset, argument.bytes};
    cl_int code = CL_SUCCESS;
    MemoryOwner part(api_->clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code),
                     api_->clReleaseMemObject);
    if (code != CL_SUCCESS) {
      return failure(code, Stage::enqueue,
                     fmt::format("make a sub-buffer for argument {} of kernel {}", index, kernel.name));
    }
    memory = part.get();
    prepared.sub_buffers.push_back(std::move(part));
  }
  const cl_int code = api_->clSetKernelArg(kernel.kernel.get(), index, sizeof memory, &memory);
  if (code == CL_SUCCESS) return std::nullopt;
  return failure(code, Stage::enqueue, fmt::format("pass a buffer as argument {} of kernel {}", index, kernel.name));
}

std::optional<Failure> OpenClDevice::set_argument(const OpenClKernel& kernel, cl_uint index,
                                                  const KernelArgument& argument, Prepared& prepared) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument)) return set_buffer(kernel, index, *buffer, prepared);
  std::size_t bytes = 0;
  const void* data = nullptr;
  if (const auto* scalar = std::get_if<ScalarArgument>(&argument)) {
    bytes = scalar->bytes.size();
    data = scalar->bytes.data();
  } else {
    bytes = std::get<LocalArgument>(argument).bytes;
  }
  const cl_int code = api_->clSetKernelArg(kernel.kernel.get(), index, bytes, data);
  if (code == CL_SUCCESS) return std::nullopt;
  return failure(code, Stage::enqueue,
                 fmt::format("pass {} of {} bytes as argument {} of kernel {}",
                             data == nullptr ? "local memory" : "a scalar", bytes, index, kernel.name));
}

std::optional<Failure> OpenClDevice::prepare(const Launch& launch, Prepared& prepared) {
  const auto& kernel = dynamic_cast<const OpenClKernel&>(*launch.kernel);
  if (launch.arguments.size() != kernel.parameters) {
    return Failure{Outcome::launch, fmt::format("kernel {} takes {} arguments and the problem gives {}", kernel.name,
                                                kernel.parameters, launch.arguments.size())};
  }
  for (cl_uint i = 0; i < kernel.parameters; ++i) {
    if (auto failed = set_argument(kernel, i, launch.arguments[i], prepared)) return failed;
  }
  prepared.kernel = kernel.kernel.get();
  for (std::size_t i = 0; i < 3; ++i) {
    prepared.local[i] = launch.shape.block[i];
    prepared.global[i] = launch.shape.grid[i] * launch.shape.block[i];
  }
  return std::nullopt;
}

cl_int OpenClDevice::enqueue_kernel(const Prepared& prepared, cl_event* event) {
  return api_->clEnqueueNDRangeKernel(queue_.get(), prepared.kernel, 3, nullptr, prepared.global.data(),
                                      prepared.local.data(), 0, nullptr, event);
}

cl_int OpenClDevice::enqueue_reset(const ResetCopy& reset, cl_event* event) {
  if (reset.source == nullptr) {
    const std::byte zero{};
    return api_->clEnqueueFillBuffer(queue_.get(), memory_of(*reset.target), &zero, 1, reset.offset, reset.bytes, 0,
                                     nullptr, event);
  }
  return api_->clEnqueueCopyBuffer(queue_.get(), memory_of(*reset.source), memory_of(*reset.target), reset.offset,
                                   reset.offset, reset.bytes, 0, nullptr, event);
}

Failure OpenClDevice::failure(cl_int code, Stage stage, const std::string& what) {
  if (poisoned_) return *poisoned_;
  Failure result{outcome_of(code, stage),
                 fmt::format("cannot {} on {} ({}): {}", what, info().id, info().name, error_text(code))};
  if (result.outcome == Outcome::crash || result.outcome == Outcome::lost_device) poisoned_ = result;
  return result;
}

std::optional<Failure> OpenClDevice::run(const Launch& launch) {
  if (poisoned_) return poisoned_;
  if (auto failed = check(launch)) return failed;
  Prepared prepared;
  if (auto failed = prepare(launch, prepared)) return failed;
  const std::string what = "run kernel " + dynamic_cast<const OpenClKernel&>(*launch.kernel).name;
  cl_event raw = nullptr;
  cl_int code = enqueue_kernel(prepared, &raw);
  const EventOwner event = own(raw);
  if (code != CL_SUCCESS) return failure(code, Stage::enqueue, what);
  code = api_->clFinish(queue_.get());
  // Some drivers report a fault only in the event's status, others only in the queue's.
  cl_int status = CL_COMPLETE;
  const cl_int asked =
      api_->clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  if (code == CL_SUCCESS) code = asked;
  if (status < 0) code = status;
  if (code != CL_SUCCESS) return failure(code, Stage::execution, what);
  return std::nullopt;
}

tl::expected<std::unique_ptr<Batch>, Failure> OpenClDevice::make_batch(const std::vector<Step>& steps,
                                                                       unsigned repetitions) {
  if (poisoned_) return tl::unexpected(*poisoned_);
  for (const Step& step : steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    if (auto failed = check(*launch)) return tl::unexpected(*failed);
  }
  auto result = std::make_unique<OpenClBatch>(*this, steps, repetitions);
  if (auto failed = result->prepare()) return tl::unexpected(*failed);
  return result;
}

// ---- batches

OpenClBatch::~OpenClBatch() {
  if (!replays_.empty()) device_.api().clFinish(device_.queue());
}

std::optional<Failure> OpenClBatch::prepare() {
  prepared_.clear();
  prepared_.resize(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto* launch = std::get_if<Launch>(&steps_[i]);
    if (launch == nullptr) continue;
    if (auto failed = device_.prepare(*launch, prepared_[i])) return failed;
    shares_kernels_ =
        shares_kernels_ || std::any_of(prepared_.begin(), prepared_.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Prepared& p) { return p.kernel == prepared_[i].kernel; });
  }
  return std::nullopt;
}

cl_int OpenClBatch::enqueue_step(std::size_t index, cl_event* event) {
  if (const auto* reset = std::get_if<ResetCopy>(&steps_[index])) return device_.enqueue_reset(*reset, event);
  return device_.enqueue_kernel(prepared_[index], event);
}

std::optional<Failure> OpenClBatch::enqueue() {
  // A kernel has one set of arguments: another launch of it may have set others since.
  if (auto failed = prepare()) return failed;
  const std::size_t commands = repetitions_ * steps_.size();
  Replay replay;
  std::size_t done = 0;
  const auto add = [&](auto&& enqueue_one) -> std::optional<Failure> {
    cl_event raw = nullptr;
    const bool timed = done == 0 || done + 1 == commands;
    const cl_int code = enqueue_one(timed ? &raw : nullptr);
    if (code != CL_SUCCESS) return device_.failure(code, Stage::enqueue, "queue a batch of launches");
    if (timed) (done == 0 ? replay.first : replay.last) = device_.own(raw);
    ++done;
    return std::nullopt;
  };
  for (unsigned i = 0; i < repetitions_; ++i) {
    for (std::size_t j = 0; j < steps_.size(); ++j) {
      if (const auto* launch = std::get_if<Launch>(&steps_[j]); launch != nullptr && shares_kernels_) {
        prepared_[j].sub_buffers.clear();
        if (auto failed = device_.prepare(*launch, prepared_[j])) return failed;
      }
      if (auto failed = add([&](cl_event* event) { return enqueue_step(j, event); })) return failed;
    }
  }
  if (commands == 0) return Failure{Outcome::measurement, "a batch without launches cannot be timed"};
  replays_.push_back(std::move(replay));
  const cl_int code = device_.api().clFlush(device_.queue());
  if (code != CL_SUCCESS) return device_.failure(code, Stage::execution, "start a batch of launches");
  return std::nullopt;
}

tl::expected<std::optional<double>, Failure> OpenClBatch::poll() {
  if (replays_.empty()) return std::optional<double>{};
  cl_int status = CL_COMPLETE;
  const cl_int code = device_.api().clGetEventInfo(replays_.front().end(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                   sizeof status, &status, nullptr);
  if (code == CL_SUCCESS && status > CL_COMPLETE) return std::optional<double>{};
  auto seconds = take_oldest(code == CL_SUCCESS ? status : code);
  if (!seconds) return tl::unexpected(seconds.error());
  return std::optional<double>{*seconds};
}

tl::expected<double, Failure> OpenClBatch::wait() {
  if (replays_.empty()) return tl::unexpected(Failure{Outcome::measurement, "no batch of launches is queued"});
  const cl_event event = replays_.front().end();
  return take_oldest(device_.api().clWaitForEvents(1, &event));
}

tl::expected<double, Failure> OpenClBatch::take_oldest(cl_int status) {
  const Replay replay = std::move(replays_.front());
  replays_.pop_front();
  if (status < 0) return tl::unexpected(device_.failure(status, Stage::execution, "run a batch of launches"));
  cl_ulong start = 0;
  cl_ulong end = 0;
  cl_int code = device_.api().clGetEventProfilingInfo(replay.first.get(), CL_PROFILING_COMMAND_START, sizeof start,
                                                      &start, nullptr);
  if (code == CL_SUCCESS) {
    code = device_.api().clGetEventProfilingInfo(replay.end(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  }
  if (code != CL_SUCCESS || end < start) {
    return tl::unexpected(Failure{
        Outcome::measurement, fmt::format("the driver of {} gives no valid times of a kernel: {}", device_.info().id,
                                          code == CL_SUCCESS ? "it ends before it starts" : error_text(code))});
  }
  return static_cast<double>(end - start) * 1e-9;
}

}  // namespace

Outcome outcome_of(cl_int code, Stage stage) {
  switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_DEVICE_NOT_FOUND:
      return Outcome::lost_device;
    case CL_INVALID_COMMAND_QUEUE:
    case CL_INVALID_CONTEXT:
      return Outcome::crash;
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
      return stage == Stage::enqueue ? Outcome::resources : Outcome::crash;
    default:
      // Positive codes and those of the specification's range are answers; anything else is the driver's own, which
      // NVIDIA's uses for illegal addresses.
      if (stage == Stage::execution || code < -1100) return Outcome::crash;
      return Outcome::launch;
  }
}

std::unique_ptr<Device> make_device(std::shared_ptr<const Api> api, FoundDevice device) {
  return std::make_unique<OpenClDevice>(std::move(api), std::move(device));
}

}  // namespace wattune::opencl
