// StopStrings: finds stop strings in streamed text, across the borders of its pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crane {

// Text that may become a stop string is held back, and released when it cannot any more.
class StopStrings {
 public:
  // Empty strings are dropped: they never match.
  explicit StopStrings(std::vector<std::string> stops);

  // The text that is now certain. After a match everything is empty; the earliest match wins.
  std::string push(std::string_view text);
  std::string finish();  // what was held, when the answer ended without a match
  bool matched() const { return matched_; }

 private:
  size_t held_suffix() const;  // length of the longest suffix that a stop string begins with

  std::vector<std::string> stops_;
  std::string pending_;
  bool matched_ = false;
};

}  // namespace crane
