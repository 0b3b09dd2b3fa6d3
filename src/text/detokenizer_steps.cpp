#include "text/detokenizer_steps.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/regex.h"
#include "base/strings.h"
#include "text/tokenizer_bytes.h"
#include "text/tokenizer_spec.h"

namespace crane {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// A step made of two functions over a state of type T.
template <class T>
class StateOf : public DecodeStepState {
 public:
  using Push = std::function<void(T& state, std::string token, const PassOn& next)>;
  using Finish = std::function<void(T& state, const PassOn& next)>;
  StateOf(const Push& push, const Finish& finish) : push_(push), finish_(finish) {}
  void push(std::string token, const PassOn& next) override {
    push_(state_, std::move(token), next);
  }
  void finish(const PassOn& next) override {
    if (finish_) finish_(state_, next);
  }

 private:
  const Push& push_;
  const Finish& finish_;
  T state_{};
};

template <class T>
class StepOf : public DecodeStep {
 public:
  StepOf(typename StateOf<T>::Push push, typename StateOf<T>::Finish finish)
      : push_(std::move(push)), finish_(std::move(finish)) {}
  std::unique_ptr<DecodeStepState> start() const override {
    return std::make_unique<StateOf<T>>(push_, finish_);
  }

 private:
  typename StateOf<T>::Push push_;
  typename StateOf<T>::Finish finish_;
};

using Step = std::unique_ptr<DecodeStep>;

template <class T>
Step step_of(typename StateOf<T>::Push push, typename StateOf<T>::Finish finish = nullptr) {
  return std::make_unique<StepOf<T>>(std::move(push), std::move(finish));
}

struct Nothing {};

// A step that maps each token by itself.
Step mapping_step(std::function<void(std::string&)> map) {
  return step_of<Nothing>([map = std::move(map)](Nothing&, std::string token, const PassOn& next) {
    map(token);
    next(std::move(token));
  });
}

Step byte_level_step() {
  return mapping_step([](std::string& token) {
    if (std::optional<std::string> bytes = from_byte_alphabet(token)) token = std::move(*bytes);
  });
}

Step byte_fallback_step() {
  return mapping_step([](std::string& token) {
    if (const std::optional<char> byte = byte_of_token(token)) token = *byte;
  });
}

Step metaspace_step(const Spec& spec) {
  const std::string replacement = spec.character("replacement");
  const bool hide_first =
      spec.text("prepend_scheme", "always") != "never" && spec.flag("add_prefix_space", true);
  struct First {
    bool seen = false;
  };
  return step_of<First>([=](First& first, std::string token, const PassOn& next) {
    replace_all(token, replacement, !first.seen && hide_first ? "" : " ");
    first.seen = true;
    next(std::move(token));
  });
}

// English spacing that the models' training data had taken apart.
void clean_up(std::string& token) {
  static constexpr std::string_view kRules[][2] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& rule : kRules) replace_all(token, rule[0], rule[1]);
}

Step wordpiece_step(const Spec& spec) {
  struct First {
    bool seen = false;
  };
  return step_of<First>([prefix = spec.text("prefix"), clean = spec.flag("cleanup")](
                            First& first, std::string token, const PassOn& next) {
    if (first.seen) {
      if (token.rfind(prefix, 0) == 0)
        token.erase(0, prefix.size());
      else
        token = cat(" ", token);
    }
    first.seen = true;
    if (clean) clean_up(token);
    next(std::move(token));
  });
}

// The suffix marks the end of a word: a space, but none behind the last token.
Step bpe_step(const Spec& spec) {
  using Held = std::optional<std::string>;
  const std::string suffix = spec.text("suffix");
  return step_of<Held>(
      [suffix](Held& held, std::string token, const PassOn& next) {
        if (held) {
          replace_all(*held, suffix, " ");
          next(std::move(*held));
        }
        held = std::move(token);
      },
      [suffix](Held& held, const PassOn& next) {
        if (!held) return;
        replace_all(*held, suffix, "");
        next(std::move(*held));
      });
}

Step ctc_step(const Spec& spec) {
  using Previous = std::optional<std::string>;
  return step_of<Previous>(
      [pad = spec.text("pad_token"), delimiter = spec.text("word_delimiter_token"),
       clean = spec.flag("cleanup")](Previous& previous, std::string token, const PassOn& next) {
        if (previous == token) return;
        previous = token;
        replace_all(token, pad, "");
        if (clean) {
          clean_up(token);
          replace_all(token, delimiter, " ");
        }
        if (!token.empty()) next(std::move(token));
      });
}

// Before the tokens are fused each is stripped by itself.
Step strip_step(const std::string& character, size_t start, size_t stop) {
  return mapping_step([=](std::string& token) {
    size_t begin = 0, end = token.size();
    for (size_t i = 0; i < start && token.compare(begin, character.size(), character) == 0; ++i)
      begin += character.size();
    for (size_t i = 0; i < stop && end >= begin + character.size() &&
                       token.compare(end - character.size(), character.size(), character) == 0;
         ++i)
      end -= character.size();
    token = token.substr(begin, end - begin);
  });
}

// Behind a fusing step: only the ends of the whole text are stripped. What may yet be its end is
// held back.
Step fused_strip_step(const std::string& character, size_t start, size_t stop) {
  struct Ends {
    bool begun = false;  // something else than `character` was seen, or `start` are removed
    size_t removed = 0;
    size_t held = 0;     // of `character`, at the end so far
    std::string unread;  // a beginning of `character`
  };
  const auto flush = [character](Ends& ends, size_t keep, std::string& out) {
    for (; ends.held > keep; --ends.held) out += character;
  };
  return step_of<Ends>(
      [=](Ends& ends, std::string token, const PassOn& next) {
        token = cat(ends.unread, token);
        ends.unread.clear();
        std::string out;
        for (size_t at = 0; at < token.size();) {
          const std::string_view rest = std::string_view(token).substr(at);
          if (rest.size() < character.size() && character.rfind(rest, 0) == 0) {
            ends.unread = rest;
            break;
          }
          if (rest.substr(0, character.size()) == character) {
            if (!ends.begun && ends.removed < start) {
              ++ends.removed;
            } else {
              ++ends.held;
              flush(ends, stop, out);
            }
            at += character.size();
            continue;
          }
          ends.begun = true;
          flush(ends, 0, out);
          out += rest[0];
          ++at;
        }
        if (!out.empty()) next(std::move(out));
      },
      [=](Ends& ends, const PassOn& next) {
        std::string out;
        flush(ends, stop, out);
        out += ends.unread;
        if (!out.empty()) next(std::move(out));
      });
}

Step replace_step(const Spec& spec) {
  const SpecPattern pattern = spec.pattern("pattern");
  if (pattern.text.empty()) spec.fail("Replace of an empty pattern");
  const std::string content = spec.text("content");
  if (!pattern.is_regex)
    return mapping_step([=](std::string& token) { replace_all(token, pattern.text, content); });
  const auto regex = std::make_shared<const Regex>(pattern.text);
  return mapping_step([=](std::string& token) {
    std::string out;
    size_t covered = 0;
    regex->for_each(token, [&](RegexMatch match) {
      out.append(token, covered, match.begin - covered);
      out += content;
      covered = match.end;
    });
    out.append(token, covered);
    token = std::move(out);
  });
}

// Behind a fusing step a pattern may lie across tokens: the text is replaced as one at the end.
Step gathering_step() {
  return step_of<std::string>(
      [](std::string& whole, std::string token, const PassOn&) { whole += token; },
      [](std::string& whole, const PassOn& next) { next(std::move(whole)); });
}

Step spaces_between_step() {
  struct First {
    bool seen = false;
  };
  return step_of<First>([](First& first, std::string token, const PassOn& next) {
    if (first.seen) token = cat(" ", token);
    first.seen = true;
    next(std::move(token));
  });
}

size_t count_of(const Spec& spec, std::string_view key) {
  const int64_t count = spec.integer(key);
  if (count < 0 || count > 1'000'000) spec.fail(cat(key, " ", count, ", expected 0..1000000"));
  return static_cast<size_t>(count);
}

void append_steps(const Spec& spec, DecodeChain& out, bool& fused) {
  const std::string type = spec.type();
  const auto gather = [&] {
    if (fused) out.steps.push_back(gathering_step());
  };
  if (type == "Sequence") {
    for (const Spec& child : spec.children("decoders")) append_steps(child, out, fused);
  } else if (type == "ByteLevel") {
    gather();
    out.steps.push_back(byte_level_step());
    fused = true;
  } else if (type == "ByteFallback") {
    gather();
    out.steps.push_back(byte_fallback_step());
  } else if (type == "Fuse") {
    fused = true;
  } else if (type == "Strip") {
    const std::string character = spec.character("content");
    const size_t start = count_of(spec, "start"), stop = count_of(spec, "stop");
    out.steps.push_back(fused ? fused_strip_step(character, start, stop)
                              : strip_step(character, start, stop));
  } else if (type == "Replace") {
    gather();
    out.steps.push_back(replace_step(spec));
  } else if (type == "Metaspace") {
    gather();
    out.steps.push_back(metaspace_step(spec));
  } else if (type == "WordPiece") {
    gather();
    out.steps.push_back(wordpiece_step(spec));
  } else if (type == "BPEDecoder") {
    gather();
    out.steps.push_back(bpe_step(spec));
  } else if (type == "CTC") {
    gather();
    out.steps.push_back(ctc_step(spec));
  } else {
    spec.refuse(cat("type ", type));
  }
}

}  // namespace

DecodeChain make_decode_chain(const Json& json) {
  DecodeChain out;
  bool fused = false;
  if (json.is_null())
    out.steps.push_back(spaces_between_step());
  else
    append_steps(Spec(json, "decoder"), out, fused);
  return out;
}

std::unique_ptr<DecodeStep> make_strip_start_step(std::string character, size_t count) {
  return fused_strip_step(character, count, 0);
}

DecodeChainState::DecodeChainState(const DecodeChain& chain) {
  for (const auto& step : chain.steps) states_.push_back(step->start());
}

void DecodeChainState::pass(size_t step, std::string token, std::string& out) {
  if (step == states_.size()) {
    out += token;
    return;
  }
  states_[step]->push(std::move(token), [this, step, &out](std::string passed) {
    pass(step + 1, std::move(passed), out);
  });
}

std::string DecodeChainState::push(std::string token) {
  std::string out;
  pass(0, std::move(token), out);
  return out;
}

std::string DecodeChainState::finish() {
  std::string out;
  for (size_t step = 0; step < states_.size(); ++step)
    states_[step]->finish(
        [this, step, &out](std::string passed) { pass(step + 1, std::move(passed), out); });
  return out;
}

}  // namespace crane
