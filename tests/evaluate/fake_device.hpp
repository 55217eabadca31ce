#pragma once
// A device whose memory is the host's, whose kernels are functions and whose time is what the test says.

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/clock.hpp"

namespace wattune {

struct FakeBuffer final : Buffer {
  explicit FakeBuffer(std::size_t size) : memory(size) {}
  [[nodiscard]] std::size_t bytes() const noexcept override { return memory.size(); }
  std::vector<std::byte> memory;
};

/// What a fake kernel sees of its launch.
struct FakeLaunch {
  const Launch& launch;
  /// The memory of an argument that is a buffer. Its neighbourhood may be written, as on a real device.
  template <typename T>
  [[nodiscard]] T* pointer(std::size_t index) const {
    const auto& argument = std::get<BufferArgument>(launch.arguments.at(index));
    return reinterpret_cast<T*>(dynamic_cast<FakeBuffer*>(argument.buffer)->memory.data() + argument.offset);
  }
  template <typename T>
  [[nodiscard]] T scalar(std::size_t index) const {
    T value;
    std::memcpy(&value, std::get<ScalarArgument>(launch.arguments.at(index)).bytes.data(), sizeof value);
    return value;
  }
};

struct FakeKernel final : Kernel {
  [[nodiscard]] std::map<std::string, std::int64_t> resources() const override { return {{"registers", 32}}; }
  std::function<void(const FakeLaunch&)> function;
  std::function<double(unsigned)> seconds;  ///< of the n-th timed launch
  unsigned timed = 0;
};

class FakeDevice final : public Device {
 public:
  using Function = std::function<void(const FakeLaunch&)>;

  /// A kernel and the binary by which it is loaded.
  CompileResult add(
      const std::string& name, Function function,
      std::function<double(unsigned)> seconds = [](unsigned) { return 1e-3; }) {
    functions_[name] = {std::move(function), std::move(seconds)};
    CompileResult binary;
    binary.entry = name;
    binary.binary = {1, 2, 3};
    binary.resources["spill_bytes"] = 4;
    return binary;
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::size_t buffer_alignment() const noexcept override { return 256; }
  [[nodiscard]] bool constant_arguments_are_symbols() const noexcept override { return constants_are_symbols; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<FakeBuffer>(bytes); }
  void write(Buffer& buffer, std::size_t offset, std::span<const std::byte> data) override {
    if (lost) throw DeviceError("the device is gone");
    std::copy(data.begin(), data.end(), memory(buffer).begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void read(const Buffer& buffer, std::size_t offset, std::span<std::byte> data) override {
    if (lost) throw DeviceError("the device is gone");
    const auto& from = dynamic_cast<const FakeBuffer&>(buffer).memory;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), data.size(), data.begin());
  }
  void copy(Buffer& target, std::size_t target_offset, const Buffer& source, std::size_t source_offset,
            std::size_t bytes) override {
    std::memcpy(memory(target).data() + target_offset,
                dynamic_cast<const FakeBuffer&>(source).memory.data() + source_offset, bytes);
  }
  void fill(Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) override {
    std::memset(memory(buffer).data() + offset, std::to_integer<int>(value), bytes);
  }

  tl::expected<std::unique_ptr<Kernel>, Failure> load(const CompileResult& binary) override {
    ++loads;
    auto kernel = std::make_unique<FakeKernel>();
    std::tie(kernel->function, kernel->seconds) = functions_.at(binary.entry);
    return kernel;
  }
  std::optional<Failure> write_symbol(Kernel&, const std::string& name, std::span<const std::byte> data) override {
    symbols[name].assign(data.begin(), data.end());
    return std::nullopt;
  }
  std::optional<Failure> check(const Launch& launch) override {
    if (launch.shape.block[0] <= 1024) return std::nullopt;
    return Failure{Outcome::resources, "the block is too large"};
  }
  std::optional<Failure> run(const Launch& launch) override {
    ++runs;
    if (run_failure) return run_failure;
    dynamic_cast<FakeKernel*>(launch.kernel)->function({launch});
    return std::nullopt;
  }
  std::optional<double> occupancy(const Launch&) override { return occupied; }
  tl::expected<std::unique_ptr<Batch>, Failure> make_batch(const std::vector<Step>& steps,
                                                           unsigned repetitions) override {
    return std::make_unique<FakeBatch>(*this, steps, repetitions);
  }

  bool constants_are_symbols = false;
  bool lost = false;
  std::optional<double> occupied;
  std::optional<Failure> run_failure;
  double reset_seconds = 1e-4;
  std::map<std::string, std::vector<std::byte>> symbols;
  int loads = 0;
  int runs = 0;
  unsigned launched = 0;  ///< in batches
  /// Where there is one, replays end when it says so; else at once.
  Clock* clock = nullptr;
  double busy_until = 0;

 private:
  class FakeBatch final : public Batch {
   public:
    FakeBatch(FakeDevice& device, std::vector<Step> steps, unsigned launches)
        : device_(device), steps_(std::move(steps)), launches_(launches) {}
    [[nodiscard]] unsigned launches() const noexcept override { return launches_; }
    std::optional<Failure> enqueue() override {
      double seconds = 0;
      for (unsigned i = 0; i < launches_; ++i) {
        for (const Step& step : steps_) seconds += apply(step);
      }
      if (device_.clock != nullptr) device_.busy_until = std::max(device_.busy_until, device_.clock->now()) + seconds;
      replays_.push_back({device_.busy_until, seconds});
      return std::nullopt;
    }
    [[nodiscard]] unsigned outstanding() const noexcept override { return static_cast<unsigned>(replays_.size()); }
    tl::expected<std::optional<double>, Failure> poll() override {
      if (replays_.empty()) return std::optional<double>{};
      if (device_.clock != nullptr && replays_.front().end > device_.clock->now()) return std::optional<double>{};
      return std::optional<double>{take()};
    }
    tl::expected<double, Failure> wait() override {
      if (device_.clock != nullptr) device_.clock->sleep_until(replays_.front().end);
      return take();
    }

   private:
    struct Replay {
      double end;
      double seconds;
    };
    double apply(const Step& step) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        auto& kernel = dynamic_cast<FakeKernel&>(*launch->kernel);
        kernel.function({*launch});
        ++device_.launched;
        return kernel.seconds(kernel.timed++);
      }
      const auto& reset = std::get<ResetCopy>(step);
      if (reset.source == nullptr) {
        device_.fill(*reset.target, reset.offset, reset.bytes, std::byte{0});
      } else {
        device_.copy(*reset.target, reset.offset, *reset.source, reset.offset, reset.bytes);
      }
      return device_.reset_seconds;
    }
    double take() {
      const double seconds = replays_.front().seconds;
      replays_.pop_front();
      return seconds;
    }

    FakeDevice& device_;
    std::vector<Step> steps_;
    unsigned launches_;
    std::deque<Replay> replays_;
  };

  static std::vector<std::byte>& memory(Buffer& buffer) { return dynamic_cast<FakeBuffer&>(buffer).memory; }

  DeviceInfo info_;
  std::map<std::string, std::pair<Function, std::function<double(unsigned)>>> functions_;
};

}  // namespace wattune
