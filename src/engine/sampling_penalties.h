// What changes single logits before the filters: bias, forbidden ids, penalties and DRY. All of it
// is a function of the row and the history; a few tokens change, the rest of the row is not read.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace crane {

// Per-vocabulary counters, all zero between calls.
struct PenaltyScratch {
  std::vector<int32_t> counts;
  std::vector<int32_t> repeats;  // DRY: length of the repeat at each distance from the end
  void prepare(size_t vocab_size) { counts.resize(vocab_size, 0); }
};

void apply_logit_bias(std::span<float> row, std::span<const std::pair<int32_t, float>> bias);
void forbid(std::span<float> row, std::span<const int32_t> ids);

struct Penalties {
  int last_n = -1;         // tokens of the history that count; -1: all
  float repeat = 1.0f;     // divides positive logits, multiplies others; 1: off
  float frequency = 0.0f;  // subtracted once for each time a token was generated
  float presence = 0.0f;   // subtracted when it was generated at all
};

// `repeat` counts all of the history, the other two only what follows its first `prompt_tokens`.
void apply_penalties(std::span<float> row, std::span<const int32_t> history, int prompt_tokens,
                     const Penalties& penalties, PenaltyScratch& scratch);

// Token sequences over which DRY does not look: a repeat ends there.
class DryBreakers {
 public:
  DryBreakers() = default;
  explicit DryBreakers(std::vector<std::vector<int32_t>> sequences);
  bool is_single_token(int32_t id) const;
  // Tokens after the last breaker in `history`, or all of them.
  size_t length_since_last(std::span<const int32_t> history) const;

 private:
  using Sequences = std::vector<std::vector<int32_t>>;
  std::pair<Sequences::const_iterator, Sequences::const_iterator> starting_with(int32_t id) const;
  Sequences sequences_;  // sorted
};

struct DryOptions {
  float multiplier = 0.0f;  // 0: off
  float base = 1.75f;       // below 1: off
  int allowed_length = 2;
  int last_n = -1;  // tokens that are searched; -1: all
};

// "Don't Repeat Yourself": a token that would continue a repeat of L >= allowed_length tokens loses
// multiplier * base^(L - allowed_length). Linear in the history.
void apply_dry(std::span<float> row, std::span<const int32_t> history, const DryOptions& options,
               const DryBreakers& breakers, PenaltyScratch& scratch);

}  // namespace crane
