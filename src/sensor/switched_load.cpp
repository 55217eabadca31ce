#include "sensor/switched_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.hpp"

namespace wattune {

namespace {

constexpr unsigned block = 256;
constexpr unsigned blocks_per_unit = 4;
constexpr unsigned chains = 4;
/// Of one launch: short enough to end a burst where it is to end, long enough that launches follow without a gap.
constexpr double launch_seconds = 0.5e-3;
constexpr unsigned launches_of_long = 16;

/// Chains of multiply-adds that stay in registers: power that does not depend on data, nor on memory.
constexpr const char* body = R"(
  float a = 0.1f + 1e-6f * (float)(index & 1023), b = 0.2f, c = 0.3f, d = 0.4f;
  for (int i = 0; i < rounds; ++i) {
    a = a * 0.999f + 0.001f; b = b * 0.998f + 0.002f; c = c * 0.997f + 0.003f; d = d * 0.996f + 0.004f;
  }
  out[index] = a + b + c + d;
}
)";

std::string source_of(const std::string& language) {
  if (language == "OpenCL") {
    return std::string(
               "__kernel void wattune_sensor_load(__global float* out, int rounds) {\n"
               "  const int index = get_global_id(0);\n") +
           body;
  }
  return std::string(
             "extern \"C\" __global__ void wattune_sensor_load(float* out, int rounds) {\n"
             "  const int index = blockIdx.x * blockDim.x + threadIdx.x;\n") +
         body;
}

ScalarArgument scalar(int value) {
  ScalarArgument argument;
  argument.bytes.resize(sizeof value);
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

[[noreturn]] void fail(const std::string& message) {
  throw DeviceError("probing the sensors: the probe's own kernel failed: " + message.substr(0, message.find('\n')));
}

}  // namespace

SwitchedLoad::SwitchedLoad(Device& device, Compiler& compiler, const std::string& language, Clock& clock)
    : device_(device), clock_(clock), blocks_(0) {
  CompileRequest request;
  request.device = device.info().id;
  request.source = source_of(language);
  request.file = language == "OpenCL" ? "sensor_load.cl" : "sensor_load.cu";
  request.kernel_name = "wattune_sensor_load";
  const auto binary = compiler.compile(request);
  if (!binary) fail(binary.error().message);
  auto kernel = device.load(*binary);
  if (!kernel) fail(kernel.error().message);
  kernel_ = std::move(*kernel);
  blocks_ = blocks_per_unit * std::max(1U, device.info().compute_units);
  const std::size_t bytes = sizeof(float) * blocks_ * block;
  out_ = device.allocate(bytes);
  launch_.kernel = kernel_.get();
  launch_.shape.block = {block, 1, 1};
  launch_.arguments = {BufferArgument{out_.get(), 0, bytes}, scalar(1)};
  prepare();
}

SwitchedLoad::~SwitchedLoad() = default;

void SwitchedLoad::prepare() {
  launch_.shape.grid = {blocks_, 1, 1};
  find_rounds();
  short_ = make_piece(1);
  long_ = make_piece(launches_of_long);
}

bool SwitchedLoad::shrink() {
  if (blocks_ < 2 || blocks_ * 16 < blocks_per_unit * device_.info().compute_units) return false;
  blocks_ /= 2;
  prepare();
  return true;
}

/// The first launches are slower than the others; clocks rise meanwhile.
void SwitchedLoad::find_rounds() {
  rounds_ = 2000;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Piece piece = make_piece(4);
    const double each = piece.seconds / 4;
    if (!(each > 0)) fail("a launch took no time");
    rounds_ = static_cast<unsigned>(std::clamp(rounds_ * launch_seconds / each, 1.0, 1e8));
  }
}

SwitchedLoad::Piece SwitchedLoad::make_piece(unsigned launches) {
  launch_.arguments[1] = scalar(static_cast<int>(rounds_));
  device_.expect_work(2.0 * chains * static_cast<double>(blocks_ * block) * rounds_, 0);
  auto batch = device_.batch(launch_, launches, {});
  if (!batch) fail(batch.error().message);
  Piece piece{std::move(*batch), 0};
  for (int i = 0; i < 3; ++i) {
    if (const auto failed = piece.batch->enqueue()) fail(failed->message);
    const auto seconds = piece.batch->wait();
    if (!seconds) fail(seconds.error().message);
    piece.seconds = *seconds;
  }
  return piece;
}

double SwitchedLoad::shortest() const noexcept {
  return short_.seconds;
}

void SwitchedLoad::switch_on(double seconds) {
  const auto longs = static_cast<unsigned>(seconds / long_.seconds);
  const double rest = seconds - longs * long_.seconds;
  const auto shorts = static_cast<unsigned>(std::max(longs == 0 ? 1L : 0L, std::lround(rest / short_.seconds)));
  began_ = clock_.now();
  asked_ = began_;
  device_seconds_ = 0;
  on_ = true;
  for (Piece* piece : {&long_, &short_}) {
    for (unsigned i = 0; i < (piece == &long_ ? longs : shorts); ++i) {
      if (const auto failed = piece->batch->enqueue()) fail(failed->message);
    }
  }
}

void SwitchedLoad::take(Piece& piece) {
  while (piece.batch->outstanding() > 0) {
    const auto seconds = piece.batch->poll();
    if (!seconds) fail(seconds.error().message);
    if (!*seconds) return;
    device_seconds_ += **seconds;
  }
}

/// The end lies between the last question and this one, and no earlier than what has run took.
void SwitchedLoad::note_end() {
  on_ = false;
  const double now = clock_.now();
  bursts_.push_back({began_, std::clamp(began_ + device_seconds_, std::min(asked_, now), now)});
}

bool SwitchedLoad::running() {
  if (!on_) return false;
  const double now = clock_.now();
  take(long_);
  take(short_);
  if (long_.batch->outstanding() + short_.batch->outstanding() > 0) {
    asked_ = now;
    return true;
  }
  note_end();
  return false;
}

void SwitchedLoad::finish() {
  if (!on_) return;
  for (Piece* piece : {&long_, &short_}) {
    while (piece->batch->outstanding() > 0) {
      const auto seconds = piece->batch->wait();
      if (!seconds) fail(seconds.error().message);
      device_seconds_ += *seconds;
    }
  }
  note_end();
}

}  // namespace wattune
