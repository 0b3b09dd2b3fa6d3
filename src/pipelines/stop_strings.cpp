#include "pipelines/stop_strings.h"

#include <algorithm>
#include <utility>

namespace crane {

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopStrings::push(std::string_view text) {
  if (matched_) return "";
  pending_ += text;
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, pending_.find(stop));
  if (first != std::string::npos) {
    matched_ = true;
    return pending_.substr(0, first);
  }
  size_t certain = pending_.size() - held_suffix();
  std::string out = pending_.substr(0, certain);
  pending_.erase(0, certain);
  return out;
}

std::string StopStrings::finish() {
  if (matched_) return "";
  return std::exchange(pending_, "");
}

size_t StopStrings::held_suffix() const {
  size_t held = 0;
  for (const std::string& stop : stops_) {
    for (size_t length = std::min(stop.size() - 1, pending_.size()); length > held; --length) {
      if (std::string_view(pending_).substr(pending_.size() - length) ==
          std::string_view(stop).substr(0, length)) {
        held = length;
        break;
      }
    }
  }
  return held;
}

}  // namespace crane
