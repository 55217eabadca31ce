#include "backend/opencl/opencl_backend.hpp"

#include "backend/opencl/opencl_compiler.hpp"
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_devices.hpp"

namespace wattune {

namespace {

class OpenClBackend final : public Backend {
 public:
  explicit OpenClBackend(std::string loader) : loader_(std::move(loader)) {}

  [[nodiscard]] std::string name() const override { return "opencl"; }
  [[nodiscard]] std::string language() const override { return "OpenCL"; }

  std::vector<DeviceInfo> devices() override {
    std::vector<DeviceInfo> result;
    for (const opencl::FoundDevice& device : opencl::find_devices(*api())) result.push_back(device.info);
    return result;
  }
  std::unique_ptr<Device> open(const std::string& id) override {
    return opencl::make_device(api(), opencl::find_device(*api(), id));
  }
  std::unique_ptr<Compiler> compiler(const std::string& id) override {
    return opencl::make_compiler(api(), opencl::find_device(*api(), id));
  }

 private:
  const std::shared_ptr<const opencl::Api>& api() {
    if (!api_) api_ = opencl::Api::load(loader_);
    return api_;
  }

  std::string loader_;
  std::shared_ptr<const opencl::Api> api_;
};

}  // namespace

std::unique_ptr<Backend> make_opencl_backend(std::string loader) {
  return std::make_unique<OpenClBackend>(std::move(loader));
}

}  // namespace wattune
