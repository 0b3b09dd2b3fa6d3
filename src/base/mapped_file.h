// MappedFile: a whole file, read-only, in memory by mmap.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace crane {

class MappedFile {
 public:
  // Throws Error(not_found) or Error(io) naming the path and the system's reason.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const std::byte* data_;
  size_t size_;
};

// A small text file; throws as MappedFile::open, and when it is larger than `limit` bytes.
std::string read_text_file(const std::string& path, size_t limit = size_t{1} << 30);

}  // namespace crane
