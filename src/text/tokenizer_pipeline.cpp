#include "text/tokenizer_pipeline.h"

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"

namespace crane {
namespace {

class ChainStream : public DecodeStream {
 public:
  ChainStream(const TokenizerParts& parts, bool skip_special)
      : parts_(parts), chain_(parts.decoder), skip_special_(skip_special) {}

  std::string push(int32_t id) override {
    if (!parts_.vocabulary->has(id)) return {};
    const auto index = static_cast<size_t>(id);
    if (skip_special_ && parts_.special[index]) return {};
    return chain_.push(parts_.decoded.empty() ? std::string(parts_.vocabulary->text(id))
                                              : parts_.decoded[index]);
  }
  std::string finish() override { return chain_.finish(); }

 private:
  const TokenizerParts& parts_;
  DecodeChainState chain_;
  bool skip_special_;
};

class PipelineTokenizer : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
    parts_.special.resize(static_cast<size_t>(parts_.vocabulary->size()), false);
  }

  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options) const override {
    if (const std::optional<size_t> bad = find_invalid_utf8(text))
      throw Error(ErrorCode::invalid_argument, cat("text: not UTF-8 at byte ", *bad));
    std::vector<int32_t> ids;
    ModelScratch scratch;
    parts_.raw_tokens.split(text, options.parse_special, [&](int32_t id, std::string_view part) {
      if (id >= 0)
        ids.push_back(id);
      else
        encode_part(part, part.data() == text.data(), options.parse_special, scratch, ids);
    });
    return options.add_special ? with_specials(ids) : ids;
  }

  int vocab_size() const override { return parts_.vocabulary->size(); }

  std::string token_bytes(int32_t id) const override {
    if (!parts_.vocabulary->has(id)) return {};
    // A decoder may treat the first token apart and hold the last one back: put the token between
    // two others, and take away what these two give alone.
    const auto decode_between = [&](const std::string* middle) {
      DecodeChainState state(parts_.decoder);
      std::string out = state.push("x");
      if (middle != nullptr) out += state.push(*middle);
      out += state.push("x");
      return out + state.finish();
    };
    const std::string token = parts_.decoded.empty() ? std::string(parts_.vocabulary->text(id))
                                                     : parts_.decoded[static_cast<size_t>(id)];
    const std::string with = decode_between(&token), without = decode_between(nullptr);
    if (with.size() <= without.size()) return {};
    return with.substr(1, with.size() - without.size());
  }

  bool is_special(int32_t id) const override {
    return parts_.vocabulary->has(id) && parts_.special[static_cast<size_t>(id)];
  }

  std::optional<int32_t> find_token(std::string_view text) const override {
    return parts_.vocabulary->find(text);
  }
  std::optional<int32_t> bos() const override { return parts_.bos; }
  std::optional<int32_t> eos() const override { return parts_.eos; }
  std::string model_name() const override { return parts_.model_name; }
  std::string pre_tokenizer_name() const override { return parts_.pre_tokenizer.name; }

  std::unique_ptr<DecodeStream> decode_stream(bool skip_special) const override {
    return std::make_unique<ChainStream>(parts_, skip_special);
  }

 private:
  void encode_part(std::string_view part, bool starts_input, bool parse_special,
                   ModelScratch& scratch, std::vector<int32_t>& ids) const {
    std::string text(part);
    bool begin_removed = false;
    for (const auto& step : parts_.normalizer) begin_removed |= step->apply(text);
    parts_.normalized_tokens.split(text, parse_special, [&](int32_t id, std::string_view piece) {
      if (id >= 0)
        ids.push_back(id);
      else
        encode_plain({std::string(piece),
                      {{0, piece.size()}},
                      starts_input && !begin_removed && piece.data() == text.data()},
                     scratch, ids);
    });
  }

  void encode_plain(Pieces pieces, ModelScratch& scratch, std::vector<int32_t>& ids) const {
    for (const auto& step : parts_.pre_tokenizer.steps) step->apply(pieces);
    const std::string_view whole = pieces.text;
    for (const Span& span : pieces.spans)
      parts_.model->encode(whole.substr(span.begin, span.end - span.begin), scratch, ids);
  }

  // The text may begin with the special token that the template would put there: once is enough.
  std::vector<int32_t> with_specials(const std::vector<int32_t>& ids) const {
    std::vector<int32_t> out;
    out.reserve(ids.size() + parts_.special_template.size());
    for (size_t i = 0; i < parts_.special_template.size(); ++i) {
      const int32_t id = parts_.special_template[i];
      if (id == TokenizerParts::kText)
        out.insert(out.end(), ids.begin(), ids.end());
      else if (i > 0 || ids.empty() || ids[0] != id)
        out.push_back(id);
    }
    return out;
  }

  TokenizerParts parts_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_pipeline_tokenizer(TokenizerParts parts) {
  return std::make_shared<PipelineTokenizer>(std::move(parts));
}

}  // namespace crane
