// Tunes a kernel with a reference, an observer and a launch function of this program's own.
//
//   axpy [DEVICE]     for example: axpy opencl:0

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "wattune/wattune.hpp"

namespace {

/// How busy the machine was while the kernel ran.
class HostLoad final : public wattune::Observer {
 public:
  Observations after(const wattune::Window&) override {
    double load = 0;
    if (::getloadavg(&load, 1) != 1) return {};
    return {{"host_load", load}};
  }
};

/// What the launch function below leaves: y + a x - a x, rounded as the kernel rounds.
void axpy(wattune::HostArguments& arguments) {
  const auto y = arguments.elements<float>("y");
  const auto x = arguments.elements<float>("x");
  const auto a = arguments.scalar<float>("a");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = (y[i] + a * x[i]) - a * x[i];
}

/// Two launches that undo each other, so that repeated measurements do the same work.
void back_and_forth(wattune::LaunchRecorder& record) {
  record.launch();
  record.launch({.scalars = {{"a", -2.0}}});
}

void report(const wattune::TunedConfiguration& best) {
  std::printf("best: %s (%s)\n", best.configuration.text().c_str(), best.verification.c_str());
  for (const auto& [name, measured] : best.quantities) {
    std::printf("  %-14s %.4g %s\n", name.c_str(), measured.value, measured.unit.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  wattune::register_reference("axpy", axpy);
  wattune::register_launch_function("back_and_forth", back_and_forth);
  wattune::register_observer("host_load", {{"host_load", ""}},
                             [](const wattune::DeviceDescription&) { return std::make_unique<HostLoad>(); });
  // From here on the program can be its own worker: a kernel that crashes does not end it.
  const wattune::Runtime runtime(argc, argv);
  try {
    wattune::TuningRequest request;
    request.file = EXAMPLE_FOLDER "/axpy.json";
    if (argc > 1) request.device = argv[1];
    request.on_evaluation = [](const wattune::TunedConfiguration& configuration,
                               const wattune::TuningProgress& progress) {
      std::printf("%zu/%zu %s: %s\n", progress.evaluated, progress.planned, configuration.configuration.text().c_str(),
                  configuration.ok() ? "ok" : configuration.message.c_str());
      return true;
    };
    report(wattune::tune(request).best());
  } catch (const wattune::Error& error) {
    std::fprintf(stderr, "axpy: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
