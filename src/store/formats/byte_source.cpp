#include "store/formats/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {

namespace {

constexpr unsigned buffer_bytes = 1U << 18;

class FileSource : public ByteSource {
 public:
  explicit FileSource(std::filesystem::path file) : file_(std::move(file)) {
    FileDescriptor fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) fail(system_error_text(errno), errno);
    if (S_ISDIR(status.st_mode)) fail(system_error_text(EISDIR), EISDIR);
    stream_ = ::gzdopen(fd.get(), "rb");
    if (stream_ == nullptr) fail("there is not enough memory", 0);
    fd.release();
    ::gzbuffer(stream_, buffer_bytes);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::gzclose(stream_); }

  std::size_t read(char* buffer, std::size_t count) override {
    constexpr std::size_t most = 1U << 30;
    errno = 0;
    const int n = ::gzread(stream_, buffer, static_cast<unsigned>(std::min(count, most)));
    int error = Z_OK;
    const char* text = ::gzerror(stream_, &error);
    if (error == Z_ERRNO) fail(system_error_text(errno), errno);
    // What could be decompressed has been handed out; the rest is lost.
    if (error != Z_OK && error != Z_STREAM_END) {
      ended_early_ = error == Z_BUF_ERROR ? "the compressed file was cut off"
                                          : fmt::format("the compressed file is damaged ({})", text);
    }
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

  [[nodiscard]] std::string ended_early() const override { return ended_early_; }

 private:
  [[noreturn]] void fail(const std::string& reason, int error) const {
    throw UsageError(fmt::format("cannot read the results '{}': {}; {}", file_.string(), reason,
                                 error == ENOENT   ? "check the path"
                                 : error == EISDIR ? "name a file in it"
                                                   : "check the file and its permissions"));
  }

  std::filesystem::path file_;
  gzFile stream_ = nullptr;
  std::string ended_early_;
};

class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  std::size_t read(char* buffer, std::size_t count) override {
    const std::size_t n = text_.copy(buffer, count);
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& file) {
  return std::make_unique<FileSource>(file);
}

std::unique_ptr<ByteSource> source_of(std::string_view text) {
  return std::make_unique<TextSource>(text);
}

std::string read_all(ByteSource& source) {
  std::string text;
  std::size_t length = 0;
  for (;;) {
    text.resize(std::max<std::size_t>(length * 2, buffer_bytes));
    const std::size_t n = source.read(text.data() + length, text.size() - length);
    length += n;
    if (n == 0) break;
  }
  text.resize(length);
  return text;
}

struct OutputFile::Impl {
  std::filesystem::path file;
  std::filesystem::path part;
  gzFile stream = nullptr;
  bool placed = false;

  [[noreturn]] void fail(const std::string& reason) const {
    throw RunError(
        fmt::format("cannot write the results '{}': {}; check the folder and its free space", file.string(), reason));
  }
  [[noreturn]] void fail_with_stream() const {
    int error = Z_OK;
    const char* text = ::gzerror(stream, &error);
    fail(error == Z_ERRNO || error == Z_OK ? system_error_text(errno) : std::string(text));
  }
};

OutputFile::OutputFile(const std::filesystem::path& file) : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->part = file.string() + ".part";
  FileDescriptor fd(::open(impl_->part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) impl_->fail(system_error_text(errno));
  // "T": as it is, not compressed.
  impl_->stream = ::gzdopen(fd.get(), file.extension() == ".gz" ? "wb" : "wbT");
  if (impl_->stream == nullptr) impl_->fail("there is not enough memory");
  fd.release();
  ::gzbuffer(impl_->stream, buffer_bytes);
}

OutputFile::~OutputFile() {
  if (impl_->stream != nullptr) ::gzclose(impl_->stream);
  if (!impl_->placed) ::unlink(impl_->part.c_str());
}

void OutputFile::write(std::string_view text) {
  constexpr std::size_t most = 1U << 30;
  while (!text.empty()) {
    const auto count = static_cast<unsigned>(std::min(text.size(), most));
    errno = 0;
    if (::gzwrite(impl_->stream, text.data(), count) <= 0) impl_->fail_with_stream();
    text.remove_prefix(count);
  }
}

void OutputFile::commit() {
  errno = 0;
  const int closed = ::gzclose(impl_->stream);
  impl_->stream = nullptr;
  if (closed != Z_OK) impl_->fail(closed == Z_ERRNO ? system_error_text(errno) : "compressing failed");
  std::error_code error;
  std::filesystem::rename(impl_->part, impl_->file, error);
  if (error) impl_->fail(error.message());
  impl_->placed = true;
}

}  // namespace wattune
