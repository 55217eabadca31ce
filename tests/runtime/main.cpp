// A program that is its own worker. What it registers is used by runtime_test.cpp.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "wattune/wattune.hpp"

namespace {

using wattune::Window;
using wattune::WindowKind;

/// Says in which process it is, and counts what it is called for.
class Counting final : public wattune::Observer {
 public:
  explicit Counting(WindowKind kind) : kind_(kind) {}
  [[nodiscard]] WindowKind window() const override { return kind_; }
  void before(const Window& window) override { ordered_ = window.launches == 0; }
  void during(const Window&) override { ++during_; }
  Observations after(const Window& window) override {
    const double launches = static_cast<double>(window.launches);
    switch (kind_) {
      case WindowKind::loop:
        return {
            {"process", ::getpid()}, {"ordered", ordered_ && window.seconds > 0 ? 1 : 0}, {"loop_launches", launches}};
      case WindowKind::batch:
        return {{"batch_launches", launches}};
      case WindowKind::launch:
        return {{"single_launches", launches}};
    }
    return {};
  }

 private:
  WindowKind kind_;
  bool ordered_ = false;
  int during_ = 0;
};

/// Fails in its own ways for WAY 2 and 3.
class Failing final : public wattune::Observer {
 public:
  Observations after(const Window& window) override {
    const auto way = window.configuration.integer("WAY");
    if (way == 2) throw std::runtime_error("the instrument is unplugged");
    if (way == 3) {
      std::signal(SIGSEGV, SIG_DFL);  // OpenCL drivers may have set a handler of their own
      std::raise(SIGSEGV);
    }
    return {{"reading", 10.0 * static_cast<double>(way)}};
  }
};

template <typename Make>
wattune::ObserverFactory factory(Make make) {
  return [make](const wattune::DeviceDescription&) -> std::unique_ptr<wattune::Observer> { return make(); };
}

void register_all() {
  wattune::register_observer("counting", {{"process", ""}, {"ordered", ""}, {"loop_launches", ""}},
                             factory([] { return std::make_unique<Counting>(WindowKind::loop); }));
  wattune::register_observer("batches", {{"batch_launches", ""}},
                             factory([] { return std::make_unique<Counting>(WindowKind::batch); }));
  wattune::register_observer("singles", {{"single_launches", ""}},
                             factory([] { return std::make_unique<Counting>(WindowKind::launch); }));
  wattune::register_observer("failing", {{"reading", "K"}}, factory([] { return std::make_unique<Failing>(); }));
  wattune::register_reference("six", [](wattune::HostArguments& arguments) {
    for (float& y : arguments.elements<float>("y")) y = 6;
  });
  wattune::register_reference("nine", [](wattune::HostArguments& arguments) {
    for (float& y : arguments.elements<float>("y")) y = 9;
  });
  // 2 * 3, then twice 1 and once 1 more.
  wattune::register_launch_function("with_additions", [](wattune::LaunchRecorder& record) {
    record.launch();
    const wattune::KernelLaunch add{.kernel = "add", .arguments = {"y", "a"}, .scalars = {{"a", 1}}};
    record.launch(add);
    record.launch(add);
    record.launch(add);
  });
  wattune::register_launch_function("aborting", [](wattune::LaunchRecorder& record) {
    if (record.configuration().integer("WAY") == 2) std::abort();
    if (record.configuration().integer("WAY") == 3) throw std::runtime_error("three will not do");
    record.launch();
  });
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  const wattune::Runtime runtime(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
