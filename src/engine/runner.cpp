#include "engine/runner.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"

namespace crane {

std::span<const LogitRow> Runner::run(const Plan& plan) {
  release();
  rows_.clear();
  for (const BlockCopy& copy : plan.copies)
    device_.backend().copy_block(cache_, copy.from, copy.to, copy.tokens);
  build(plan);
  logits_ = model_.forward(batch_, cache_);
  if (rows_.empty()) return rows_;
  auto vocab = static_cast<size_t>(model_.vocab_size());
  Shape expected{static_cast<int64_t>(rows_.size()), static_cast<int64_t>(vocab)};
  if (!logits_.defined() || logits_.dtype() != DType::f32 || !(logits_.shape() == expected))
    throw Error(ErrorCode::internal, cat("model: logits of shape ", logits_.shape().text(),
                                         ", expected ", expected.text(), " in F32"));
  for (size_t i = 0; i < rows_.size(); ++i)
    rows_[i].logits = {logits_.data<float>() + static_cast<int64_t>(i) * logits_.stride(0), vocab};
  return rows_;
}

void Runner::build(const Plan& plan) {
  batch_.tokens.clear();
  batch_.positions.clear();
  batch_.runs.clear();
  batch_.block_tables.clear();
  batch_.logit_rows.clear();
  first_blocks_.clear();
  for (const PlannedRun& run : plan.runs) {
    const std::vector<int>& blocks = run.sequence->blocks;
    first_blocks_.push_back(static_cast<int>(batch_.block_tables.size()));
    batch_.block_tables.insert(batch_.block_tables.end(), blocks.begin(), blocks.end());
  }
  for (TokenMode mode : {TokenMode::prompt, TokenMode::generated}) {
    for (size_t i = 0; i < plan.runs.size(); ++i) {
      const PlannedRun& run = plan.runs[i];
      int border = run.sequence->prompt_tokens;
      int begin = mode == TokenMode::prompt ? run.begin : std::max(run.begin, border);
      int end = run.begin + run.count;
      if (mode == TokenMode::prompt) end = std::min(end, border);
      if (begin >= end) continue;
      add_run(*run.sequence, begin, end - begin, mode);
      batch_.runs.back().first_block = first_blocks_[i];
      for (int index = begin; index < end; ++index) {
        if (!run.sequence->wants_logits(index)) continue;
        batch_.logit_rows.push_back(batch_.runs.back().begin + index - begin);
        rows_.push_back({run.sequence->id, run.sequence, index, {}});
      }
    }
    if (mode == TokenMode::prompt) batch_.prompt_tokens = batch_.size();
  }
}

void Runner::add_run(const Sequence& sequence, int begin, int count, TokenMode mode) {
  batch_.runs.push_back({sequence.slot, begin, batch_.size(), count, 0, mode});
  auto first = sequence.tokens.begin() + begin;
  batch_.tokens.insert(batch_.tokens.end(), first, first + count);
  for (int i = 0; i < count; ++i) batch_.positions.push_back(begin + i);
}

}  // namespace crane
