#pragma once
// Bytes of result files, from wherever they come, a piece at a time.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace wattune {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `count` bytes; fewer, or none, only at the end. @throws UsageError where the file cannot be read.
  virtual std::size_t read(char* buffer, std::size_t count) = 0;
  /// Why the bytes ended before the data did: a compressed file that was cut off. Empty where they did not.
  [[nodiscard]] virtual std::string ended_early() const { return {}; }
};

/// A file, compressed with gzip or not. @throws UsageError where it cannot be opened.
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& file);

/// Text in memory, which must outlive the source.
std::unique_ptr<ByteSource> source_of(std::string_view text);

/// Everything that is left.
std::string read_all(ByteSource& source);

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view text) = 0;
};

/// Text in memory.
class TextSink : public ByteSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Writes a file whole, or leaves what was there: under another name first, then renamed. Compressed where the name
/// ends in .gz. @throws RunError.
class OutputFile : public ByteSink {
 public:
  explicit OutputFile(const std::filesystem::path& file);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() override;
  void write(std::string_view text) override;
  /// Puts the file in its place. Without it, nothing is left behind.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattune
