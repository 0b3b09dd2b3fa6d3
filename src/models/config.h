// ConfigReader: a model's view of config.json. It remembers what was read, so that an option which
// the reference implementation knows and the model does not obey is refused by name.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "core/backend.h"

namespace crane {

class ConfigReader {
 public:
  explicit ConfigReader(const Json& config) : config_(config) {}

  // A value read is a value obeyed.
  template <class T>
  T get(std::string_view key) {
    obeyed_.emplace(key);
    return config_.get<T>(key);
  }
  template <class T>
  T get(std::string_view key, T fallback) {
    obeyed_.emplace(key);
    return config_.get<T>(key, fallback);
  }
  bool contains(std::string_view key) const { return config_.contains(key); }

  // A positive size within sane bounds; throws naming key and value. The second form gives
  // `fallback` when the key is absent or null.
  int size(std::string_view key);
  int size(std::string_view key, int fallback);

  // rope_parameters, or the older rope_theta and rope_scaling, as one object.
  Json rope_parameters(double default_theta);
  // The window of each layer, 0 where it sees everything: layer_types, or use_sliding_window with
  // sliding_window and max_window_layers.
  std::vector<int> layer_windows(int layers, int default_max_window_layers);
  Activation activation(std::string_view key);

  // Throws Error(unsupported) for an option nobody read whose value is not neutral. Keys that no
  // reference implementation computes with are no options.
  void refuse_unread() const;

 private:
  const Json& config_;
  std::set<std::string, std::less<>> obeyed_;
};

// Throws unless the heads divide into groups and the sizes multiply without harm.
void check_heads(int heads, int kv_heads, int head_dim);

}  // namespace crane
