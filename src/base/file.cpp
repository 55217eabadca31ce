#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace wattune {

namespace {
/// No file that is read whole is larger; what goes on for ever (/dev/zero) must not fill the memory.
constexpr std::size_t largest_file = std::size_t{1} << 28;
}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  reset();
}

int FileDescriptor::release() noexcept {
  return std::exchange(fd_, -1);
}

void FileDescriptor::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::string system_error_text(int error_number) {
  return std::generic_category().message(error_number);
}

std::string read_file(const std::filesystem::path& path, std::string_view what) {
  auto fail = [&](int error_number) {
    const char* advice = error_number == ENOENT   ? "check the path"
                         : error_number == EISDIR ? "name a file, not a folder"
                         : error_number == EACCES ? "make it readable for this user"
                                                  : "check the file";
    return UsageError(
        fmt::format("cannot read {} '{}': {}; {}", what, path.string(), system_error_text(error_number), advice));
  };
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw fail(errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw fail(errno);
  if (S_ISDIR(status.st_mode)) throw fail(EISDIR);
  std::string content;
  if (status.st_size > 0) content.reserve(static_cast<std::size_t>(status.st_size));
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw fail(errno);
    if (n == 0) return content;
    content.append(buffer, static_cast<std::size_t>(n));
    if (content.size() > largest_file) throw fail(EFBIG);
  }
}

}  // namespace wattune
