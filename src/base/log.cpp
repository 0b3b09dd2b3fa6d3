#include "base/log.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace crane {
namespace {

struct Log {
  std::mutex mutex;
  LogSink sink;
  std::atomic<int> lowest{static_cast<int>(LogLevel::error) + 1};
};

// The one process-wide state of the library: where its words go is a property of the process.
Log& process_log() {
  static Log log;
  return log;
}

}  // namespace

void set_log_sink(LogSink sink, LogLevel lowest) {
  Log& log = process_log();
  std::lock_guard lock(log.mutex);
  log.lowest = sink ? static_cast<int>(lowest) : static_cast<int>(LogLevel::error) + 1;
  log.sink = std::move(sink);
}

void log(LogLevel level, std::string_view message) {
  Log& log = process_log();
  if (static_cast<int>(level) < log.lowest.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(log.mutex);
  if (log.sink) log.sink(level, message);
}

}  // namespace crane
