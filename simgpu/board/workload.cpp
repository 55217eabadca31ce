#include "board/workload.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <string_view>

#include "board/random.hpp"

namespace wattune::simgpu {

namespace {

constexpr unsigned warp_threads = 32;
/// What the best code reaches of a board's peak, in computing and in moving data.
constexpr double best_efficiency = 0.92;
/// How fast more threads hide latency: one block of 1024 threads on a multiprocessor of an H200 lacks 1 % of the speed
/// of two.
constexpr double compute_hiding = 9;
constexpr double memory_hiding = 6;
/// The same two launches draw 201 and 310 W above idle.
constexpr double least_activity = 0.3;
constexpr double launch_overhead = 2e-6;  // s

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::uint64_t product(const std::array<unsigned, 3>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
}

double hidden(double occupancy, double rate) {
  return (1 - std::exp(-rate * occupancy)) / (1 - std::exp(-rate));
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = mix(hash ^ static_cast<unsigned char>(c));
  return hash;
}

/// How much slower a variant is than the best code: a factor of at least 1. One part changes smoothly with the values
/// of the defines, each of which has a best value of its own and dislikes some companions; the other has no pattern.
class Roughness {
 public:
  Roughness(const Variant& variant, std::uint64_t salt)
      : variant_(variant), seed_(mix(variant.kernel_hash ^ mix(salt))) {}

  [[nodiscard]] double factor() const { return std::exp(smooth() + rough()); }

 private:
  [[nodiscard]] double smooth() const {
    // In octaves of the value. Costs come and go with it, so that whatever values a define has, some are good.
    constexpr double octaves = 5;
    constexpr double pair_octaves = 3;
    constexpr double cost = 2.8;
    constexpr double pair_cost = 0.9;
    const double count = static_cast<double>(variant_.defines.size());
    double own = 0;
    double pairs = 0;
    for (const auto& define : variant_.defines) {
      const std::uint64_t name = hash_text(define.name);
      own += wave(position(define) / octaves, name);
      for (const auto& other : variant_.defines) {
        if (other.name <= define.name) continue;
        pairs += wave((position(define) - position(other)) / pair_octaves, name ^ mix(hash_text(other.name)));
      }
    }
    // Kernels with many parameters do not spread more than others, and their best variants are not slower: what the
    // mean of many waves lies above the best of them is taken off.
    const double sum = cost * own / std::sqrt(std::max(1.0, count)) + pair_cost * pairs / std::max(1.0, count - 1);
    constexpr double mean_wave = 0.1875;
    constexpr double best_below_mean = 1.2;
    const double mean = mean_wave * (cost * std::sqrt(count) + pair_cost * count / 2);
    return std::max(0.0, sum - std::max(0.0, mean - best_below_mean));
  }

  /// From 0 to at most 1, near 0 for half of the turn, with a size and a phase of its own for every place.
  [[nodiscard]] double wave(double turns, std::uint64_t place) const {
    const double height = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * (turns + uniform(seed_, place + 1)));
    return uniform(seed_, place) * height * height;
  }

  [[nodiscard]] double rough() const {
    // The sum of two waiting times: few variants come near 0, a few are very slow.
    constexpr double cost = 0.25;
    const std::uint64_t place = variant_.variant_hash;
    return -cost * std::log(uniform(seed_, place) * uniform(seed_, mix(place) + 1));
  }

  static double position(const Variant::Define& define) { return std::log2(1 + std::abs(define.value)); }

  const Variant& variant_;
  std::uint64_t seed_;
};

enum Salt : std::uint64_t { salt_compute = 1, salt_memory, salt_activity, salt_registers };

/// Unknown demands are guessed, so that every kernel runs.
Demand complete(const Demand& demand, double threads) {
  constexpr double flop_per_thread = 512;
  constexpr double bytes_per_thread = 16;
  constexpr double bytes_per_flop = 0.02;
  Demand known = demand;
  if (known.flop <= 0 && known.bytes <= 0) return {threads * flop_per_thread, threads * bytes_per_thread};
  if (known.bytes <= 0) known.bytes = known.flop * bytes_per_flop;
  return known;
}

/// SM cycles that it takes to issue the loads and stores of so many bytes: as many as the board's copy takes.
double cycles_of_traffic(const Description& description, double bytes) {
  const Work* copy = find_workload(description, "stream_copy");
  if (copy == nullptr) return 0;
  return bytes * copy->sm_cycles / (copy->memory_seconds * description.limits.memory_bandwidth);
}

}  // namespace

Occupancy occupancy(const Description& description, const LaunchShape& shape) {
  const DeviceLimits& limits = description.limits;
  const std::uint64_t threads = product(shape.block);
  if (threads == 0 || threads > limits.max_threads_per_block || product(shape.grid) == 0) return {};
  if (shape.shared_bytes > limits.shared_bytes_per_block_optin) return {};
  constexpr std::uint64_t register_unit = 256;
  constexpr std::uint64_t shared_unit = 128;
  const std::uint64_t warps = round_up(threads, warp_threads) / warp_threads;
  const std::uint64_t registers =
      warps * round_up(std::uint64_t{std::max(shape.registers_per_thread, 1U)} * warp_threads, register_unit);
  if (registers > limits.registers_per_block) return {};
  const std::uint64_t shared = round_up(shape.shared_bytes + limits.reserved_shared_bytes_per_block, shared_unit);
  std::uint64_t blocks = std::min<std::uint64_t>(limits.max_blocks_per_multiprocessor,
                                                 limits.max_threads_per_multiprocessor / (warps * warp_threads));
  blocks = std::min(blocks, limits.registers_per_multiprocessor / registers);
  if (shared > 0) blocks = std::min(blocks, limits.shared_bytes_per_multiprocessor / shared);
  return {static_cast<unsigned>(blocks), static_cast<double>(blocks * threads) / limits.max_threads_per_multiprocessor};
}

unsigned plausible_registers(const Variant& variant) {
  // Small numbers are more common than large ones.
  constexpr double fewest = 16;
  constexpr double spread = 112;
  const double draw = uniform(mix(variant.kernel_hash ^ mix(salt_registers)), variant.variant_hash);
  constexpr unsigned unit = 2;
  return unit * static_cast<unsigned>((fewest + spread * draw * draw) / unit);
}

Work launch_work(const Description& description, const LaunchShape& shape, const Variant& variant,
                 const Demand& demand) {
  const double blocks = static_cast<double>(product(shape.grid));
  const double threads = static_cast<double>(product(shape.block));
  const Demand needs = complete(demand, blocks * threads);

  // The fullest multiprocessor ends last; the others wait for it.
  const double multiprocessors = description.multiprocessors;
  const double most_blocks = std::ceil(blocks / multiprocessors);
  const double balance = blocks / (most_blocks * multiprocessors);
  const double resident = std::min<double>(occupancy(description, shape).blocks_per_multiprocessor, most_blocks);
  const double occupied = std::min(1.0, resident * threads / description.limits.max_threads_per_multiprocessor);
  // Threads beyond the last full warp do nothing.
  const double warp_use = threads / static_cast<double>(round_up(product(shape.block), warp_threads));

  const double slow_compute = Roughness(variant, salt_compute).factor();
  const double slow_memory = Roughness(variant, salt_memory).factor();
  Work work;
  const double cycles = std::max(needs.flop / (description.limits.flop_per_cycle * multiprocessors),
                                 cycles_of_traffic(description, needs.bytes));
  work.sm_cycles = cycles * slow_compute / (best_efficiency * hidden(occupied, compute_hiding) * balance * warp_use);
  work.memory_seconds = needs.bytes / description.limits.memory_bandwidth * slow_memory /
                        (best_efficiency * hidden(occupied * balance, memory_hiding));
  work.fixed_seconds = launch_overhead;

  // Data from memory makes more wires switch than a chain in registers does: as much as in the board's matrix product.
  const Work* gemm = find_workload(description, "gemm");
  const double gemm_activity = gemm ? gemm->core_activity : 1;
  const double seconds = work.sm_cycles / description.default_clock;
  constexpr double full_traffic = 0.1;
  const double traffic = seconds > 0 ? std::min(1.0, work.memory_seconds / seconds / full_traffic) : 1;
  // A slow variant stalls in part, and in part executes more instructions.
  constexpr double stall_share = 0.55;
  constexpr double activity_spread = 0.12;
  const double own = std::exp(activity_spread * normal(variant.kernel_hash ^ salt_activity, variant.variant_hash));
  work.core_activity = own * (1 + traffic * (gemm_activity - 1)) * std::pow(slow_compute, -stall_share) *
                       (least_activity + (1 - least_activity) * occupied) * balance;
  work.memory_activity = std::pow(slow_memory, -stall_share);
  return work;
}

}  // namespace wattune::simgpu
