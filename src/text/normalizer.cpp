#include "text/normalizer.h"

#include <functional>

#include "base/error.h"
#include "base/regex.h"
#include "base/strings.h"
#include "base/unicode.h"
#include "text/normalizer_charsmap.h"
#include "text/tokenizer_bytes.h"
#include "text/tokenizer_spec.h"

namespace crane {
namespace {

// Rewrites a text code point by code point.
class MapStep : public NormalizerStep {
 public:
  using Map = std::function<void(std::string& out, char32_t c)>;
  explicit MapStep(Map map) : map_(std::move(map)) {}

  bool apply(std::string& text) const override {
    std::string out;
    out.reserve(text.size());
    bool removed = false;
    for (size_t at = 0; at < text.size();) {
      const DecodedCodePoint c = decode_utf8(text, at);
      map_(out, c.code_point);
      if (at == 0) removed = out.empty();
      at += static_cast<size_t>(c.length);
    }
    text = std::move(out);
    return removed;
  }

 private:
  Map map_;
};

// Rewrites a text as a whole.
class WholeStep : public NormalizerStep {
 public:
  using Rewrite = std::function<bool(std::string& text)>;
  explicit WholeStep(Rewrite rewrite) : rewrite_(std::move(rewrite)) {}
  bool apply(std::string& text) const override { return rewrite_(text); }

 private:
  Rewrite rewrite_;
};

class FormStep : public NormalizerStep {
 public:
  explicit FormStep(NormalForm form) : form_(form) {}
  bool apply(std::string& text) const override {
    text = normalize(text, form_);
    return false;
  }

 private:
  NormalForm form_;
};

class ReplaceStep : public NormalizerStep {
 public:
  ReplaceStep(const SpecPattern& pattern, std::string content) : content_(std::move(content)) {
    if (pattern.is_regex)
      regex_ = std::make_unique<Regex>(pattern.text);
    else
      literal_ = pattern.text;
  }

  bool apply(std::string& text) const override {
    std::string out;
    size_t covered = 0;
    bool removed = false;
    const auto replace = [&](size_t begin, size_t end) {
      out.append(text, covered, begin - covered);
      out += content_;
      removed = removed || (begin == 0 && end > 0 && content_.empty());
      covered = end;
    };
    if (regex_) {
      regex_->for_each(text, [&](RegexMatch match) { replace(match.begin, match.end); });
    } else {
      for (size_t at = text.find(literal_); at != text.npos; at = text.find(literal_, covered))
        replace(at, at + literal_.size());
    }
    if (covered == 0 && out.empty()) return false;
    out.append(text, covered);
    text = std::move(out);
    return removed;
  }

 private:
  std::string content_, literal_;
  std::unique_ptr<Regex> regex_;
};

class CharsmapStep : public NormalizerStep {
 public:
  explicit CharsmapStep(Charsmap map) : map_(std::move(map)) {}

  // The reference looks up whole grapheme clusters when short, then single code points, and in both
  // takes the shortest rule that the part begins with.
  bool apply(std::string& text) const override {
    std::string out;
    out.reserve(text.size());
    for (const std::string_view cluster : split_graphemes(text)) {
      if (cluster.size() < 6 && replace(cluster, out)) continue;
      for (size_t at = 0; at < cluster.size();) {
        const auto length = static_cast<size_t>(decode_utf8(cluster, at).length);
        const std::string_view part = cluster.substr(at, length);
        if (!replace(part, out)) out += part;
        at += length;
      }
    }
    text = std::move(out);
    return false;
  }

 private:
  bool replace(std::string_view part, std::string& out) const {
    const std::optional<Charsmap::Match> match = map_.find_shortest(part);
    if (match) out += match->replacement;
    return match.has_value();
  }
  Charsmap map_;
};

bool is_chinese(char32_t c) {
  // 0x2B920 is the reference's, where Unicode has 0x2B820.
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void clean_character(std::string& out, char32_t c) {
  const bool blank = c == '\t' || c == '\n' || c == '\r';
  if (c == 0 || c == 0xFFFD || (!blank && is_other(c))) return;
  append_utf8(out, blank || is_white_space(c) ? U' ' : c);
}

void isolate_chinese(std::string& out, char32_t c) {
  const bool chinese = is_chinese(c);
  if (chinese) out += ' ';
  append_utf8(out, c);
  if (chinese) out += ' ';
}

bool strip(std::string& text, bool left, bool right) {
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    const DecodedCodePoint c = decode_utf8(text, begin);
    if (!is_white_space(c.code_point)) break;
    begin += static_cast<size_t>(c.length);
  }
  while (right && end > begin) {
    size_t last = end - 1;
    while (last > begin && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    if (!is_white_space(decode_utf8(text, last).code_point)) break;
    end = last;
  }
  text = text.substr(begin, end - begin);
  return begin > 0;
}

void nmt_character(std::string& out, char32_t c) {
  const bool removed = (c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
                       c == 0x8F || c == 0x9F;
  if (removed) return;
  const bool blank = c == 9 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                     (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xFEFF || c == 0xFFFD;
  append_utf8(out, blank ? U' ' : c);
}

template <bool (*is_removed)(char32_t)>
void keep_others(std::string& out, char32_t c) {
  if (!is_removed(c)) append_utf8(out, c);
}

// BERT's normalizer. Runs of ASCII need none of the steps for other letters, and most text is
// ASCII.
class BertStep : public NormalizerStep {
 public:
  explicit BertStep(const BertNormalizerOptions& options) : options_(options) {}

  bool apply(std::string& text) const override {
    std::string out, other;
    out.reserve(text.size());
    bool removed = false;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      if (static_cast<unsigned char>(text[at]) < 0x80) {
        append_ascii(out, text[at++]);
      } else {
        while (at < text.size() && static_cast<unsigned char>(text[at]) >= 0x80) ++at;
        other.assign(text, begin, at - begin);
        const bool first_removed = rewrite(other);
        out += other;
        removed = removed || (begin == 0 && first_removed);
        continue;
      }
      removed = removed || (begin == 0 && out.empty());
    }
    text = std::move(out);
    return removed;
  }

 private:
  void append_ascii(std::string& out, char c) const {
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    if (options_.clean_text) {
      if (!blank && is_control(static_cast<char32_t>(c))) return;
      if (blank) c = ' ';
    }
    out += options_.lowercase && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }

  bool rewrite(std::string& text) const {
    bool removed = false;
    if (options_.clean_text) removed = MapStep(clean_character).apply(text);
    if (options_.handle_chinese_chars) MapStep(isolate_chinese).apply(text);
    if (options_.strip_accents) {
      text = normalize(text, NormalForm::nfd);
      removed = MapStep(keep_others<is_nonspacing_mark>).apply(text) || removed;
    }
    if (options_.lowercase) MapStep(append_lower).apply(text);
    return removed;
  }

  BertNormalizerOptions options_;
};

using Step = std::unique_ptr<NormalizerStep>;

Step map_step(MapStep::Map map) { return std::make_unique<MapStep>(std::move(map)); }
Step whole_step(WholeStep::Rewrite rewrite) {
  return std::make_unique<WholeStep>(std::move(rewrite));
}

Step make_replace(const Spec& spec) {
  const SpecPattern pattern = spec.pattern("pattern");
  if (pattern.text.empty()) spec.fail("Replace of an empty pattern");
  return std::make_unique<ReplaceStep>(pattern, spec.text("content"));
}

Step make_bert(const Spec& spec) {
  const bool lowercase = spec.flag("lowercase");
  return make_bert_step({.clean_text = spec.flag("clean_text"),
                         .handle_chinese_chars = spec.flag("handle_chinese_chars"),
                         .strip_accents = spec.flag("strip_accents", lowercase),
                         .lowercase = lowercase});
}

Step make_strip(const Spec& spec) {
  const bool left = spec.flag("strip_left"), right = spec.flag("strip_right");
  return whole_step([left, right](std::string& text) { return strip(text, left, right); });
}

Step make_charsmap(const Spec& spec) {
  const std::string where = spec.path() + ".precompiled_charsmap";
  return std::make_unique<CharsmapStep>(
      Charsmap(decode_base64(spec.text("precompiled_charsmap"), where)));
}

Step make_byte_level() {
  return whole_step([](std::string& text) {
    std::string out;
    append_byte_alphabet(out, text);
    text = std::move(out);
    return false;
  });
}

void append_steps(const Spec& spec, Normalizer& out) {
  const std::string type = spec.type();
  if (type == "Sequence") {
    for (const Spec& child : spec.children("normalizers")) append_steps(child, out);
  } else if (type == "NFC") {
    out.push_back(std::make_unique<FormStep>(NormalForm::nfc));
  } else if (type == "NFD") {
    out.push_back(std::make_unique<FormStep>(NormalForm::nfd));
  } else if (type == "NFKC") {
    out.push_back(std::make_unique<FormStep>(NormalForm::nfkc));
  } else if (type == "NFKD") {
    out.push_back(std::make_unique<FormStep>(NormalForm::nfkd));
  } else if (type == "Lowercase") {
    out.push_back(make_lowercase_step());
  } else if (type == "StripAccents") {
    out.push_back(map_step(keep_others<is_combining_mark>));
  } else if (type == "Strip") {
    out.push_back(make_strip(spec));
  } else if (type == "BertNormalizer") {
    out.push_back(make_bert(spec));
  } else if (type == "Replace") {
    out.push_back(make_replace(spec));
  } else if (type == "Prepend") {
    out.push_back(make_prepend_step(spec.text("prepend")));
  } else if (type == "Precompiled") {
    out.push_back(make_charsmap(spec));
  } else if (type == "Nmt") {
    out.push_back(map_step(nmt_character));
  } else if (type == "ByteLevel") {
    out.push_back(make_byte_level());
  } else {
    spec.refuse(cat("type ", type));
  }
}

}  // namespace

Normalizer make_normalizer(const Json& json) {
  Normalizer out;
  if (!json.is_null()) append_steps(Spec(json, "normalizer"), out);
  return out;
}

std::unique_ptr<NormalizerStep> make_prepend_step(std::string prefix) {
  return whole_step([prefix = std::move(prefix)](std::string& text) {
    if (!text.empty()) text.insert(0, prefix);
    return false;
  });
}

std::unique_ptr<NormalizerStep> make_replace_step(std::string literal, std::string content) {
  return std::make_unique<ReplaceStep>(SpecPattern{false, std::move(literal)}, std::move(content));
}

std::unique_ptr<NormalizerStep> make_lowercase_step() { return map_step(append_lower); }

std::unique_ptr<NormalizerStep> make_bert_step(const BertNormalizerOptions& options) {
  return std::make_unique<BertStep>(options);
}

}  // namespace crane
