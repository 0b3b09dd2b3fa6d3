#include "engine/cache_size.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

std::optional<int64_t> read_number(const char* path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // absent, or "max"
}

int64_t available_in_meminfo() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  int64_t kilobytes = 0;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  return 0;
}

}  // namespace

int choose_block_count(const CacheSizing& sizing) {
  int64_t one = sizing.blocks_per_context;
  int64_t most = std::min<int64_t>(one * sizing.max_running, 1 << 24);
  int64_t bytes = std::max<int64_t>(sizing.bytes_per_block, 1);
  int64_t count = 0;
  if (sizing.requested_bytes > 0) {
    count = std::min(sizing.requested_bytes / bytes, most);
  } else {
    count = std::clamp(sizing.free_bytes / 4 / bytes, one, most);
    if (sizing.free_bytes > 0 && count * bytes > sizing.free_bytes)
      count = sizing.free_bytes / 2 / bytes;
  }
  if (count < 1)
    throw Error(
        ErrorCode::invalid_argument,
        cat("K/V cache: ", sizing.requested_bytes > 0 ? sizing.requested_bytes : sizing.free_bytes,
            " bytes, expected at least ", bytes, ", one block"));
  return static_cast<int>(count);
}

int64_t free_memory_bytes() {
  int64_t free = available_in_meminfo();
  auto limit_by = [&free](const char* limit_path, const char* usage_path) {
    auto limit = read_number(limit_path);
    auto usage = read_number(usage_path);
    if (limit && usage && free > 0) free = std::min(free, std::max<int64_t>(*limit - *usage, 1));
  };
  limit_by("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current");
  limit_by("/sys/fs/cgroup/memory/memory.limit_in_bytes",
           "/sys/fs/cgroup/memory/memory.usage_in_bytes");
  return free;
}

}  // namespace crane
