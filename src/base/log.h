// Log lines of the library go to one sink, which an application sets; without one they vanish.
#pragma once

#include <functional>
#include <string_view>

namespace crane {

enum class LogLevel { debug, info, warning, error };

using LogSink = std::function<void(LogLevel, std::string_view)>;
void set_log_sink(LogSink sink, LogLevel lowest = LogLevel::info);
void log(LogLevel level, std::string_view message);

}  // namespace crane
