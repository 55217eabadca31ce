// An NVML whose boards the tests make up.

#include <cstring>

#include "fake.hpp"

namespace wattune {

struct NvmlDeviceOpaque {
  std::size_t index;
};

namespace {

FakeNvml state;
NvmlDeviceOpaque handles[16];

NvmlResult entered(const char* symbol) {
  const auto found = state.failures.find(symbol);
  return found != state.failures.end() ? found->second : NvmlResult::success;
}

template <typename Matches>
NvmlResult find(NvmlDevice* device, Matches matches) {
  for (std::size_t i = 0; i < state.boards.size(); ++i) {
    if (!matches(state.boards[i])) continue;
    handles[i].index = i;
    *device = &handles[i];
    return NvmlResult::success;
  }
  return NvmlResult::not_found;
}

const FakeBoard& at(NvmlDevice device) {
  return state.boards[device->index];
}

template <typename Value>
NvmlResult give(const char* symbol, Value value, Value* result) {
  const NvmlResult status = entered(symbol);
  if (status == NvmlResult::success) *result = value;
  return status;
}

}  // namespace
}  // namespace wattune

using namespace wattune;

extern "C" {

void* wattune_fake_state() {
  return &state;
}

NvmlResult nvmlInit_v2() {
  if (state.init_result == NvmlResult::success) ++state.initialised;
  return state.init_result;
}
NvmlResult nvmlShutdown() {
  --state.initialised;
  return NvmlResult::success;
}
const char* nvmlErrorString(NvmlResult result) {
  switch (result) {
    case NvmlResult::not_found:
      return "Not Found";
    case NvmlResult::not_supported:
      return "Not Supported";
    case NvmlResult::driver_not_loaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}
NvmlResult nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  return find(device, [&](const FakeBoard& board) { return board.uuid == uuid; });
}
NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* pci, NvmlDevice* device) {
  return find(device, [&](const FakeBoard& board) { return board.pci == pci; });
}
NvmlResult nvmlDeviceGetUUID(NvmlDevice device, char* uuid, unsigned length) {
  std::strncpy(uuid, at(device).uuid.c_str(), length);
  return NvmlResult::success;
}
NvmlResult nvmlDeviceIsMigDeviceHandle(NvmlDevice device, unsigned* is) {
  return give("nvmlDeviceIsMigDeviceHandle", at(device).instance ? 1U : 0U, is);
}
NvmlResult nvmlDeviceGetMigMode(NvmlDevice device, unsigned* current, unsigned* pending) {
  *pending = at(device).divided ? 1U : 0U;
  return give("nvmlDeviceGetMigMode", at(device).divided ? 1U : 0U, current);
}
NvmlResult nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice device, unsigned* count, FakeProcess* processes) {
  if (const auto status = entered("nvmlDeviceGetComputeRunningProcesses_v3"); status != NvmlResult::success)
    return status;
  const auto& found = at(device).processes;
  const unsigned room = *count;
  *count = static_cast<unsigned>(found.size());
  if (room < found.size()) return NvmlResult::insufficient_size;
  std::copy(found.begin(), found.end(), processes);
  return NvmlResult::success;
}
NvmlResult nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device, unsigned long long* millijoules) {
  return give("nvmlDeviceGetTotalEnergyConsumption", at(device).millijoules, millijoules);
}
NvmlResult nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* milliwatts) {
  return give("nvmlDeviceGetPowerUsage", at(device).milliwatts, milliwatts);
}
NvmlResult nvmlDeviceGetClockInfo(NvmlDevice device, NvmlClock clock, unsigned* megahertz) {
  const FakeBoard& board = at(device);
  return give("nvmlDeviceGetClockInfo", clock == NvmlClock::memory ? board.memory_megahertz : board.sm_megahertz,
              megahertz);
}
NvmlResult nvmlDeviceGetTemperature(NvmlDevice device, int, unsigned* celsius) {
  return give("nvmlDeviceGetTemperature", at(device).celsius, celsius);
}
NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice device, unsigned long long* reasons) {
  return give("nvmlDeviceGetCurrentClocksThrottleReasons", at(device).reasons, reasons);
}

NvmlResult nvmlDeviceGetFieldValues(NvmlDevice device, int count, NvmlFieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].result = NvmlResult::not_supported;
    for (const NvmlFieldValue& known : at(device).fields) {
      if (known.field == values[i].field && known.scope == values[i].scope) values[i] = known;
    }
  }
  return entered("nvmlDeviceGetFieldValues");
}
NvmlResult nvmlDeviceGetSamples(NvmlDevice device, int, unsigned long long last_seen, NvmlValueType* type,
                                unsigned* count, NvmlSample* samples) {
  *type = NvmlValueType::unsigned_int;
  const auto& record = at(device).samples;
  if (samples == nullptr) {
    *count = static_cast<unsigned>(record.size());
    return entered("nvmlDeviceGetSamples");
  }
  unsigned given = 0;
  for (const NvmlSample& sample : record) {
    if (sample.timestamp > last_seen && given < *count) samples[given++] = sample;
  }
  *count = given;
  return given > 0 ? entered("nvmlDeviceGetSamples") : NvmlResult::not_found;
}

}  // extern "C"
