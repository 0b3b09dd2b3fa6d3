// Decoders: what turns the texts of tokens back into one text, as a chain of steps that works token
// by token. The whole family of Hugging Face `tokenizers`.
//
// Each step is a transducer, so that a streamed answer is the answer: no step ever takes back what
// it has passed on. (One exception to the reference follows from that: a run of byte tokens that is
// not UTF-8 keeps its well-formed parts, and each ill-formed part becomes one U+FFFD, not each
// byte.)
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace crane {

using PassOn = std::function<void(std::string token)>;

// The state of one step for one text.
class DecodeStepState {
 public:
  virtual ~DecodeStepState() = default;
  virtual void push(std::string token, const PassOn& next) = 0;
  virtual void finish(const PassOn&) {}
};

class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  virtual std::unique_ptr<DecodeStepState> start() const = 0;
};

struct DecodeChain {
  std::vector<std::unique_ptr<DecodeStep>> steps;
};

// From the "decoder" of a tokenizer.json (null: tokens joined by spaces). Throws Error(unsupported)
// naming an unknown component, Error(io) with the JSON path on a malformed one.
DecodeChain make_decode_chain(const Json& spec);

// Removes up to `count` of `character` from the begin of the whole text.
std::unique_ptr<DecodeStep> make_strip_start_step(std::string character, size_t count);

// The state of a chain for one text.
class DecodeChainState {
 public:
  explicit DecodeChainState(const DecodeChain& chain);
  std::string push(std::string token);
  std::string finish();

 private:
  void pass(size_t step, std::string token, std::string& out);

  std::vector<std::unique_ptr<DecodeStepState>> states_;
};

}  // namespace crane
