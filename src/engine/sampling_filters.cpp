#include "engine/sampling_filters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "engine/log_softmax.h"
#include "engine/row_math.h"

namespace crane {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr double kLargest = std::numeric_limits<float>::max();

bool higher(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

template <class It>
It at(It begin, size_t index) {
  return begin + static_cast<std::ptrdiff_t>(index);
}

// Brings the `count` first items by `before` to the front, in order; the first `ordered` are so.
template <class Before>
void order_head(std::span<Candidate> items, size_t ordered, size_t count, Before before) {
  if (count <= ordered) return;
  auto from = at(items.begin(), ordered);
  auto middle = at(items.begin(), count);
  if (count < items.size()) std::nth_element(from, middle, items.end(), before);
  std::sort(from, middle, before);
}

// The shortest head of the order `before` whose weights satisfy enough(sum), moved to the front;
// returns its length. `key` ascends with that order: masses are added up by intervals of it, and
// only the interval in which the sum becomes enough is looked into, by halves.
template <class Key, class Before, class Enough>
size_t shortest_head(std::span<Candidate> items, Key key, Before before, Enough enough) {
  constexpr size_t kIntervals = 1024;
  constexpr double kMostKey = 100;  // whatever lies beyond weighs nothing
  double range = 1e-30;
  for (const Candidate& item : items) range = std::max(range, std::min(key(item), kMostKey));
  double scale = static_cast<double>(kIntervals - 1) / range;
  auto interval = [&](const Candidate& item) {
    return static_cast<size_t>(std::min(key(item), range) * scale);
  };
  std::array<double, kIntervals> mass{};
  for (const Candidate& item : items) mass[interval(item)] += static_cast<double>(item.weight);
  double sum = 0;
  size_t border = 0;
  while (border + 1 < kIntervals && !enough(sum + mass[border])) sum += mass[border++];

  auto first = std::partition(items.begin(), items.end(),
                              [&](const Candidate& item) { return interval(item) < border; });
  auto last = std::partition(first, items.end(),
                             [&](const Candidate& item) { return interval(item) == border; });
  auto low = static_cast<size_t>(first - items.begin());  // items before `low` are in
  auto high = static_cast<size_t>(last - items.begin());  // items from `high` on are out
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    std::nth_element(at(items.begin(), low), at(items.begin(), middle), at(items.begin(), high),
                     before);
    double half = 0;
    for (size_t i = low; i < middle; ++i) half += static_cast<double>(items[i].weight);
    if (enough(sum + half)) {
      high = middle;
    } else {
      sum += half;
      low = middle;
    }
  }
  return high;
}

}  // namespace

void Candidates::fill(std::span<const float> row, float floor) {
  items_.clear();
  items_.reserve(row.size());
  ordered_ = 0;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i] >= floor && row[i] != kMinusInfinity)
      items_.push_back({static_cast<int32_t>(i), row[i], 0.0f});
}

void Candidates::fill_highest(std::span<const float> row, size_t k) {
  constexpr size_t kLargestHeap = 1024;
  if (k > std::min(kLargestHeap, row.size())) {
    fill(row, kMinusInfinity);
    order(k);
    keep(std::min(k, size()), ordered_);
    return;
  }
  items_.reserve(k);
  select_highest(row, k, items_, higher, [](size_t index, float value) {
    return Candidate{static_cast<int32_t>(index), value, 0.0f};
  });
  ordered_ = items_.size();
}

float Candidates::highest() const {
  if (ordered_ > 0) return items_[0].logit;
  float best = kMinusInfinity;
  for (const Candidate& item : items_) best = std::max(best, item.logit);
  return best;
}

void Candidates::order(size_t count) {
  count = std::min(count, size());
  order_head(items(), ordered_, count, higher);
  ordered_ = std::max(ordered_, count);
}

double Candidates::weigh() {
  float top = highest();
  double sum = 0;
  for (Candidate& item : items_) item.weight = exp_negative(item.logit - top);
  for (const Candidate& item : items_) sum += static_cast<double>(item.weight);
  return sum;
}

void Candidates::keep(size_t count, size_t ordered) {
  items_.resize(count);
  ordered_ = std::min(ordered, count);
}

void Candidates::drop_highest(size_t count) {
  if (count > ordered_)
    std::nth_element(at(items_.begin(), ordered_), at(items_.begin(), count), items_.end(), higher);
  ordered_ -= std::min(ordered_, count);
  items_.erase(items_.begin(), at(items_.begin(), count));
}

float top_n_sigma_floor(std::span<const float> row, float n) {
  double sum = 0, squares = 0;
  size_t count = 0;
  for (float value : row) {
    if (value == kMinusInfinity) continue;
    sum += static_cast<double>(value);
    ++count;
  }
  if (count == 0) return kMinusInfinity;
  double mean = sum / static_cast<double>(count);
  for (float value : row) {
    if (value == kMinusInfinity) continue;
    double distance = static_cast<double>(value) - mean;
    squares += distance * distance;
  }
  double deviation = std::sqrt(squares / static_cast<double>(count));
  double floor = static_cast<double>(maximum(row)) - static_cast<double>(n) * deviation;
  return static_cast<float>(std::max(floor, -kLargest));
}

void keep_top_k(Candidates& candidates, int k) {
  if (k <= 0 || static_cast<size_t>(k) >= candidates.size()) return;
  candidates.order(static_cast<size_t>(k));
  candidates.keep(static_cast<size_t>(k), static_cast<size_t>(k));
}

void keep_typical(Candidates& candidates, float p, size_t min_keep) {
  if (p >= 1.0f || candidates.empty()) return;
  double sum = candidates.weigh();
  double normaliser = static_cast<double>(candidates.highest()) + std::log(sum);
  double entropy = 0;
  for (const Candidate& item : candidates.items())
    entropy +=
        static_cast<double>(item.weight) / sum * (normaliser - static_cast<double>(item.logit));
  // |surprise - entropy| is the distance of a logit from here.
  double centre = normaliser - entropy;
  auto nearer = [centre](const Candidate& a, const Candidate& b) {
    double distance_a = std::fabs(static_cast<double>(a.logit) - centre);
    double distance_b = std::fabs(static_cast<double>(b.logit) - centre);
    return distance_a != distance_b ? distance_a < distance_b : higher(a, b);
  };
  double target = static_cast<double>(p) * sum;
  size_t count = shortest_head(
      candidates.items(),
      [centre](const Candidate& item) {
        return std::fabs(static_cast<double>(item.logit) - centre);
      },
      nearer, [target](double head) { return head > target; });
  size_t least = std::min(min_keep, candidates.size());
  if (count < least) {
    order_head(candidates.items(), count, least, nearer);
    count = least;
  }
  candidates.keep(count, 0);
}

void keep_top_p(Candidates& candidates, float p, size_t min_keep) {
  if (p >= 1.0f || candidates.empty()) return;
  double target = static_cast<double>(p) * candidates.weigh();
  size_t ordered = candidates.ordered();
  size_t count = 0;
  if (ordered == candidates.size()) {
    double sum = 0;
    while (count < ordered && (count == 0 || sum < target))
      sum += static_cast<double>(candidates[count++].weight);
  } else {
    auto top = static_cast<double>(candidates.highest());
    count = shortest_head(
        candidates.items(),
        [top](const Candidate& item) { return top - static_cast<double>(item.logit); }, higher,
        [target](double sum) { return sum >= target; });
    ordered = 0;
  }
  size_t least = std::min(min_keep, candidates.size());
  if (count < least) {
    order_head(candidates.items(), ordered, least, higher);
    count = ordered = least;
  }
  candidates.keep(count, ordered);
}

void keep_min_p(Candidates& candidates, float p, size_t min_keep) {
  if (p <= 0.0f || candidates.empty()) return;
  float floor = candidates.highest() + std::log(p);
  candidates.order(min_keep);
  std::span<Candidate> items = candidates.items();
  auto outside = [floor](const Candidate& item) { return item.logit < floor; };
  auto head = at(items.begin(), candidates.ordered());
  size_t ordered = static_cast<size_t>(std::find_if(items.begin(), head, outside) - items.begin());
  if (ordered < candidates.ordered()) {  // then all of the rest is below
    size_t count = std::min(std::max(ordered, min_keep), candidates.ordered());
    candidates.keep(count, count);
    return;
  }
  auto end = std::remove_if(head, items.end(), outside);
  candidates.keep(static_cast<size_t>(end - items.begin()), ordered);
}

void exclude_top_choices(Candidates& candidates, float threshold, size_t min_keep) {
  if (threshold > 0.5f || candidates.size() < 2) return;
  float least = static_cast<float>(static_cast<double>(threshold) * candidates.weigh());
  size_t above = 0;  // candidates at or above the threshold
  for (const Candidate& item : candidates.items()) above += item.weight >= least;
  if (above < 2 || candidates.size() - (above - 1) < min_keep) return;
  candidates.drop_highest(above - 1);
}

void apply_temperature(Candidates& candidates, float temperature) {
  float top = candidates.highest();  // taken off, so that a tiny temperature cannot overflow
  for (Candidate& item : candidates.items()) item.logit = (item.logit - top) / temperature;
}

void apply_dynamic_temperature(Candidates& candidates, float temperature, float range,
                               float exponent) {
  if (candidates.size() < 2) return;
  double sum = candidates.weigh();
  double entropy = 0;
  for (const Candidate& item : candidates.items()) {
    double probability = static_cast<double>(item.weight) / sum;
    if (probability > 0) entropy -= probability * std::log(probability);
  }
  double place = std::pow(entropy / std::log(static_cast<double>(candidates.size())),
                          static_cast<double>(exponent));
  double least = std::max(0.0, static_cast<double>(temperature) - static_cast<double>(range));
  double most = static_cast<double>(temperature) + static_cast<double>(range);
  auto chosen = static_cast<float>(least + (most - least) * place);
  if (chosen > 0) {
    apply_temperature(candidates, chosen);
  } else {
    candidates.order(1);
    candidates.keep(1, 1);
  }
}

int mirostat_top_k(Candidates& candidates, float mu, int vocab_size) {
  constexpr size_t kUsed = 100;
  size_t used = std::min(kUsed, candidates.size());
  if (used < 2) return 1;
  candidates.order(used);
  double slopes = 0, squares = 0;
  for (size_t i = 0; i + 1 < used; ++i) {
    double ratio = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    slopes += ratio * (static_cast<double>(candidates[i].logit) -
                       static_cast<double>(candidates[i + 1].logit));
    squares += ratio * ratio;
  }
  double exponent = slopes / squares;  // of Zipf's law
  double epsilon = exponent - 1;
  double log_vocab = std::log(static_cast<double>(vocab_size));
  double scale =
      std::fabs(epsilon) < 1e-9 ? 1 / log_vocab : epsilon / (1 - std::exp(-epsilon * log_vocab));
  double k = std::pow(scale * std::exp2(static_cast<double>(mu)), 1 / exponent);
  auto most = static_cast<double>(candidates.size());
  return std::isnan(k) ? static_cast<int>(most) : static_cast<int>(std::clamp(k, 1.0, most));
}

void keep_surprise_below(Candidates& candidates, float mu) {
  double least = candidates.weigh() * std::exp2(-static_cast<double>(mu));
  candidates.order(1);
  std::span<Candidate> items = candidates.items();
  auto end = std::remove_if(items.begin() + 1, items.end(), [least](const Candidate& item) {
    return static_cast<double>(item.weight) < least;
  });
  candidates.keep(static_cast<size_t>(end - items.begin()), 1);
}

size_t draw_index(Candidates& candidates, double uniform) {
  check(!candidates.empty(), "draw: no candidate is left");
  double target = uniform * candidates.weigh();
  double sum = 0;
  size_t last = 0;  // with a weight, for a sum that rounding left below the target
  for (size_t i = 0; i < candidates.size(); ++i) {
    double weight = static_cast<double>(candidates[i].weight);
    if (weight <= 0) continue;
    sum += weight;
    last = i;
    if (sum > target) break;
  }
  return last;
}

}  // namespace crane
