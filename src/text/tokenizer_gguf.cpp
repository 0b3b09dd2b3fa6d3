#include "text/tokenizer_gguf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"
#include "text/bpe.h"
#include "text/bpe_scores.h"
#include "text/normalizer_sentencepiece.h"
#include "text/tokenizer_bytes.h"
#include "text/tokenizer_pipeline.h"
#include "text/unigram.h"
#include "text/wordpiece.h"

namespace crane {
namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";  // ▁ U+2581, a space in SentencePiece's spelling

constexpr size_t kMaxTokenBytes = 1 << 20;

// Values of tokenizer.ggml.token_type.
enum TokenType : int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

[[noreturn]] void fail(std::string_view key, std::string_view what) {
  throw Error(ErrorCode::io, cat("GGUF key tokenizer.ggml.", key, ": ", what));
}

std::string key_of(std::string_view name) { return cat("tokenizer.ggml.", name); }

std::string replace_marks(std::string_view text) {
  std::string out;
  size_t at = 0;
  for (size_t mark = text.find(kMark); mark != text.npos; mark = text.find(kMark, at)) {
    out.append(text, at, mark - at);
    out += ' ';
    at = mark + kMark.size();
  }
  return out.append(text, at);
}

class GgufBuilder {
 public:
  explicit GgufBuilder(const Metadata& header) : header_(header) {}

  std::shared_ptr<const Tokenizer> build() {
    model_ = std::string(require_string("model"));
    if (model_ != "gpt2" && model_ != "gemma4" && model_ != "llama" && model_ != "bert" &&
        model_ != "t5" && model_ != "whitespace")
      throw Error(ErrorCode::unsupported,
                  cat("GGUF key tokenizer.ggml.model: ", model_,
                      " is not supported (gpt2, gemma4, llama, bert, t5, whitespace are)"));
    read_tokens();
    read_types();
    parts_.model_name = model_;
    if (model_ == "llama")
      build_scored_bpe();
    else if (model_ == "bert")
      build_wordpiece();
    else if (model_ == "t5")
      build_unigram();
    else
      build_bpe();
    fix_types_by_name();
    add_special_tokens();
    fill_decoded();
    parts_.vocabulary = vocabulary_;
    return make_pipeline_tokenizer(std::move(parts_));
  }

 private:
  std::string_view require_string(std::string_view name) const {
    const auto value = header_.find_string(key_of(name));
    if (!value) fail(name, "is missing");
    return *value;
  }
  bool flag(std::string_view name, bool fallback) const {
    return header_.find_bool(key_of(name)).value_or(fallback);
  }
  int32_t size() const { return vocabulary_->size(); }

  void read_tokens() {
    const auto* tokens = header_.find_strings(key_of("tokens"));
    if (tokens == nullptr || tokens->empty()) fail("tokens", "is missing or empty");
    if (tokens->size() > static_cast<size_t>(Vocabulary::kMaxSize))
      fail("tokens", cat(tokens->size(), " entries, expected at most ", Vocabulary::kMaxSize));
    vocabulary_->reserve(tokens->size());
    for (size_t i = 0; i < tokens->size(); ++i) {
      const std::string empty = cat("[EMPTY_", i, "]");  // llama.cpp's name for it
      const std::string_view text = (*tokens)[i].empty() ? std::string_view(empty) : (*tokens)[i];
      if (find_invalid_utf8(text)) fail("tokens", cat("entry ", i, " is not UTF-8"));
      if (text.size() > kMaxTokenBytes)
        fail("tokens",
             cat("entry ", i, " has ", text.size(), " bytes, expected at most ", kMaxTokenBytes));
      if (!vocabulary_->push_back(text))
        fail("tokens", cat("entry ", i, " repeats ", text.substr(0, 80)));
    }
  }

  void read_types() {
    types_.assign(static_cast<size_t>(size()), kNormal);
    const auto* types = header_.find_integers(key_of("token_type"));
    if (types == nullptr) return;
    if (types->size() < types_.size())
      fail("token_type", cat(types->size(), " entries, expected ", types_.size()));
    std::copy_n(types->begin(), types_.size(), types_.begin());
    for (int32_t id = 0; id < size(); ++id)
      if (types_[static_cast<size_t>(id)] == kByte && !byte_of_token(vocabulary_->text(id)))
        fail("tokens", cat("entry ", id, " is a byte token named ", vocabulary_->text(id),
                           ", expected <0xNN>"));
  }

  std::vector<double> read_scores() const {
    std::vector<double> scores(static_cast<size_t>(size()), 0.0);
    if (!header_.contains(key_of("scores"))) return scores;
    if (std::holds_alternative<std::vector<int64_t>>(
            header_.values.find(key_of("scores"))->second)) {
      const auto* integers = header_.find_integers(key_of("scores"));
      if (integers->size() < scores.size()) fail("scores", "fewer entries than tokens");
      std::copy_n(integers->begin(), scores.size(), scores.begin());
      return scores;
    }
    const auto* numbers = header_.find_numbers(key_of("scores"));
    if (numbers->size() < scores.size()) fail("scores", "fewer entries than tokens");
    std::copy_n(numbers->begin(), scores.size(), scores.begin());
    for (const double score : scores)
      if (!std::isfinite(score)) fail("scores", "an entry is not finite");
    return scores;
  }

  // The id in the key, else the default of the model; nothing where that is no token.
  std::optional<int32_t> special_id(std::string_view key, int64_t fallback) const {
    int64_t id = fallback >= 0 && fallback < size() ? fallback : -1;
    if (const auto given = header_.find_integer(key_of(key))) {
      if (*given < 0 || *given >= size()) fail(key, cat(*given, ", expected an id below ", size()));
      id = *given;
    }
    return id < 0 ? std::nullopt : std::optional(static_cast<int32_t>(id));
  }

  // BOS, text, EOS as the flags and their defaults say.
  void set_template(bool add_bos, bool add_eos) {
    parts_.special_template.clear();
    if (add_bos && parts_.bos) parts_.special_template.push_back(*parts_.bos);
    parts_.special_template.push_back(TokenizerParts::kText);
    if (add_eos && parts_.eos) parts_.special_template.push_back(*parts_.eos);
  }

  void build_bpe() {
    const std::string name(
        model_ == "gemma4" ? "gemma4" : header_.find_string(key_of("pre")).value_or("default"));
    const bool white_space = model_ == "whitespace";
    static const GgufPreTokenizer kRaw{};
    const GgufPreTokenizer* rules = white_space ? &kRaw : find_gguf_pre_tokenizer(name);
    if (rules == nullptr)
      throw Error(ErrorCode::unsupported,
                  cat("GGUF key tokenizer.ggml.pre: ", name, " is not supported"));
    raw_utf8_ = rules->escape_spaces || white_space;
    marks_are_spaces_ = rules->escape_spaces;
    parts_.pre_tokenizer.name = name;
    auto& steps = parts_.pre_tokenizer.steps;
    for (const std::string_view pattern : rules->patterns)
      steps.push_back(make_split_step(pattern));
    if (white_space) {
      if (flag("normalizer.lowercase", false)) parts_.normalizer.push_back(make_lowercase_step());
      steps.push_back(make_white_space_split_step());
    }
    if (rules->escape_spaces)
      parts_.normalizer.push_back(make_replace_step(" ", std::string(kMark)));
    else if (!raw_utf8_)
      steps.push_back(make_byte_level_step());
    BpeOptions options;
    options.missing = raw_utf8_ ? MissingCharacter::byte_tokens : MissingCharacter::drop;
    options.ignore_merges = rules->ignore_merges;
    options.whole_newlines = rules->whole_newlines;
    parts_.model = std::make_unique<BpeModel>(vocabulary_, read_merges(), options);
    const bool has_defaults =
        model_ == "gpt2" && name != "chatglm-bpe" && name != "glm4" && name != "glm5";
    parts_.bos = special_id("bos_token_id", has_defaults ? 11 : -1);
    parts_.eos = special_id("eos_token_id", model_ == "gpt2" ? 11 : -1);
    set_template(flag("add_bos_token", rules->add_bos) || rules->whole_newlines,
                 flag("add_eos_token", false));
  }

  std::vector<BpeModel::MergeText> read_merges() const {
    const auto* lines = header_.find_strings(key_of("merges"));
    if (lines == nullptr) fail("merges", "is missing");
    std::vector<BpeModel::MergeText> merges;
    merges.reserve(lines->size());
    for (const std::string_view line : *lines) {
      if (find_invalid_utf8(line)) fail("merges", cat("entry ", merges.size(), " is not UTF-8"));
      const size_t space = line.find(' ', 1);
      if (space == line.npos) fail("merges", cat("entry ", merges.size(), " has no space"));
      merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    }
    return merges;
  }

  void build_scored_bpe() {
    parts_.bos = special_id("bos_token_id", 1);
    parts_.eos = special_id("eos_token_id", 2);
    parts_.pre_tokenizer.name = std::string(header_.find_string(key_of("pre")).value_or(""));
    marks_are_spaces_ = raw_utf8_ = true;
    if (flag("add_space_prefix", true)) {
      parts_.normalizer.push_back(make_prepend_step(" "));
      parts_.decoder.steps.push_back(make_strip_start_step(" ", 1));
    }
    parts_.normalizer.push_back(make_replace_step(" ", std::string(kMark)));
    parts_.model = std::make_unique<ScoredBpeModel>(vocabulary_, read_scores(),
                                                    special_id("unknown_token_id", 0));
    set_template(flag("add_bos_token", true), flag("add_eos_token", false));
  }

  void build_wordpiece() {
    parts_.bos =
        special_id("bos_token_id", header_.find_integer(key_of("cls_token_id")).value_or(101));
    parts_.eos = special_id("seperator_token_id", 102);
    parts_.pre_tokenizer.name = std::string(header_.find_string(key_of("pre")).value_or(""));
    marks_are_spaces_ = raw_utf8_ = true;
    const bool lowercase = flag("normalizer.lowercase", true);
    parts_.normalizer.push_back(make_bert_step(
        {.strip_accents = flag("normalizer.strip_accents", lowercase), .lowercase = lowercase}));
    Json bert = JsonObject();
    bert.as_object()["type"] = "BertPreTokenizer";
    parts_.pre_tokenizer.steps = std::move(make_pre_tokenizer(bert).steps);
    WordPieceOptions options;
    options.first_prefix = kMark;
    options.max_characters = std::numeric_limits<size_t>::max();
    options.unknown = special_id("unknown_token_id", 100);
    parts_.model = std::make_unique<WordPieceModel>(vocabulary_, options);
    parts_.decoder.steps.push_back(make_strip_start_step(" ", 1));
    set_template(true, true);
  }

  void build_unigram() {
    parts_.bos = special_id("bos_token_id", -1);
    parts_.eos = special_id("eos_token_id", 1);
    parts_.pre_tokenizer.name = std::string(header_.find_string(key_of("pre")).value_or(""));
    marks_are_spaces_ = raw_utf8_ = true;
    SentencePieceOptions spaces;
    spaces.add_space_prefix = flag("add_space_prefix", false);
    spaces.remove_extra_whitespaces = flag("remove_extra_whitespaces", false);
    if (const auto* bytes = header_.find_integers(key_of("precompiled_charsmap")))
      spaces.charsmap.emplace(std::string(bytes->begin(), bytes->end()));
    std::vector<double> scores = read_scores();
    std::vector<bool> usable(scores.size());
    UnigramOptions options;
    options.unknown = special_id("unknown_token_id", 2);
    double lowest = std::numeric_limits<float>::max();
    for (int32_t id = 0; id < size(); ++id) {
      const auto at = static_cast<size_t>(id);
      usable[at] = types_[at] == kNormal || types_[at] == kUserDefined || types_[at] == kUnused;
      if (types_[at] == kNormal) lowest = std::min(lowest, scores[at]);
      if (types_[at] != kUserDefined) continue;
      scores[at] = 0;
      spaces.protected_texts.emplace_back(vocabulary_->text(id));
    }
    options.unknown_score = lowest - 10.0;
    const bool prefix = spaces.add_space_prefix || spaces.remove_extra_whitespaces;
    parts_.normalizer.push_back(make_sentencepiece_step(std::move(spaces)));
    parts_.model = std::make_unique<UnigramModel>(vocabulary_, std::move(scores), usable, options);
    if (prefix) parts_.decoder.steps.push_back(make_strip_start_step(" ", 1));
    set_template(flag("add_bos_token", false), flag("add_eos_token", true));
  }

  // Converters have left some turn ends as plain tokens: as in llama.cpp these names are control
  // tokens wherever they stand.
  void fix_types_by_name() {
    static constexpr std::array<std::string_view, 24> kEnds{"<|eot_id|>",
                                                            "<|im_end|>",
                                                            "<|end|>",
                                                            "<|return|>",
                                                            "<|call|>",
                                                            "<|flush|>",
                                                            "<|calls|>",
                                                            "<end_of_turn>",
                                                            "<|endoftext|>",
                                                            "</s>",
                                                            "<|eom_id|>",
                                                            "<EOT>",
                                                            "_<EOT>",
                                                            "[EOT]",
                                                            "[EOS]",
                                                            "<|end_of_text|>",
                                                            "<end_of_utterance>",
                                                            "<eos>",
                                                            "<turn|>",
                                                            "<|tool_response>",
                                                            "<｜end▁of▁sentence｜>",
                                                            "[e~[",
                                                            "<|fim_pad|>",
                                                            "<|repo_name|>"};
    const bool normal_s = vocabulary_->find("<|tool_response>") && vocabulary_->find("</s>");
    for (const std::string_view name : kEnds) {
      const std::optional<int32_t> id = vocabulary_->find(name);
      if (id) types_[static_cast<size_t>(*id)] = kControl;
    }
    if (normal_s) types_[static_cast<size_t>(*vocabulary_->find("</s>"))] = kNormal;
    for (const std::string_view name : {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})
      if (const std::optional<int32_t> id = vocabulary_->find(name))
        types_[static_cast<size_t>(*id)] = kUserDefined;
  }

  void add_special_tokens() {
    const std::string general = to_lower_ascii(header_.find_string("general.name").value_or(""));
    const bool phi3 = general.find("phi-3") != general.npos || general.find("phi3") != general.npos;
    const std::string_view architecture = header_.find_string("general.architecture").value_or("");
    const std::string& pre = parts_.pre_tokenizer.name;
    const bool strip_mask = pre.find("jina-v2-") != pre.npos || architecture == "nomic-bert-moe" ||
                            architecture == "jina-bert-v3";
    parts_.special.assign(types_.size(), false);
    for (int32_t id = 0; id < size(); ++id) {
      const int64_t type = types_[static_cast<size_t>(id)];
      if (type != kControl && type != kUnknown && type != kUserDefined) continue;
      AddedToken token;
      token.id = id;
      token.content = vocabulary_->text(id);
      token.special = type != kUserDefined;
      token.rstrip = phi3 && token.content != "<unk>" && token.content != "<s>" &&
                     token.content != "<|endoftext|>";
      token.lstrip = (strip_mask && token.content == "<mask>") ||
                     (pre == "modern-bert" && token.content == "[MASK]");
      parts_.special[static_cast<size_t>(id)] = token.special;
      parts_.raw_tokens.add(std::move(token));
    }
  }

  void fill_decoded() {
    parts_.decoded.resize(types_.size());
    for (int32_t id = 0; id < size(); ++id) {
      const auto at = static_cast<size_t>(id);
      const std::string_view text = vocabulary_->text(id);
      std::string& out = parts_.decoded[at];
      out = text;
      if (types_[at] == kByte) {
        out = *byte_of_token(text);
      } else if (types_[at] == kNormal || types_[at] == kUnused) {
        if (marks_are_spaces_)
          out = replace_marks(text);
        else if (!raw_utf8_)
          out = from_byte_alphabet(text).value_or(out);
      }
    }
  }

  const Metadata& header_;
  std::string model_;
  TokenizerParts parts_;
  std::shared_ptr<Vocabulary> vocabulary_ = std::make_shared<Vocabulary>();
  std::vector<int64_t> types_;
  bool raw_utf8_ = false;          // token texts are UTF-8, not the byte alphabet
  bool marks_are_spaces_ = false;  // ▁ in a token's text is a space
};

}  // namespace

std::shared_ptr<const Tokenizer> make_tokenizer(const Metadata& gguf_header) {
  return GgufBuilder(gguf_header).build();
}

}  // namespace crane
