#include "evaluate/steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "problem/argument_data.hpp"

namespace wattune {

namespace {

/// A failure on its way through the launch function, which knows of exceptions only.
struct Refused {
  Failure failure;
};

class Recorder final : public LaunchRecorder {
 public:
  Recorder(const Problem& problem, const ArgumentSet& arguments, LoadedBinary& binary, const Launch& plain,
           const std::vector<Value>& configuration)
      : problem_(problem),
        arguments_(arguments),
        binary_(binary),
        plain_(plain),
        values_(configuration),
        configuration_(named(problem, configuration)) {}

  [[nodiscard]] const Configuration& configuration() const override { return configuration_; }
  [[nodiscard]] const std::vector<std::int64_t>& problem_size() const override { return problem_.problem_size; }
  [[nodiscard]] Size3 grid() const override { return plain_.shape.grid; }
  [[nodiscard]] Size3 block() const override { return plain_.shape.block; }

  void launch(const KernelLaunch& wanted) override {
    Launch launch = plain_;
    if (!wanted.kernel.empty()) {
      auto kernel = binary_.kernel(wanted.kernel);
      if (!kernel) throw Refused{kernel.error()};
      launch.kernel = *kernel;
    }
    if (wanted.grid) launch.shape.grid = *wanted.grid;
    if (wanted.block) launch.shape.block = *wanted.block;
    if (wanted.shared_bytes) launch.shared_bytes = *wanted.shared_bytes;
    if (!wanted.arguments.empty() || !wanted.scalars.empty()) launch.arguments = arguments_for(wanted);
    steps.emplace_back(std::move(launch));
  }

  void zero(const std::string& argument) override {
    const BufferArgument target = buffer(argument);
    steps.emplace_back(ResetCopy{target.buffer, nullptr, target.offset, target.bytes});
  }

  void copy(const std::string& to, const std::string& from) override {
    const BufferArgument target = buffer(to);
    const BufferArgument source = buffer(from);
    if (target.bytes != source.bytes) {
      throw UsageError(
          fmt::format("cannot copy argument '{}' ({} bytes) to '{}' ({} bytes)", from, source.bytes, to, target.bytes));
    }
    // All arguments lie at the same offset of their buffers.
    steps.emplace_back(ResetCopy{target.buffer, source.buffer, target.offset, target.bytes});
  }

  Steps steps;

 private:
  [[nodiscard]] std::size_t index(const std::string& name) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      if (problem_.arguments[i].name == name) return i;
      names.push_back(problem_.arguments[i].name);
    }
    throw UsageError(fmt::format("there is no argument '{}'; there are: {}", name, fmt::join(names, ", ")));
  }

  [[nodiscard]] BufferArgument buffer(const std::string& name) const {
    const auto argument = arguments_.kernel_argument(index(name), values_);
    if (argument && std::holds_alternative<BufferArgument>(*argument)) return std::get<BufferArgument>(*argument);
    throw UsageError(fmt::format("argument '{}' is not in device memory", name));
  }

  [[nodiscard]] std::vector<KernelArgument> arguments_for(const KernelLaunch& wanted) const {
    std::vector<std::string> names = wanted.arguments;
    if (names.empty()) {
      for (const auto& argument : problem_.arguments) names.push_back(argument.name);
    }
    for (const auto& [name, value] : wanted.scalars) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      throw UsageError(fmt::format("a value is given for argument '{}', which is not passed", name));
    }
    std::vector<KernelArgument> result;
    for (const auto& name : names) {
      const std::size_t position = index(name);
      const auto replaced = std::find_if(wanted.scalars.begin(), wanted.scalars.end(),
                                         [&](const auto& scalar) { return scalar.first == name; });
      if (replaced != wanted.scalars.end()) {
        result.emplace_back(scalar(problem_.arguments[position], replaced->second));
      } else if (auto argument = arguments_.kernel_argument(position, values_)) {
        result.push_back(std::move(*argument));
      } else if (!wanted.arguments.empty()) {
        throw UsageError(fmt::format("argument '{}' is a symbol, which is not passed to kernels", name));
      }
    }
    return result;
  }

  [[nodiscard]] ScalarArgument scalar(const Argument& argument, const Value& value) const {
    if (argument.memory != MemoryKind::scalar) {
      throw UsageError(fmt::format("a value is given for argument '{}', which is no scalar", argument.name));
    }
    if (!value.is_number()) {
      throw UsageError(fmt::format("argument '{}': {} is no number", argument.name, value.str()));
    }
    Fill fill;
    // An integer of 64 bits would lose digits as the double that a constant is.
    fill.kind = value.is_float() ? Fill::Kind::constant : Fill::Kind::generator;
    if (value.is_float()) fill.value = value.as_double();
    fill.expression = std::to_string(value.is_float() ? 0 : value.as_int());
    return {fill_data(problem_, fill, argument.type, 1, argument.name)};
  }

  const Problem& problem_;
  const ArgumentSet& arguments_;
  LoadedBinary& binary_;
  const Launch& plain_;
  const std::vector<Value>& values_;
  Configuration configuration_;
};

bool same_argument(const KernelArgument& a, const KernelArgument& b) {
  if (a.index() != b.index()) return false;
  if (const auto* buffer = std::get_if<BufferArgument>(&a)) {
    const auto& other = std::get<BufferArgument>(b);
    return buffer->buffer == other.buffer && buffer->offset == other.offset && buffer->bytes == other.bytes;
  }
  if (const auto* scalar = std::get_if<ScalarArgument>(&a)) return scalar->bytes == std::get<ScalarArgument>(b).bytes;
  return std::get<LocalArgument>(a).bytes == std::get<LocalArgument>(b).bytes;
}

bool same_step(const Step& a, const Step& b) {
  if (a.index() != b.index()) return false;
  if (const auto* copy = std::get_if<ResetCopy>(&a)) {
    const auto& other = std::get<ResetCopy>(b);
    return copy->target == other.target && copy->source == other.source && copy->offset == other.offset &&
           copy->bytes == other.bytes;
  }
  const auto& launch = std::get<Launch>(a);
  const auto& other = std::get<Launch>(b);
  return launch.kernel == other.kernel && launch.shape.grid == other.shape.grid &&
         launch.shape.block == other.shape.block && launch.shared_bytes == other.shared_bytes &&
         std::equal(launch.arguments.begin(), launch.arguments.end(), other.arguments.begin(), other.arguments.end(),
                    same_argument);
}

}  // namespace

tl::expected<Kernel*, Failure> LoadedBinary::load(const CompileResult& binary, bool& changed) {
  const bool same = binary.entry == binary_.entry && binary.binary == binary_.binary;
  if (!same || kernels_.empty()) {
    changed = true;
    kernels_.clear();
    binary_ = binary;
  }
  return kernel(binary.entry);
}

tl::expected<Kernel*, Failure> LoadedBinary::kernel(const std::string& name) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second.get();
  CompileResult binary = binary_;
  binary.entry = name;
  auto loaded = device_.load(binary);
  if (!loaded) return tl::unexpected(loaded.error());
  // Symbols go by their names in the source; the device knows what the binary calls them.
  if (auto failed = arguments_.write_symbols(**loaded)) return tl::unexpected(*failed);
  return kernels_.emplace(name, std::move(*loaded)).first->second.get();
}

Launch plain_launch(const Problem& problem, const ArgumentSet& arguments, Kernel& kernel,
                    const std::vector<Value>& configuration) {
  Launch launch;
  launch.kernel = &kernel;
  launch.shape = launch_shape(problem, configuration);
  launch.shared_bytes = shared_memory_bytes(problem, configuration);
  launch.arguments = arguments.kernel_arguments(configuration);
  return launch;
}

tl::expected<Steps, Failure> record_steps(const Problem& problem, const ArgumentSet& arguments, LoadedBinary& binary,
                                          const LaunchFunction& function, const Launch& plain,
                                          const std::vector<Value>& configuration) {
  const auto failed = [&](std::string_view reason) {
    return tl::unexpected(
        Failure{Outcome::launch, fmt::format("launch function '{}': {}", problem.launch_function, reason)});
  };
  Recorder recorder(problem, arguments, binary, plain, configuration);
  try {
    function(recorder);
  } catch (Refused& refused) {
    refused.failure.message = fmt::format("launch function '{}': {}", problem.launch_function, refused.failure.message);
    return tl::unexpected(refused.failure);
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("it threw something that is no std::exception");
  }
  const bool launches = std::any_of(recorder.steps.begin(), recorder.steps.end(),
                                    [](const Step& step) { return std::holds_alternative<Launch>(step); });
  if (!launches) return failed("it recorded no launch");
  return std::move(recorder.steps);
}

std::optional<Failure> run_steps(Device& device, const Steps& steps) {
  for (const Step& step : steps) {
    if (const auto* launch = std::get_if<Launch>(&step)) {
      if (auto failed = device.run(*launch)) return failed;
      continue;
    }
    const auto& copy = std::get<ResetCopy>(step);
    if (copy.source == nullptr) {
      device.fill(*copy.target, copy.offset, copy.bytes, std::byte{0});
    } else {
      device.copy(*copy.target, copy.offset, *copy.source, copy.offset, copy.bytes);
    }
  }
  return std::nullopt;
}

std::optional<Failure> check_steps(Device& device, const Steps& steps) {
  for (const Step& step : steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    if (auto failed = device.check(*launch)) return failed;
  }
  return std::nullopt;
}

bool same_steps(const Steps& a, const Steps& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_step);
}

const Launch& first_launch(const Steps& steps) {
  return std::get<Launch>(
      *std::find_if(steps.begin(), steps.end(), [](const Step& step) { return std::holds_alternative<Launch>(step); }));
}

Configuration named(const Problem& problem, const std::vector<Value>& values) {
  std::vector<std::pair<std::string, Value>> entries;
  for (std::size_t i = 0; i < values.size(); ++i) entries.emplace_back(problem.parameters[i].name, values[i]);
  return Configuration(std::move(entries));
}

}  // namespace wattune
