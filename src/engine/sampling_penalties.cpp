#include "engine/sampling_penalties.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace crane {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

// The last `count` tokens; all of them for -1.
std::span<const int32_t> tail(std::span<const int32_t> history, int count) {
  if (count < 0 || static_cast<size_t>(count) >= history.size()) return history;
  return history.last(static_cast<size_t>(count));
}

// lengths[k] = the length of the longest common suffix of the tokens and the tokens without their
// last k (the Z algorithm, read backwards).
void common_suffixes(std::span<const int32_t> tokens, std::vector<int32_t>& lengths) {
  size_t size = tokens.size();
  lengths.assign(size, 0);
  auto from_end = [&](size_t i) { return tokens[size - 1 - i]; };
  size_t left = 0, right = 0;  // the furthest-reaching match found is [left, right)
  for (size_t k = 1; k < size; ++k) {
    size_t length = 0;
    if (k < right) length = std::min(static_cast<size_t>(lengths[k - left]), right - k);
    if (k + length >= right) {
      while (k + length < size && from_end(length) == from_end(k + length)) ++length;
      left = k;
      right = k + length;
    }
    lengths[k] = static_cast<int32_t>(length);
  }
}

float dry_penalty(const DryOptions& options, int repeat) {
  constexpr double kLogOfLargestFloat = 88.7228391;
  int exponent = repeat - options.allowed_length;
  auto base = static_cast<double>(options.base);
  if (base > 1.000001) {
    int most = static_cast<int>(kLogOfLargestFloat / std::log(base));
    if (most > 0) exponent = std::min(exponent, most);
  }
  double penalty = static_cast<double>(options.multiplier) * std::pow(base, exponent);
  return static_cast<float>(std::min(penalty, static_cast<double>(kLargest)));
}

}  // namespace

void apply_logit_bias(std::span<float> row, std::span<const std::pair<int32_t, float>> bias) {
  for (const auto& entry : bias) row[static_cast<size_t>(entry.first)] += entry.second;
}

void forbid(std::span<float> row, std::span<const int32_t> ids) {
  for (int32_t id : ids) row[static_cast<size_t>(id)] = -std::numeric_limits<float>::infinity();
}

void apply_penalties(std::span<float> row, std::span<const int32_t> history, int prompt_tokens,
                     const Penalties& penalties, PenaltyScratch& scratch) {
  auto window = tail(history, penalties.last_n);
  bool by_count = penalties.frequency != 0.0f || penalties.presence != 0.0f;
  if (penalties.last_n == 0 || (penalties.repeat == 1.0f && !by_count)) return;
  scratch.prepare(row.size());
  if (penalties.repeat != 1.0f) {
    for (int32_t id : window) {
      auto index = static_cast<size_t>(id);
      if (scratch.counts[index]++ > 0) continue;
      float changed =
          row[index] > 0 ? row[index] / penalties.repeat : row[index] * penalties.repeat;
      row[index] = std::min(changed, kLargest);  // a tiny penalty must not make an infinity
    }
    for (int32_t id : window) scratch.counts[static_cast<size_t>(id)] = 0;
  }
  if (!by_count) return;
  size_t generated = history.size() - std::min(history.size(), static_cast<size_t>(prompt_tokens));
  window = window.last(std::min(window.size(), generated));
  for (int32_t id : window) ++scratch.counts[static_cast<size_t>(id)];
  for (int32_t id : window) {
    int32_t& count = scratch.counts[static_cast<size_t>(id)];
    if (count == 0) continue;  // done
    row[static_cast<size_t>(id)] -=
        static_cast<float>(count) * penalties.frequency + penalties.presence;
    count = 0;
  }
}

DryBreakers::DryBreakers(std::vector<std::vector<int32_t>> sequences)
    : sequences_(std::move(sequences)) {
  auto empty = [](const auto& sequence) { return sequence.empty(); };
  sequences_.erase(std::remove_if(sequences_.begin(), sequences_.end(), empty), sequences_.end());
  std::sort(sequences_.begin(), sequences_.end());
}

std::pair<DryBreakers::Sequences::const_iterator, DryBreakers::Sequences::const_iterator>
DryBreakers::starting_with(int32_t id) const {
  auto first = std::partition_point(sequences_.begin(), sequences_.end(),
                                    [id](const auto& s) { return s[0] < id; });
  auto last =
      std::partition_point(first, sequences_.end(), [id](const auto& s) { return s[0] == id; });
  return {first, last};
}

bool DryBreakers::is_single_token(int32_t id) const {
  auto range = starting_with(id);  // sorted: the shortest comes first
  return range.first != range.second && range.first->size() == 1;
}

size_t DryBreakers::length_since_last(std::span<const int32_t> history) const {
  if (sequences_.empty()) return history.size();
  for (size_t after = 0; after < history.size(); ++after) {  // tokens behind the first of a breaker
    size_t begin = history.size() - 1 - after;
    auto range = starting_with(history[begin]);
    size_t longest = 0;
    for (auto it = range.first; it != range.second; ++it)
      if (it->size() > longest && it->size() <= after + 1 &&
          std::equal(it->begin(), it->end(), history.begin() + static_cast<std::ptrdiff_t>(begin)))
        longest = it->size();
    if (longest > 0) return after + 1 - longest;
  }
  return history.size();
}

void apply_dry(std::span<float> row, std::span<const int32_t> history, const DryOptions& options,
               const DryBreakers& breakers, PenaltyScratch& scratch) {
  if (options.multiplier == 0.0f || options.base < 1.0f || options.last_n == 0) return;
  auto window = tail(history, options.last_n);
  auto allowed = static_cast<size_t>(options.allowed_length);
  if (window.size() <= allowed) return;
  size_t limit = breakers.length_since_last(window);
  if (limit < allowed) return;
  common_suffixes(window, scratch.repeats);
  scratch.prepare(row.size());
  // The longest repeat that each token would continue, plus one.
  for (size_t k = 1; k < window.size(); ++k) {
    size_t repeat = std::min(static_cast<size_t>(scratch.repeats[k]), limit);
    if (repeat < allowed) continue;
    int32_t& longest = scratch.counts[static_cast<size_t>(window[window.size() - k])];
    longest = std::max(longest, static_cast<int32_t>(repeat) + 1);
  }
  for (int32_t id : window) {
    int32_t& longest = scratch.counts[static_cast<size_t>(id)];
    if (longest > 0 && !breakers.is_single_token(id))
      row[static_cast<size_t>(id)] -= dry_penalty(options, longest - 1);
    longest = 0;
  }
}

}  // namespace crane
