#pragma once
// Shared libraries that are loaded at run time, so that one program runs with and without them.

#include <optional>
#include <string>

namespace wattune {

/// A loaded library. It stays loaded until the program ends: NVIDIA's libraries start threads and cannot be unloaded
/// safely.
class SharedLibrary {
 public:
  /// @param name a path, or a file name that the loader looks for. @param why_not set where the result is empty.
  static std::optional<SharedLibrary> open(const std::string& name, std::string& why_not);

  /// The file that the loader took, as an absolute path.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Null where there is no such symbol.
  [[nodiscard]] void* symbol(const char* name) const noexcept;

  /// Takes a symbol that may be missing.
  template <typename Function>
  void optional(Function*& function, const char* name) const noexcept {
    function = reinterpret_cast<Function*>(symbol(name));
  }

  /// Takes a symbol that must be there. @throws DeviceError that names library and symbol.
  template <typename Function>
  void required(Function*& function, const char* name) const {
    optional(function, name);
    if (function == nullptr) fail_missing(name);
  }

 private:
  [[noreturn]] void fail_missing(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
};

/// The value of an environment variable; empty where it is not set.
std::string environment(const char* name);

/// "the folders of LD_LIBRARY_PATH (a:b) and the system's library folders": where the loader looks, for messages.
std::string loader_places();

}  // namespace wattune
