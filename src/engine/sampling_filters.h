// The filters of the sampling chain, one small function each. What each keeps is llama.cpp's
// definition (src/llama-sampler.cpp); tests/golden/sampling holds an independent one in Python.
//
// Candidates are ordered by logit, highest first, the lower id first on a tie. Only as much of that
// order is made as a filter asks for: never a sort of the whole vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crane {

struct Candidate {
  int32_t id = 0;
  float logit = 0.0f;
  float weight = 0.0f;  // exp(logit - highest logit), after weigh()
};

// The tokens that can still be drawn: a set whose head is in order.
class Candidates {
 public:
  // All tokens of the row from `floor` up, except those at minus infinity.
  void fill(std::span<const float> row, float floor);
  // The k highest of the row, in order.
  void fill_highest(std::span<const float> row, size_t k);

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const Candidate& operator[](size_t index) const { return items_[index]; }
  std::span<Candidate> items() { return items_; }
  std::span<const Candidate> items() const { return items_; }
  size_t ordered() const { return ordered_; }  // the length of the ordered head

  float highest() const;
  // Puts the `count` highest candidates in order at the front.
  void order(size_t count);
  // Sets all weights and returns their sum.
  double weigh();
  // Keeps the first `count`; `ordered` of them are still in order.
  void keep(size_t count, size_t ordered);
  void drop_highest(size_t count);

 private:
  std::vector<Candidate> items_;
  size_t ordered_ = 0;
};

// Tokens at or above: highest - n * standard deviation, over the finite logits of the row.
float top_n_sigma_floor(std::span<const float> row, float n);

void keep_top_k(Candidates& candidates, int k);
// The fewest tokens, in the order of |surprise - entropy|, whose probabilities exceed p.
void keep_typical(Candidates& candidates, float p, size_t min_keep);
// The fewest tokens, likeliest first, whose probabilities reach p.
void keep_top_p(Candidates& candidates, float p, size_t min_keep);
// Tokens at least p times as likely as the likeliest.
void keep_min_p(Candidates& candidates, float p, size_t min_keep);
// Exclude top choices: of the tokens with a probability of at least `threshold`, only the least
// likely stays. Does nothing above a threshold of 0.5.
void exclude_top_choices(Candidates& candidates, float threshold, size_t min_keep);

// Logits become (logit - highest) / temperature.
void apply_temperature(Candidates& candidates, float temperature);
// A temperature between t - range and t + range by the entropy of the candidates: (entropy /
// highest possible entropy) to the power of `exponent` is the place in between.
void apply_dynamic_temperature(Candidates& candidates, float temperature, float range,
                               float exponent);

// Mirostat 1: how many tokens to keep so that their expected surprise is `mu` bits, from the slope
// of the 100 likeliest (Zipf's law; Basu et al. 2021, arXiv:2007.14966).
int mirostat_top_k(Candidates& candidates, float mu, int vocab_size);
// Mirostat 2: tokens with a surprise of at most `mu` bits, or the likeliest alone.
void keep_surprise_below(Candidates& candidates, float mu);

// The index of the candidate that `uniform` in [0, 1) falls on. Weighs the candidates.
size_t draw_index(Candidates& candidates, double uniform);

}  // namespace crane
