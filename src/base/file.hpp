#pragma once
// Files and descriptors.

#include <filesystem>
#include <string>
#include <string_view>

namespace wattune {

/// Owns a file descriptor. Every descriptor of this project is opened close-on-exec.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept;
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// The whole content of a file. @throws UsageError that says `what`, the path, the reason and what to do.
std::string read_file(const std::filesystem::path& path, std::string_view what);

/// The text of errno, for messages.
std::string system_error_text(int error_number);

}  // namespace wattune
