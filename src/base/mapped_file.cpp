#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(error == ENOENT || error == ENOTDIR ? ErrorCode::not_found : ErrorCode::io,
              cat(path, ": ", std::strerror(error)));
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a FIFO would block here until somebody writes to it.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(path, errno);
  struct stat status {};
  if (fstat(file, &status) != 0) {
    int error = errno;
    ::close(file);
    fail(path, error);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    throw Error(ErrorCode::io, cat(path, ": not a regular file"));
  }
  size_t size = static_cast<size_t>(status.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      ::close(file);
      fail(path, error);
    }
  }
  ::close(file);
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

std::string read_text_file(const std::string& path, size_t limit) {
  auto file = MappedFile::open(path);
  if (file->bytes().size() > limit)
    throw Error(ErrorCode::io,
                cat(path, ": ", file->bytes().size(), " bytes, expected at most ", limit));
  return std::string(file->text());
}

}  // namespace crane
