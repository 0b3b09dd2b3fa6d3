// Batch: the tokens of one step, of any number of sequences, as plain data.
//
// Prefill, chunked prefill, decode and mixed steps are one path: a sequence has known tokens and
// computed tokens, and a batch holds the run that is computed next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace crane {

// How a token is computed where a backend has two modes of arithmetic. A token keeps its mode when
// it is computed again (preemption, cache miss), so its result never changes.
enum class TokenMode : uint8_t { prompt, generated };

// A run of consecutive tokens of one sequence, all of one mode.
struct SequenceRun {
  int slot = 0;   // of the recurrent state
  int past = 0;   // tokens of the sequence before this run
  int begin = 0;  // first row in the batch
  int count = 0;
  int first_block = 0;  // where its block table begins in Batch::block_tables
  TokenMode mode = TokenMode::prompt;
};

struct Batch {
  std::vector<int32_t> tokens;     // [tokens]
  std::vector<int32_t> positions;  // [tokens]
  std::vector<SequenceRun> runs;   // those of prompt mode first
  std::vector<int32_t> block_tables;
  std::vector<int32_t> logit_rows;  // ascending rows that need logits
  int prompt_tokens = 0;            // rows [0, prompt_tokens) are in prompt mode

  int size() const { return static_cast<int>(tokens.size()); }
  std::span<const int32_t> blocks(const SequenceRun& run, int block_size) const {
    size_t used = static_cast<size_t>((run.past + run.count + block_size - 1) / block_size);
    return std::span(block_tables).subspan(static_cast<size_t>(run.first_block), used);
  }
};

}  // namespace crane
