#pragma once
// A device for tests that need OpenCL; they are skipped, visibly, where there is none.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/opencl/opencl_backend.hpp"
#include "base/error.hpp"

namespace wattune {

class OpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      backend = make_opencl_backend();
      device = backend->open("opencl:0");
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "no OpenCL here: " << error.what();
    }
  }

  static CompileRequest request(const std::string& source, const std::string& kernel) {
    CompileRequest result;
    result.device = "opencl:0";
    result.source = source;
    result.file = "/nowhere/kernel.cl";
    result.kernel_name = kernel;
    return result;
  }

  CompileResult compiled(const CompileRequest& request) {
    auto result = backend->compiler("opencl:0")->compile(request);
    if (!result) throw std::runtime_error(result.error().message);
    return *result;
  }

  std::unique_ptr<Kernel> kernel(const std::string& source, const std::string& name) {
    auto result = device->load(compiled(request(source, name)));
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
  }

  template <typename T>
  std::unique_ptr<Buffer> buffer(const std::vector<T>& values) {
    auto result = device->allocate(values.size() * sizeof(T));
    device->write(*result, 0, std::as_bytes(std::span(values)));
    return result;
  }

  template <typename T>
  std::vector<T> content(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    device->read(buffer, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }

  static KernelArgument whole(Buffer& buffer) { return BufferArgument{&buffer, 0, buffer.bytes()}; }

  template <typename T>
  static KernelArgument scalar(T value) {
    ScalarArgument result;
    result.bytes.resize(sizeof value);
    std::memcpy(result.bytes.data(), &value, sizeof value);
    return result;
  }

  static Launch launch(Kernel& kernel, std::uint64_t grid, std::uint64_t block, std::vector<KernelArgument> arguments) {
    Launch result;
    result.kernel = &kernel;
    result.shape.grid[0] = grid;
    result.shape.block[0] = block;
    result.arguments = std::move(arguments);
    return result;
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<Device> device;
};

}  // namespace wattune
