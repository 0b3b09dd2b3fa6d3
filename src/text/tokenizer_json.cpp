#include "text/tokenizer_json.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/strings.h"
#include "text/bpe.h"
#include "text/tokenizer_pipeline.h"
#include "text/tokenizer_spec.h"
#include "text/unigram.h"
#include "text/wordpiece.h"

namespace crane {
namespace {

// The "vocab" object of a model: text to id, ids may have gaps.
std::shared_ptr<Vocabulary> read_vocabulary(const Spec& model) {
  const Json& json = model.json()["vocab"];
  if (!json.is_object()) model.fail(cat("vocab is ", json.kind_name(), ", expected an object"));
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->reserve(json.as_object().size());
  for (const auto& [text, id] : json.as_object()) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= Vocabulary::kMaxSize)
      model.fail(
          cat("vocab.", text, ": ", id.dump(), ", expected an id below ", Vocabulary::kMaxSize));
    if (!vocabulary->insert(text, static_cast<int32_t>(id.as_integer())))
      model.fail(cat("vocab.", text, ": id ", id.as_integer(), " is taken"));
  }
  return vocabulary;
}

// The merges as pairs of views into the JSON.
std::vector<BpeModel::MergeText> read_merges(const Spec& model) {
  const Json& json = model.json()["merges"];
  if (!json.is_array()) model.fail(cat("merges is ", json.kind_name(), ", expected an array"));
  std::vector<BpeModel::MergeText> merges;
  merges.reserve(json.as_array().size());
  for (const Json& item : json.as_array()) {
    const auto fail = [&] {
      model.fail(cat("merges[", merges.size(), "]: ", item.dump().substr(0, 80),
                     ", expected \"a b\" or [\"a\", \"b\"]"));
    };
    if (item.is_string()) {
      const std::string_view line = item.as_string();
      if (line.rfind("#version", 0) == 0) continue;
      const size_t space = line.find(' ');
      if (space == line.npos || line.find(' ', space + 1) != line.npos) fail();
      merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    } else if (item.is_array() && item.as_array().size() == 2 && item.as_array()[0].is_string() &&
               item.as_array()[1].is_string()) {
      merges.emplace_back(item.as_array()[0].as_string(), item.as_array()[1].as_string());
    } else {
      fail();
    }
  }
  return merges;
}

// Files from before the models carried their type.
std::string model_type(const Spec& model) {
  if (model.has("type")) return model.type();
  if (model.has("merges")) return "BPE";
  if (model.json()["vocab"].is_array()) return "Unigram";
  return model.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

std::unique_ptr<TokenModel> make_bpe(const Spec& model, std::shared_ptr<Vocabulary> vocabulary) {
  if (model.has("dropout") && model.json()["dropout"].as_number() != 0)
    model.refuse("dropout (ids would be random)");
  BpeOptions options;
  options.byte_fallback = model.flag("byte_fallback", false);
  options.fuse_unknown = model.flag("fuse_unk", false);
  options.ignore_merges = model.flag("ignore_merges", false);
  options.prefix = model.text("continuing_subword_prefix", "");
  options.suffix = model.text("end_of_word_suffix", "");
  if (const auto unknown = model.optional_text("unk_token"))
    options.unknown = vocabulary->find(*unknown).value_or(BpeOptions::kNoSuchToken);
  try {
    return std::make_unique<BpeModel>(std::move(vocabulary), read_merges(model), options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;
    model.fail(error.what());
  }
}

std::unique_ptr<TokenModel> make_unigram(const Spec& model,
                                         const std::shared_ptr<Vocabulary>& vocabulary) {
  const Json& json = model.json()["vocab"];
  if (!json.is_array()) model.fail(cat("vocab is ", json.kind_name(), ", expected an array"));
  std::vector<double> scores;
  double lowest = std::numeric_limits<double>::infinity();
  vocabulary->reserve(json.as_array().size());
  for (const Json& item : json.as_array()) {
    const bool pair = item.is_array() && item.as_array().size() == 2 &&
                      item.as_array()[0].is_string() && item.as_array()[1].is_number();
    const double score = pair ? item.as_array()[1].as_number() : 0;
    if (!pair || !std::isfinite(score))
      model.fail(cat("vocab[", scores.size(), "]: ", item.dump().substr(0, 80),
                     ", expected [text, score]"));
    if (!vocabulary->push_back(item.as_array()[0].as_string()))
      model.fail(cat("vocab[", scores.size(), "]: repeats ",
                     item.as_array()[0].as_string().substr(0, 80)));
    scores.push_back(score);
    lowest = std::min(lowest, score);
  }
  UnigramOptions options;
  options.byte_fallback = model.flag("byte_fallback", false);
  options.unknown_score = lowest - 10.0;
  if (model.has("unk_id")) {
    const int64_t id = model.integer("unk_id");
    if (id < 0 || id >= vocabulary->size())
      model.fail(cat("unk_id ", id, ", expected below ", vocabulary->size()));
    options.unknown = static_cast<int32_t>(id);
  }
  return std::make_unique<UnigramModel>(vocabulary, std::move(scores), std::vector<bool>(),
                                        options);
}

std::unique_ptr<TokenModel> make_wordpiece(const Spec& model,
                                           std::shared_ptr<Vocabulary> vocabulary) {
  WordPieceOptions options;
  options.continuing_prefix = model.text("continuing_subword_prefix");
  const int64_t longest = model.integer("max_input_chars_per_word");
  if (longest < 0) model.fail(cat("max_input_chars_per_word ", longest));
  options.max_characters = static_cast<size_t>(longest);
  options.unknown = vocabulary->find(model.text("unk_token"));
  return std::make_unique<WordPieceModel>(std::move(vocabulary), options);
}

class JsonBuilder {
 public:
  JsonBuilder(const Json& json, const Json& config) : json_(json), config_(config) {}

  std::shared_ptr<const Tokenizer> build() {
    const Spec root(json_, "");
    if (root.has("version") && root.text("version") != "1.0")
      root.refuse(cat("version ", root.json()["version"].dump()));
    if (!root.has("model")) root.fail("model is missing");
    const Spec model(json_["model"], "model");
    make_model(model);
    parts_.normalizer = make_normalizer(json_["normalizer"]);
    parts_.pre_tokenizer = make_pre_tokenizer(json_["pre_tokenizer"]);
    parts_.decoder = make_decode_chain(json_["decoder"]);
    add_tokens(root);
    if (root.has("post_processor"))
      apply_post_processor(Spec(json_["post_processor"], "post_processor"));
    apply_config();
    check_template();
    parts_.vocabulary = vocabulary_;
    return make_pipeline_tokenizer(std::move(parts_));
  }

 private:
  void make_model(const Spec& model) {
    const std::string type = model_type(model);
    parts_.model_name = type;
    if (type == "Unigram") {
      vocabulary_ = std::make_shared<Vocabulary>();
      parts_.model = make_unigram(model, vocabulary_);
    } else if (type == "BPE" || type == "WordPiece" || type == "WordLevel") {
      vocabulary_ = read_vocabulary(model);
      if (type == "BPE")
        parts_.model = make_bpe(model, vocabulary_);
      else if (type == "WordPiece")
        parts_.model = make_wordpiece(model, vocabulary_);
      else
        parts_.model = std::make_unique<WordLevelModel>(vocabulary_,
                                                        vocabulary_->find(model.text("unk_token")));
    } else {
      model.refuse(cat("type ", type));
    }
    // The model keeps the vocabulary without the added tokens; they get a copy.
    vocabulary_ = std::make_shared<Vocabulary>(*vocabulary_);
  }

  // Ids as the reference gives them: that of the model's token of the same text, else the next free
  // one behind the vocabulary; the id in the file is what it should come to.
  void add_tokens(const Spec& root) {
    if (!root.has("added_tokens")) return;
    std::set<int64_t> declared;
    std::map<int32_t, std::string> normalized;
    std::set<std::string, std::less<>> special_texts;
    auto next = static_cast<int32_t>(vocabulary_->count());
    for (const Spec& spec : root.children("added_tokens")) {
      AddedToken token;
      token.content = spec.text("content");
      if (token.content.empty()) spec.fail("content is the empty string");
      if (!declared.insert(spec.integer("id")).second)
        spec.fail(cat("id ", spec.integer("id"), " is repeated"));
      token.special = spec.flag("special");
      token.single_word = spec.flag("single_word", false);
      token.lstrip = spec.flag("lstrip", false);
      token.rstrip = spec.flag("rstrip", false);
      if (const std::optional<int32_t> known = vocabulary_->find(token.content)) {
        token.id = *known;
      } else {
        token.id = next++;
        if (!vocabulary_->insert(token.content, token.id))
          spec.fail(cat("id ", token.id, " belongs to another token"));
      }
      if (token.special) special_texts.insert(token.content);
      if (!spec.flag("normalized", !token.special)) {
        parts_.raw_tokens.add(std::move(token));
        continue;
      }
      for (const auto& step : parts_.normalizer) step->apply(token.content);
      if (token.content.empty()) continue;  // nothing in a normalized text can be it
      normalized[token.id] = token.content;
      parts_.normalized_tokens.add(std::move(token));
    }
    fill_decoded(normalized, special_texts);
  }

  // The decoder is given the normalized spelling of normalized tokens, and that is compared with
  // the special tokens' texts.
  void fill_decoded(const std::map<int32_t, std::string>& normalized,
                    const std::set<std::string, std::less<>>& special_texts) {
    parts_.special.assign(static_cast<size_t>(vocabulary_->size()), false);
    if (!normalized.empty()) parts_.decoded.resize(parts_.special.size());
    for (int32_t id = 0; id < vocabulary_->size(); ++id) {
      if (!vocabulary_->has(id)) continue;
      std::string text(vocabulary_->text(id));
      if (const auto at = normalized.find(id); at != normalized.end()) text = at->second;
      parts_.special[static_cast<size_t>(id)] = special_texts.count(text) > 0;
      if (!normalized.empty()) parts_.decoded[static_cast<size_t>(id)] = std::move(text);
    }
  }

  void apply_post_processor(const Spec& spec) {
    const std::string type = spec.type();
    std::vector<int32_t> text = std::move(parts_.special_template);
    std::vector<int32_t> out;
    if (type == "TemplateProcessing") {
      out = read_template(spec, text);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      out.push_back(pair_id(spec, "cls"));
      out.insert(out.end(), text.begin(), text.end());
      out.push_back(pair_id(spec, "sep"));
    } else if (type == "ByteLevel") {
      out = std::move(text);
    } else if (type == "Sequence") {
      parts_.special_template = std::move(text);
      for (const Spec& child : spec.children("processors")) apply_post_processor(child);
      return;
    } else {
      spec.refuse(cat("type ", type));
    }
    parts_.special_template = std::move(out);
  }

  std::vector<int32_t> read_template(const Spec& spec, const std::vector<int32_t>& text) const {
    std::vector<int32_t> out;
    for (const Spec& piece : spec.children("single")) {
      const Json& special = piece.json()["SpecialToken"]["id"];
      if (special.is_string()) {
        const Json& ids = spec.json()["special_tokens"][special.as_string()]["ids"];
        if (!ids.is_array())
          spec.fail(cat("special_tokens.", special.as_string(), ".ids is missing"));
        for (const Json& id : ids.as_array()) out.push_back(checked_id(spec, id));
      } else if (piece.json()["Sequence"]["id"] == Json("A")) {
        out.insert(out.end(), text.begin(), text.end());
      } else {
        piece.fail(cat(piece.json().dump(), ", expected a SpecialToken or the Sequence A"));
      }
    }
    return out;
  }

  static int32_t checked_id(const Spec& spec, const Json& id) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= Vocabulary::kMaxSize)
      spec.fail(cat("id ", id.dump(), ", expected 0..", Vocabulary::kMaxSize - 1));
    return static_cast<int32_t>(id.as_integer());
  }

  static int32_t pair_id(const Spec& spec, std::string_view key) {
    const Json& pair = spec.json()[key];
    if (!pair.is_array() || pair.as_array().size() != 2)
      spec.fail(cat(key, " is ", pair.dump(), ", expected [text, id]"));
    return checked_id(spec, pair.as_array()[1]);
  }

  std::optional<int32_t> config_token(std::string_view key) const {
    const Json& value = config_[key];
    const Json& text = value.is_object() ? value["content"] : value;
    return text.is_string() ? vocabulary_->find(text.as_string()) : std::nullopt;
  }

  // transformers: where the configuration says whether BOS and EOS are added, it replaces the
  // post-processor.
  void apply_config() {
    parts_.bos = config_token("bos_token");
    parts_.eos = config_token("eos_token");
    if (!config_.contains("add_bos_token") && !config_.contains("add_eos_token")) return;
    parts_.special_template.clear();
    if (parts_.bos && config_.get<bool>("add_bos_token", false))
      parts_.special_template.push_back(*parts_.bos);
    parts_.special_template.push_back(TokenizerParts::kText);
    if (parts_.eos && config_.get<bool>("add_eos_token", false))
      parts_.special_template.push_back(*parts_.eos);
  }

  void check_template() const {
    for (const int32_t id : parts_.special_template)
      if (id != TokenizerParts::kText && !vocabulary_->has(id))
        throw Error(ErrorCode::io,
                    cat("tokenizer.json post_processor: id ", id, " is not in the vocabulary"));
  }

  const Json& json_;
  const Json& config_;
  TokenizerParts parts_;
  std::shared_ptr<Vocabulary> vocabulary_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_tokenizer(const Json& tokenizer_json,
                                                const Json& tokenizer_config) {
  return JsonBuilder(tokenizer_json, tokenizer_config).build();
}

}  // namespace crane
