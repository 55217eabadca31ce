#pragma once
// What the stand-ins for NVIDIA's libraries share with the tests: their state, which the tests read and set.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/cuda_driver.hpp"
#include "driver/library.hpp"
#include "driver/nvml.hpp"
#include "driver/nvrtc.hpp"

namespace wattune {

struct FakeCudaDevice {
  std::string name = "NVIDIA H200";
  CudaUuid uuid{};
  CudaUuid instance_uuid{};  ///< what the second form of the query gives; as uuid unless the board is divided
  std::string pci = "0000:65:00.0";
  std::size_t memory = 150'000'000'000;
  std::map<CudaDeviceAttribute, int> attributes;
};

/// One launch that reached the device.
struct FakeLaunch {
  std::string function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  std::vector<std::vector<std::uint8_t>> arguments;
};

struct FakeFunction {
  std::string name;
  std::map<CudaFunctionAttribute, int> attributes;
  std::vector<std::size_t> parameters;
};

struct FakeCuda {
  CudaResult init_result = CudaResult::success;
  int version = 13000;
  std::vector<FakeCudaDevice> devices;
  std::map<std::string, FakeFunction> functions;             ///< in every module
  std::map<std::string, std::vector<std::uint8_t>> globals;  ///< variables in every module, by mangled name
  std::size_t free_memory = 1'000'000'000;
  double launch_seconds = 0.001;
  int queries_until_ready = 0;  ///< of each event

  std::map<std::string, CudaResult> failures;  ///< by symbol: what it returns
  std::optional<CudaResult> sticky;            ///< what everything returns

  std::vector<std::string> calls;    ///< names of the symbols called
  std::vector<FakeLaunch> launches;  ///< those run by graphs included
  std::map<int, int> retained;       ///< primary contexts, by device
  std::set<const void*> live;        ///< allocations, modules, streams, events, graphs
  int graph_launches = 0;

  [[nodiscard]] int count(const std::string& symbol) const {
    return static_cast<int>(std::count(calls.begin(), calls.end(), symbol));
  }
};

struct FakeNvrtc {
  int major = 13;
  int minor = 0;
  std::vector<int> architectures{75, 80, 86, 89, 90, 100};
  std::vector<std::uint8_t> cubin;             ///< what every compilation gives
  std::map<std::string, std::string> lowered;  ///< by name expression
  std::string fails_with;                      ///< a log; empty: compilations succeed
  std::string log;                             ///< of a success

  std::vector<std::string> sources;  ///< of compilations
  std::vector<std::vector<std::string>> options;
  int live_programs = 0;
};

/// nvmlProcessInfo_t.
struct FakeProcess {
  unsigned pid;
  unsigned long long used_memory = 0;
  unsigned instance = ~0U, compute_instance = ~0U;
};

struct FakeBoard {
  std::string uuid;
  std::string pci;
  bool instance = false;
  bool divided = false;
  unsigned long long millijoules = 0;
  unsigned milliwatts = 0;
  unsigned sm_megahertz = 0;
  unsigned memory_megahertz = 0;
  unsigned celsius = 0;
  unsigned long long reasons = 0;
  std::vector<NvmlFieldValue> fields = {};  ///< by field and scope; others are not supported
  std::vector<NvmlSample> samples = {};     ///< of the driver's record of power, in mW as unsigned
  std::vector<FakeProcess> processes = {};  ///< that compute on it
};

struct FakeNvml {
  NvmlResult init_result = NvmlResult::success;
  std::vector<FakeBoard> boards;
  std::map<std::string, NvmlResult> failures;  ///< by symbol
  int initialised = 0;
};

inline std::filesystem::path fake_library(const std::string& name) {
  return std::filesystem::path(WATTUNE_BINARY_DIR) / "tests" / "fake" / ("lib" + name + ".so");
}

/// The state of a stand-in that is (or now gets) loaded from this file.
template <typename State>
State& fake_state(const std::filesystem::path& path) {
  std::string why_not;
  const auto library = SharedLibrary::open(path.string(), why_not);
  if (!library) throw std::runtime_error(why_not);
  void* (*state)() = nullptr;
  library->required(state, "wattune_fake_state");
  return *static_cast<State*>(state());
}

/// Sets an environment variable (or removes it: null) while it lives.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~ScopedEnvironment() { set(old_ ? old_->c_str() : nullptr); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_.c_str(), value, 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace wattune
