// A CUDA driver without a device. With WATTUNE_FAKE_OLD it lacks what old drivers lack: graphs, and the second forms of
// some functions.

#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "fake.hpp"

namespace wattune {

// The opaque types are ours to define here.
struct CudaContextOpaque {
  int device;
};
struct CudaModuleOpaque {
  int unused;
};
struct CudaFunctionOpaque {
  const FakeFunction* function;
};
struct CudaEventOpaque {
  double time = 0;
  int queries = 0;
};
struct CudaGraphOpaque {
  std::vector<std::function<void()>> nodes;
};
struct CudaGraphExecOpaque {
  std::vector<std::function<void()>> nodes;
};
struct CudaStreamOpaque {
  double time = 0;
  CudaGraph capture = nullptr;
};

namespace {

FakeCuda state;
std::map<std::string, std::unique_ptr<CudaFunctionOpaque>> function_handles;

/// Notes a call; what it must return before it does anything.
CudaResult entered(const char* symbol) {
  state.calls.emplace_back(symbol);
  if (state.sticky) return *state.sticky;
  const auto found = state.failures.find(symbol);
  return found != state.failures.end() ? found->second : CudaResult::success;
}

bool known_device(CudaDeviceHandle device) {
  return device >= 0 && static_cast<std::size_t>(device) < state.devices.size();
}
const FakeCudaDevice& at(CudaDeviceHandle device) {
  return state.devices[static_cast<std::size_t>(device)];
}

template <typename Object>
CudaResult make(Object** result) {
  *result = new Object{};
  state.live.insert(*result);
  return CudaResult::success;
}
template <typename Object>
CudaResult destroy(Object* object) {
  if (state.live.erase(object) == 0) return CudaResult::invalid_handle;
  delete object;
  return CudaResult::success;
}

void do_or_capture(CudaStream stream, std::function<void()> node) {
  if (stream != nullptr && stream->capture != nullptr) {
    stream->capture->nodes.push_back(std::move(node));
  } else {
    node();
  }
}

void* host(CudaDevicePointer pointer) {
  return reinterpret_cast<void*>(pointer);
}

}  // namespace
}  // namespace wattune

using namespace wattune;

#define ENTER(symbol) \
  if (const CudaResult result = entered(symbol); result != CudaResult::success) return result

extern "C" {

void* wattune_fake_state() {
  return &state;
}

CudaResult cuInit(unsigned) {
  ENTER("cuInit");
  return state.init_result;
}
CudaResult cuDriverGetVersion(int* version) {
  *version = state.version;
  return CudaResult::success;
}
CudaResult cuGetErrorName(CudaResult result, const char** name) {
  switch (result) {
    case CudaResult::illegal_address:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case CudaResult::out_of_memory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case CudaResult::no_device:
      *name = "CUDA_ERROR_NO_DEVICE";
      break;
    case CudaResult::device_unavailable:
      *name = "CUDA_ERROR_DEVICE_UNAVAILABLE";
      break;
    case CudaResult::not_found:
      *name = "CUDA_ERROR_NOT_FOUND";
      break;
    default:
      return CudaResult::invalid_value;
  }
  return CudaResult::success;
}
CudaResult cuGetErrorString(CudaResult, const char** text) {
  *text = "in words";
  return CudaResult::success;
}
CudaResult cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount");
  *count = static_cast<int>(state.devices.size());
  return CudaResult::success;
}
CudaResult cuDeviceGet(CudaDeviceHandle* device, int ordinal) {
  ENTER("cuDeviceGet");
  if (!known_device(ordinal)) return CudaResult::invalid_device;
  *device = ordinal;
  return CudaResult::success;
}
CudaResult cuDeviceGetName(char* name, int length, CudaDeviceHandle device) {
  ENTER("cuDeviceGetName");
  std::strncpy(name, at(device).name.c_str(), static_cast<std::size_t>(length));
  return CudaResult::success;
}
CudaResult cuDeviceTotalMem_v2(std::size_t* bytes, CudaDeviceHandle device) {
  ENTER("cuDeviceTotalMem_v2");
  *bytes = at(device).memory;
  return CudaResult::success;
}
CudaResult cuDeviceGetAttribute(int* value, CudaDeviceAttribute attribute, CudaDeviceHandle device) {
  ENTER("cuDeviceGetAttribute");
  const auto found = at(device).attributes.find(attribute);
  if (found == at(device).attributes.end()) return CudaResult::invalid_value;
  *value = found->second;
  return CudaResult::success;
}
CudaResult cuDeviceGetUuid(CudaUuid* uuid, CudaDeviceHandle device) {
  ENTER("cuDeviceGetUuid");
  *uuid = at(device).uuid;
  return CudaResult::success;
}
CudaResult cuDeviceGetPCIBusId(char* id, int length, CudaDeviceHandle device) {
  ENTER("cuDeviceGetPCIBusId");
  std::strncpy(id, at(device).pci.c_str(), static_cast<std::size_t>(length));
  return CudaResult::success;
}
CudaResult cuDevicePrimaryCtxRetain(CudaContext* context, CudaDeviceHandle device) {
  ENTER("cuDevicePrimaryCtxRetain");
  static std::map<int, CudaContextOpaque> contexts;
  contexts[device].device = device;
  *context = &contexts[device];
  ++state.retained[device];
  return CudaResult::success;
}
CudaResult cuDevicePrimaryCtxRelease_v2(CudaDeviceHandle device) {
  state.calls.emplace_back("cuDevicePrimaryCtxRelease_v2");
  --state.retained[device];
  return CudaResult::success;
}
CudaResult cuCtxSetCurrent(CudaContext) {
  return CudaResult::success;
}

CudaResult cuModuleLoadData(CudaModule* module, const void*) {
  ENTER("cuModuleLoadData");
  return make(module);
}
CudaResult cuModuleUnload(CudaModule module) {
  return destroy(module);
}
CudaResult cuModuleGetFunction(CudaFunction* function, CudaModule, const char* name) {
  ENTER("cuModuleGetFunction");
  const auto found = state.functions.find(name);
  if (found == state.functions.end()) return CudaResult::not_found;
  auto& handle = function_handles[name];
  if (!handle) handle = std::make_unique<CudaFunctionOpaque>();
  handle->function = &found->second;
  *function = handle.get();
  return CudaResult::success;
}
CudaResult cuModuleGetGlobal_v2(CudaDevicePointer* pointer, std::size_t* bytes, CudaModule, const char* name) {
  ENTER("cuModuleGetGlobal_v2");
  const auto found = state.globals.find(name);
  if (found == state.globals.end()) return CudaResult::not_found;
  *pointer = reinterpret_cast<CudaDevicePointer>(found->second.data());
  *bytes = found->second.size();
  return CudaResult::success;
}
CudaResult cuFuncGetAttribute(int* value, CudaFunctionAttribute attribute, CudaFunction function) {
  ENTER("cuFuncGetAttribute");
  *value = function->function->attributes.at(attribute);
  return CudaResult::success;
}
CudaResult cuFuncSetAttribute(CudaFunction function, CudaFunctionAttribute attribute, int value) {
  ENTER("cuFuncSetAttribute");
  state.functions.at(function->function->name).attributes[attribute] = value;
  return CudaResult::success;
}

CudaResult cuMemAlloc_v2(CudaDevicePointer* pointer, std::size_t bytes) {
  ENTER("cuMemAlloc_v2");
  if (bytes > state.free_memory) return CudaResult::out_of_memory;
  void* memory = std::malloc(bytes);
  state.live.insert(memory);
  *pointer = reinterpret_cast<CudaDevicePointer>(memory);
  return CudaResult::success;
}
CudaResult cuMemFree_v2(CudaDevicePointer pointer) {
  if (state.live.erase(host(pointer)) == 0) return CudaResult::invalid_value;
  std::free(host(pointer));
  return CudaResult::success;
}
CudaResult cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
  *available = state.free_memory;
  *total = state.devices.front().memory;
  return CudaResult::success;
}
CudaResult cuMemcpyHtoDAsync_v2(CudaDevicePointer target, const void* source, std::size_t bytes, CudaStream) {
  ENTER("cuMemcpyHtoDAsync_v2");
  std::memcpy(host(target), source, bytes);
  return CudaResult::success;
}
CudaResult cuMemcpyDtoHAsync_v2(void* target, CudaDevicePointer source, std::size_t bytes, CudaStream) {
  ENTER("cuMemcpyDtoHAsync_v2");
  std::memcpy(target, host(source), bytes);
  return CudaResult::success;
}
CudaResult cuMemcpyDtoDAsync_v2(CudaDevicePointer target, CudaDevicePointer source, std::size_t bytes,
                                CudaStream stream) {
  ENTER("cuMemcpyDtoDAsync_v2");
  do_or_capture(stream, [=] { std::memmove(host(target), host(source), bytes); });
  return CudaResult::success;
}
CudaResult cuMemsetD8Async(CudaDevicePointer target, unsigned char value, std::size_t bytes, CudaStream stream) {
  ENTER("cuMemsetD8Async");
  do_or_capture(stream, [=] { std::memset(host(target), value, bytes); });
  return CudaResult::success;
}

CudaResult cuStreamCreate(CudaStream* stream, unsigned) {
  ENTER("cuStreamCreate");
  return make(stream);
}
CudaResult cuStreamDestroy_v2(CudaStream stream) {
  return destroy(stream);
}
CudaResult cuStreamSynchronize(CudaStream) {
  ENTER("cuStreamSynchronize");
  return CudaResult::success;
}
CudaResult cuEventCreate(CudaEvent* event, unsigned) {
  ENTER("cuEventCreate");
  return make(event);
}
CudaResult cuEventDestroy_v2(CudaEvent event) {
  return destroy(event);
}
CudaResult cuEventRecord(CudaEvent event, CudaStream stream) {
  ENTER("cuEventRecord");
  *event = {stream->time, 0};
  return CudaResult::success;
}
CudaResult cuEventQuery(CudaEvent event) {
  ENTER("cuEventQuery");
  return event->queries++ < state.queries_until_ready ? CudaResult::not_ready : CudaResult::success;
}
CudaResult cuEventSynchronize(CudaEvent) {
  ENTER("cuEventSynchronize");
  return CudaResult::success;
}
CudaResult cuEventElapsedTime(float* milliseconds, CudaEvent start, CudaEvent stop) {
  ENTER("cuEventElapsedTime");
  *milliseconds = static_cast<float>((stop->time - start->time) * 1e3);
  return CudaResult::success;
}
CudaResult cuLaunchKernel(CudaFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, CudaStream stream,
                          void** parameters, void**) {
  ENTER("cuLaunchKernel");
  const FakeFunction& called = *function->function;
  if (static_cast<int>(shared_bytes) > called.attributes.at(CudaFunctionAttribute::max_dynamic_shared_size_bytes)) {
    return CudaResult::invalid_value;
  }
  FakeLaunch launch{called.name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, {}};
  for (std::size_t i = 0; i < called.parameters.size(); ++i) {
    const auto* bytes = static_cast<const std::uint8_t*>(parameters[i]);
    launch.arguments.emplace_back(bytes, bytes + called.parameters[i]);
  }
  do_or_capture(stream, [launch, stream] {
    state.launches.push_back(launch);
    stream->time += state.launch_seconds;
  });
  return CudaResult::success;
}

#ifndef WATTUNE_FAKE_OLD
CudaResult cuDeviceGetUuid_v2(CudaUuid* uuid, CudaDeviceHandle device) {
  ENTER("cuDeviceGetUuid_v2");
  *uuid = at(device).instance_uuid;
  return CudaResult::success;
}
CudaResult cuFuncLoad(CudaFunction) {
  ENTER("cuFuncLoad");
  return CudaResult::success;
}
CudaResult cuFuncGetParamInfo(CudaFunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  ENTER("cuFuncGetParamInfo");
  const auto& parameters = function->function->parameters;
  if (index >= parameters.size()) return CudaResult::invalid_value;
  *offset = 0;
  *bytes = parameters[index];
  return CudaResult::success;
}
CudaResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CudaFunction, int threads, std::size_t shared) {
  ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = std::min(2048 / threads, shared == 0 ? 32 : static_cast<int>(233472 / shared));
  return CudaResult::success;
}
CudaResult cuStreamBeginCapture_v2(CudaStream stream, int) {
  ENTER("cuStreamBeginCapture_v2");
  return make(&stream->capture);
}
CudaResult cuStreamEndCapture(CudaStream stream, CudaGraph* graph) {
  *graph = std::exchange(stream->capture, nullptr);
  const CudaResult result = entered("cuStreamEndCapture");
  if (result != CudaResult::success) destroy(std::exchange(*graph, nullptr));
  return result;
}
CudaResult cuGraphInstantiateWithFlags(CudaGraphExec* exec, CudaGraph graph, unsigned long long) {
  ENTER("cuGraphInstantiateWithFlags");
  make(exec);
  (*exec)->nodes = graph->nodes;
  return CudaResult::success;
}
CudaResult cuGraphUpload(CudaGraphExec, CudaStream) {
  ENTER("cuGraphUpload");
  return CudaResult::success;
}
CudaResult cuGraphLaunch(CudaGraphExec exec, CudaStream) {
  ENTER("cuGraphLaunch");
  ++state.graph_launches;
  for (const auto& node : exec->nodes) node();
  return CudaResult::success;
}
CudaResult cuGraphExecDestroy(CudaGraphExec exec) {
  return destroy(exec);
}
CudaResult cuGraphDestroy(CudaGraph graph) {
  return destroy(graph);
}
#endif

}  // extern "C"
