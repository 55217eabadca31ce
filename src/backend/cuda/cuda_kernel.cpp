#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backend/cuda/cubin.hpp"
#include "backend/cuda/cuda_device.hpp"

namespace wattune {

namespace {

/// More parameters than any kernel can have: 32 KB of them.
constexpr std::size_t most_parameters = 32764;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

CudaKernel::~CudaKernel() {
  session_->activate();
  session_->driver().module_unload(module_);
}

std::optional<Failure> CudaKernel::find(const CompileResult& binary) {
  const CudaDriver& driver = session_->driver();
  name_ = source_name(binary.entry);
  symbols_ = binary.symbols;
  if (const CudaResult result = driver.module_get_function(&function_, module_, binary.entry.c_str());
      result != CudaResult::success) {
    return session_->failed(result, fmt::format("finding kernel '{}' in its binary", binary.entry));
  }
  // Otherwise the first launch loads it, which may wait for the device and must not happen during a capture.
  if (driver.function_load != nullptr) {
    if (const CudaResult result = driver.function_load(function_); result != CudaResult::success) {
      return session_->failed(result, fmt::format("loading kernel '{}'", name_));
    }
  }
  constexpr std::pair<const char*, CudaFunctionAttribute> attributes[] = {
      {"registers", CudaFunctionAttribute::num_regs},
      {"local_bytes", CudaFunctionAttribute::local_size_bytes},
      {"static_shared_bytes", CudaFunctionAttribute::shared_size_bytes},
      {"constant_bytes", CudaFunctionAttribute::const_size_bytes},
      {"max_work_group", CudaFunctionAttribute::max_threads_per_block},
      {"max_dynamic_shared_bytes", CudaFunctionAttribute::max_dynamic_shared_size_bytes},
  };
  for (const auto& [name, attribute] : attributes) {
    int value = 0;
    if (const CudaResult result = driver.function_get_attribute(&value, attribute, function_);
        result != CudaResult::success) {
      return session_->failed(result, fmt::format("reading {} of kernel '{}'", name, name_));
    }
    resources_[name] = value;
  }
  allowed_shared_ = static_cast<std::size_t>(resources_.extract("max_dynamic_shared_bytes").mapped());
  read_parameters();
  return std::nullopt;
}

void CudaKernel::read_parameters() {
  const CudaDriver& driver = session_->driver();
  if (driver.function_get_parameter == nullptr) return;
  std::vector<std::size_t> sizes;
  while (sizes.size() <= most_parameters) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const CudaResult result = driver.function_get_parameter(function_, sizes.size(), &offset, &bytes);
    if (result == CudaResult::invalid_value) break;  // past the last
    if (result != CudaResult::success) return;
    sizes.push_back(bytes);
  }
  parameters_ = std::move(sizes);
}

std::string CudaKernel::symbol(const std::string& source_name) const {
  const auto found = symbols_.find(source_name);
  return found != symbols_.end() ? found->second : source_name;
}

std::optional<Failure> CudaKernel::allow_shared(std::size_t bytes) {
  if (bytes <= allowed_shared_) return std::nullopt;
  const CudaResult result = session_->driver().function_set_attribute(
      function_, CudaFunctionAttribute::max_dynamic_shared_size_bytes, static_cast<int>(bytes));
  if (result != CudaResult::success) {
    Failure failure =
        session_->failed(result, fmt::format("allowing kernel '{}' {} bytes of shared memory", name_, bytes));
    if (result == CudaResult::invalid_value) failure.outcome = Outcome::resources;
    return failure;
  }
  allowed_shared_ = bytes;
  return std::nullopt;
}

PackedLaunch::PackedLaunch(const Launch& launch)
    : kernel_(static_cast<CudaKernel*>(launch.kernel)), shape_(launch.shape), shared_bytes_(launch.shared_bytes) {
  for (const auto& argument : launch.arguments) {
    std::visit(Overloaded{
                   [&](const BufferArgument& buffer) {
                     const CudaDevicePointer pointer =
                         static_cast<const CudaBuffer*>(buffer.buffer)->range(buffer.offset, buffer.bytes);
                     std::vector<std::byte> value(sizeof pointer);
                     std::memcpy(value.data(), &pointer, sizeof pointer);
                     sizes_.push_back(value.size());
                     values_.push_back(std::move(value));
                   },
                   [&](const ScalarArgument& scalar) {
                     sizes_.push_back(scalar.bytes.size());
                     values_.push_back(scalar.bytes);
                     // The driver reads as many bytes as the kernel's parameter has, which an old one does not tell.
                     values_.back().resize(std::max<std::size_t>(scalar.bytes.size(), 64));
                   },
                   [&](const LocalArgument& local) { shared_bytes_ += local.bytes; },
               },
               argument);
  }
}

CudaResult PackedLaunch::enqueue(const CudaSession& session) {
  std::vector<void*> pointers;
  for (auto& value : values_) pointers.push_back(value.data());
  auto word = [](std::uint64_t value) { return static_cast<unsigned>(value); };  // check() has seen to the range
  return session.driver().launch_kernel(
      kernel_->function(), word(shape_.grid[0]), word(shape_.grid[1]), word(shape_.grid[2]), word(shape_.block[0]),
      word(shape_.block[1]), word(shape_.block[2]), word(shared_bytes_), session.stream(), pointers.data(), nullptr);
}

}  // namespace wattune
