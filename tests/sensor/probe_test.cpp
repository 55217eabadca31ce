#include "sensor/probe.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "board/description.hpp"
#include "power/nvml/nvml_meter.hpp"
#include "simulated_machine.hpp"

namespace wattune {
namespace {

using simgpu::CounterDescription;
using simgpu::SensorDescription;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// Probes simulated boards, and compares with what their descriptions say.
class Probing : public SimulatedMachine {
 protected:
  SensorProfile probe(const std::string& board, const char* faults = nullptr) {
    const ScopedEnvironment gpus("WATTUNE_SIM_GPUS", board.c_str());
    const ScopedEnvironment wrong("WATTUNE_SIM_FAULTS", faults);
    const auto path = library("probe");
    const auto cuda = backend(path);
    const auto devices = cuda->devices();
    const auto& info = devices.at(0);
    std::string why_not;
    const auto meter = open_nvml_meter(info.uuid, info.pci, &why_not, path);
    if (!meter) throw std::runtime_error(why_not);
    const auto device = cuda->open(info.id);
    const auto compiler = cuda->compiler(info.id);
    Clock& clock = *device->clock();
    const double began = clock.now();
    SwitchedLoad load(*device, *compiler, "CUDA", clock);
    SensorProfile profile = probe_sensors(*meter, load, clock, {});
    seconds_ = clock.now() - began;
    for (const auto& line : in_words(profile)) std::cout << board << ": " << line << '\n';
    return profile;
  }

  static void compare(const std::optional<ReadingProfile>& found, const SensorDescription& truth, const char* what,
                      double tolerance = 0.06) {
    ASSERT_EQ(found.has_value(), truth.present()) << what;
    if (!found) return;
    EXPECT_NEAR(found->period, truth.period, 0.01 * truth.period) << what;
    ASSERT_TRUE(found->window) << what;
    EXPECT_NEAR(*found->window, truth.window, tolerance * truth.window) << what;
    EXPECT_NEAR(*found->duty, std::min(1.0, truth.window / truth.period), tolerance) << what;
    EXPECT_NEAR(found->rise.value_or(0), truth.rise, 0.2 * truth.rise + 1e-12) << what;
  }

  double seconds_ = 0;
};

class ProbingEveryBoard : public Probing, public testing::WithParamInterface<const char*> {};

TEST_P(ProbingEveryBoard, finds_what_the_description_says) {
  const auto& truth = *simgpu::find_description(GetParam());
  const SensorProfile profile = probe(GetParam());
  compare(profile.average, truth.sensors.average, "average");
  compare(profile.instant, truth.sensors.instant, "instant");
  compare(profile.samples, truth.sensors.samples, "samples");
  const CounterDescription& counter = truth.sensors.counter;
  // Its slow calls blur when it steps.
  compare(profile.counter, {counter.period, counter.period, 0, 0}, "counter",
          0.02 + 0.7 * truth.calls.counter / counter.period);
  EXPECT_NEAR(profile.counter->call, truth.calls.counter, 0.5 * truth.calls.counter);
  EXPECT_NEAR(profile.counter_over_readings.value(), 1, 0.01);
  EXPECT_GT(*profile.load_w, 1.3 * *profile.idle_context_w);
  EXPECT_THAT(profile.warnings, IsEmpty());
  EXPECT_LT(seconds_, 45);
}

INSTANTIATE_TEST_SUITE_P(boards, ProbingEveryBoard,
                         testing::Values("h200", "a100-pcie-40gb", "rtx-a4000", "rtx-a6000", "titan-rtx", "v100-pcie"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(Probing, says_in_plain_words_what_a_board_sees) {
  const auto lines = in_words(probe("a100-pcie-40gb"));
  EXPECT_THAT(lines, Contains(HasSubstr("sees a quarter of the time; wattune uses its energy counter")));
}

TEST_F(Probing, takes_no_notice_of_readings_that_are_stuck_and_says_so) {
  const SensorProfile profile = probe("h200", "power_sensor=stale");
  EXPECT_FALSE(profile.average);
  EXPECT_FALSE(profile.instant);
  EXPECT_TRUE(profile.counter);
  EXPECT_FALSE(profile.counter_over_readings);
  EXPECT_THAT(profile.warnings, Contains(HasSubstr("the instantaneous power reading changed")));
}

TEST_F(Probing, tells_a_counter_that_does_not_move) {
  const SensorProfile profile = probe("h200", "energy_counter:1+=still");
  EXPECT_FALSE(profile.counter);
  EXPECT_THAT(profile.warnings, Contains(HasSubstr("the energy counter moved 0 times")));
  EXPECT_GT(*profile.load_w, 300);
}

TEST_F(Probing, does_without_a_counter) {
  const SensorProfile profile = probe("h200", "nvml.total_energy:1+=not_supported");
  EXPECT_FALSE(profile.counter);
  EXPECT_THAT(profile.warnings, IsEmpty());
  EXPECT_THAT(in_words(profile), Contains(HasSubstr("wattune uses the driver's record of power")));
}

}  // namespace
}  // namespace wattune
