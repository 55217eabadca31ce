#include "driver/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>

#include "base/error.hpp"

namespace wattune {

std::optional<SharedLibrary> SharedLibrary::open(const std::string& name, std::string& why_not) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    why_not = text != nullptr ? text : "it cannot be loaded";
    return std::nullopt;
  }
  SharedLibrary library;
  library.handle_ = handle;
  library.path_ = name;
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr &&
      *map->l_name != '\0') {
    library.path_ = map->l_name;
  }
  return library;
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return ::dlsym(handle_, name);
}

void SharedLibrary::fail_missing(const char* name) const {
  throw DeviceError(
      fmt::format("cannot use library '{}': it has no function {}; install a newer driver or toolkit", path_, name));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string loader_places() {
  const std::string folders = environment("LD_LIBRARY_PATH");
  if (folders.empty()) return "the system's library folders (LD_LIBRARY_PATH is not set)";
  return fmt::format("LD_LIBRARY_PATH ({}) and the system's library folders", folders);
}

}  // namespace wattune
