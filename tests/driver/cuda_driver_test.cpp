#include "driver/cuda_driver.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"
#include "fake.hpp"

namespace wattune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <typename Call>
std::string device_error_of(Call call) {
  try {
    call();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), ExitCode::device);
    return error.what();
  }
  return "no error";
}

TEST(CudaDriver, is_taken_from_the_path_given) {
  const auto driver = load_cuda_driver(fake_library("fake_cuda").string());
  EXPECT_EQ(driver->library.path(), fake_library("fake_cuda").string());
  EXPECT_EQ(driver->version(), 13000);
  EXPECT_TRUE(driver->has_graphs());
}

TEST(CudaDriver, is_taken_from_the_environment_where_no_path_is_given) {
  const ScopedEnvironment variable("WATTUNE_CUDA_DRIVER", fake_library("fake_cuda").c_str());
  EXPECT_EQ(load_cuda_driver()->library.path(), fake_library("fake_cuda").string());
}

TEST(CudaDriver, stands_beside_another_one_without_mixing) {
  const auto one = load_cuda_driver(fake_library("fake_cuda").string());
  const auto other = load_cuda_driver(fake_library("fake_cuda_old").string());
  fake_state<FakeCuda>(fake_library("fake_cuda")).version = 13010;
  EXPECT_EQ(one->version(), 13010);
  EXPECT_EQ(other->version(), 13000);
  fake_state<FakeCuda>(fake_library("fake_cuda")).version = 13000;
}

TEST(CudaDriver, is_usable_without_what_old_drivers_lack) {
  const auto driver = load_cuda_driver(fake_library("fake_cuda_old").string());
  EXPECT_FALSE(driver->has_graphs());
  EXPECT_NE(driver->device_get_uuid, nullptr);
  EXPECT_EQ(driver->function_load, nullptr);
}

TEST(CudaDriver, missing_names_the_variable_that_named_it) {
  const ScopedEnvironment variable("WATTUNE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  EXPECT_THAT(device_error_of([] { load_cuda_driver(); }),
              AllOf(HasSubstr("'/nowhere/libcuda.so.1' (from WATTUNE_CUDA_DRIVER)"), HasSubstr("correct the path")));
}

TEST(CudaDriver, missing_says_where_it_was_looked_for_and_what_to_install) {
  const ScopedEnvironment variable("WATTUNE_CUDA_DRIVER", nullptr);
  const ScopedEnvironment folders("LD_LIBRARY_PATH", "/some/folder");
  const std::string message = device_error_of([] { load_cuda_driver(); });
  if (message == "no error") GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_THAT(message, AllOf(HasSubstr("libcuda.so.1"), HasSubstr("LD_LIBRARY_PATH (/some/folder)"),
                             HasSubstr("install NVIDIA's driver"), HasSubstr("WATTUNE_CUDA_DRIVER")));
}

TEST(CudaDriver, that_lacks_a_function_is_refused_by_its_name) {
  EXPECT_THAT(device_error_of([] { load_cuda_driver(fake_library("fake_nvml").string()); }),
              AllOf(HasSubstr("libfake_nvml.so"), HasSubstr("cuInit")));
}

TEST(CudaDriver, describes_errors_by_name_and_in_words) {
  const auto driver = load_cuda_driver(fake_library("fake_cuda").string());
  EXPECT_EQ(driver->describe(CudaResult::illegal_address), "CUDA_ERROR_ILLEGAL_ADDRESS (in words)");
  EXPECT_EQ(driver->describe(static_cast<CudaResult>(12345)), "CUDA error 12345");
}

TEST(Nvml, is_initialised_and_shut_down_with_its_last_owner) {
  auto& fake = fake_state<FakeNvml>(fake_library("fake_nvml"));
  fake = {};
  auto nvml = load_nvml(fake_library("fake_nvml").string());
  EXPECT_EQ(fake.initialised, 1);
  auto other = nvml;
  nvml.reset();
  EXPECT_EQ(fake.initialised, 1);
  other.reset();
  EXPECT_EQ(fake.initialised, 0);
}

TEST(Nvml, takes_the_old_name_of_the_clock_event_reasons_where_the_new_one_is_missing) {
  fake_state<FakeNvml>(fake_library("fake_nvml")) = {};
  EXPECT_NE(load_nvml(fake_library("fake_nvml").string())->clock_event_reasons, nullptr);
}

TEST(Nvml, missing_says_where_it_was_looked_for_and_what_to_install) {
  const ScopedEnvironment variable("WATTUNE_NVML", nullptr);
  const std::string message = device_error_of([] { load_nvml(); });
  if (message == "no error") GTEST_SKIP() << "this machine has NVML";
  EXPECT_THAT(message, AllOf(HasSubstr("libnvidia-ml.so.1"), HasSubstr("LD_LIBRARY_PATH"), HasSubstr("NVIDIA's driver"),
                             HasSubstr("WATTUNE_NVML")));
}

TEST(Nvml, that_cannot_start_says_why_and_what_to_do) {
  auto& fake = fake_state<FakeNvml>(fake_library("fake_nvml"));
  fake = {};
  fake.init_result = NvmlResult::driver_not_loaded;
  EXPECT_THAT(device_error_of([] { load_nvml(fake_library("fake_nvml").string()); }),
              AllOf(HasSubstr("Driver Not Loaded"), HasSubstr("kernel module")));
}

/// Toolkits of the test's own, each with an NVRTC of some version.
class FindNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / ("wattune-nvrtc-" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path install(const std::string& place, int major, int minor, std::vector<int> architectures) {
    const auto path = root_ / place;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::copy_file(fake_library("fake_nvrtc"), path);
    auto& fake = fake_state<FakeNvrtc>(path);
    fake.major = major;
    fake.minor = minor;
    fake.architectures = std::move(architectures);
    return path;
  }
  [[nodiscard]] std::string home(const std::string& name) const { return (root_ / name).string(); }

  std::filesystem::path root_;
  ScopedEnvironment no_path_{"PATH", "/nowhere"};
  ScopedEnvironment no_nvrtc_{"WATTUNE_NVRTC", nullptr};
  ScopedEnvironment no_home_{"CUDA_HOME", nullptr};
  ScopedEnvironment no_cuda_path_{"CUDA_PATH", nullptr};
};

// Architectures that no real NVRTC knows, so that one that is installed here is never the answer.
constexpr int ours = 977;

TEST_F(FindNvrtc, takes_the_newest_that_knows_the_architecture) {
  install("a/lib64/libnvrtc.so.12", 12, 4, {ours});
  const auto newer = install("a/lib64/libnvrtc.so.13", 13, 0, {ours});
  install("b/lib64/libnvrtc.so.14", 14, 0, {90});
  const ScopedEnvironment one("CUDA_HOME", home("a").c_str());
  const ScopedEnvironment two("CUDA_PATH", home("b").c_str());
  const auto nvrtc = find_nvrtc({}, ours, 0);
  EXPECT_EQ(nvrtc->library.path(), newer.string());
  EXPECT_EQ(nvrtc->version(), "nvrtc 13.0");
}

TEST_F(FindNvrtc, takes_none_that_is_newer_than_the_driver) {
  const auto older = install("a/lib64/libnvrtc.so.12", 12, 8, {ours});
  install("a/lib64/libnvrtc.so.13", 13, 0, {ours});
  const ScopedEnvironment one("CUDA_HOME", home("a").c_str());
  EXPECT_EQ(find_nvrtc({}, ours, 12040)->library.path(), older.string());
}

TEST_F(FindNvrtc, looks_in_lib_and_in_the_targets_too) {
  const auto one = install("a/lib/libnvrtc.so.12", 12, 0, {ours});
  const auto two = install("b/targets/sbsa-linux/lib/libnvrtc.so.12", 12, 1, {ours});
  {
    const ScopedEnvironment variable("CUDA_HOME", home("a").c_str());
    EXPECT_EQ(find_nvrtc({}, ours, 0)->library.path(), one.string());
  }
  const ScopedEnvironment variable("CUDA_PATH", home("b").c_str());
  EXPECT_EQ(find_nvrtc({}, ours, 0)->library.path(), two.string());
}

TEST_F(FindNvrtc, looks_beside_the_nvcc_on_the_path) {
  const auto library = install("a/lib64/libnvrtc.so.12", 12, 0, {ours});
  std::filesystem::create_directories(root_ / "a/bin");
  std::filesystem::create_directories(root_ / "bin");
  std::ofstream(root_ / "a/bin/nvcc") << "#!/bin/sh\n";
  std::filesystem::permissions(root_ / "a/bin/nvcc", std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(root_ / "a/bin/nvcc", root_ / "bin/nvcc");
  const ScopedEnvironment path("PATH", ("/nowhere:" + home("bin")).c_str());
  EXPECT_EQ(find_nvrtc({}, ours, 0)->library.path(), library.string());
}

TEST_F(FindNvrtc, takes_the_one_that_the_environment_names_and_no_other) {
  const auto named = install("named.so", 11, 8, {ours});
  install("a/lib64/libnvrtc.so.13", 13, 0, {ours});
  const ScopedEnvironment one("CUDA_HOME", home("a").c_str());
  const ScopedEnvironment variable("WATTUNE_NVRTC", named.c_str());
  EXPECT_EQ(find_nvrtc({}, ours, 0)->library.path(), named.string());
}

TEST_F(FindNvrtc, refuses_the_named_one_where_it_does_not_know_the_architecture) {
  const auto named = install("named.so", 11, 8, {80});
  EXPECT_THAT(device_error_of([&] { find_nvrtc(named.string(), 90, 0); }),
              AllOf(HasSubstr("named.so"), HasSubstr("nvrtc 11.8"), HasSubstr("does not know sm_90")));
}

TEST_F(FindNvrtc, lists_each_place_and_what_was_wrong_there_where_it_finds_none) {
  install("a/lib64/libnvrtc.so.12", 12, 0, {80});
  install("a/lib64/libnvrtc.so.13", 13, 0, {ours});
  std::ofstream(root_ / "a/lib64/libnvrtc.so.11.2") << "no library";
  const ScopedEnvironment one("CUDA_HOME", home("a").c_str());
  EXPECT_THAT(device_error_of([] { find_nvrtc({}, ours, 12000); }),
              AllOf(HasSubstr("CUDA_HOME (" + home("a") + ")"), HasSubstr("CUDA_PATH (not set)"),
                    HasSubstr("(nvrtc 12.0) does not know sm_977"),
                    HasSubstr("(nvrtc 13.0) is newer than the driver, which supports CUDA 12.0"),
                    HasSubstr("libnvrtc.so.11.2"), HasSubstr("WATTUNE_NVRTC")));
}

}  // namespace
}  // namespace wattune
