#include "text/pretokenize.h"

#include <algorithm>

#include "base/error.h"
#include "base/regex.h"
#include "base/strings.h"
#include "base/unicode.h"
#include "text/pretokenize_scan.h"
#include "text/pretokenize_split.h"
#include "text/tokenizer_bytes.h"
#include "text/tokenizer_spec.h"

namespace crane {

void append_pieces(const std::vector<Part>& parts, SplitBehavior behavior, std::vector<Span>& out) {
  std::vector<Span> joined;
  const auto push = [&joined](const Part& part) { joined.push_back({part.begin, part.end}); };
  bool previous = false;
  switch (behavior) {
    case SplitBehavior::removed:
      for (const Part& part : parts)
        if (!part.is_match) push(part);
      break;
    case SplitBehavior::isolated:
      for (const Part& part : parts) push(part);
      break;
    case SplitBehavior::contiguous:
      for (const Part& part : parts) {
        if (part.is_match == previous && !joined.empty())
          joined.back().end = part.end;
        else
          push(part);
        previous = part.is_match;
      }
      break;
    case SplitBehavior::merged_with_previous:
      for (const Part& part : parts) {
        if (part.is_match && !previous && !joined.empty())
          joined.back().end = part.end;
        else
          push(part);
        previous = part.is_match;
      }
      break;
    case SplitBehavior::merged_with_next:
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (part->is_match && !previous && !joined.empty())
          joined.back().begin = part->begin;
        else
          push(*part);
        previous = part->is_match;
      }
      std::reverse(joined.begin(), joined.end());
      break;
  }
  for (const Span& span : joined)
    if (span.begin < span.end) out.push_back(span);
}

void CuttingStep::apply(Pieces& pieces) const {
  std::vector<Span> out;
  out.reserve(pieces.spans.size() + pieces.text.size() / 6);
  const size_t begin = pieces.spans.empty() ? 0 : pieces.spans.front().begin;
  for (const Span& span : pieces.spans) cut(pieces.text, span, out);
  if (out.empty() || out.front().begin != begin) pieces.starts_input = false;
  pieces.spans = std::move(out);
}

namespace {

class Pattern {
 public:
  static Pattern regex(std::string_view source) {
    Pattern pattern;
    pattern.scanner_ = find_scanner(source);
    if (!pattern.scanner_) pattern.regex_ = std::make_shared<Regex>(source);
    return pattern;
  }
  static Pattern literal(std::string text) {
    if (text.empty()) return regex("");  // an empty match everywhere
    Pattern pattern;
    pattern.literal_ = std::move(text);
    return pattern;
  }

  // Visits the matches in one span, as offsets of the whole text.
  void visit(std::string_view text, Span span, const VisitMatch& found) const {
    const std::string_view inside = text.substr(span.begin, span.end - span.begin);
    if (scanner_) {
      scanner_(inside,
               [&](size_t begin, size_t end) { found(span.begin + begin, span.begin + end); });
    } else if (regex_) {
      regex_->for_each(inside, [&](RegexMatch match) {
        found(span.begin + match.begin, span.begin + match.end);
      });
    } else {
      for (size_t at = inside.find(literal_); at != inside.npos;
           at = inside.find(literal_, at + literal_.size()))
        found(span.begin + at, span.begin + at + literal_.size());
    }
  }

 private:
  Scanner scanner_ = nullptr;
  std::shared_ptr<const Regex> regex_;
  std::string literal_;
};

class SplitStep : public CuttingStep {
 public:
  SplitStep(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

 protected:
  void cut(std::string_view text, Span span, std::vector<Span>& out) const override {
    size_t covered = span.begin;
    if (behavior_ == SplitBehavior::isolated) {
      const auto push = [&out](size_t begin, size_t end) {
        if (begin < end) out.push_back({begin, end});
      };
      pattern_.visit(text, span, [&](size_t begin, size_t end) {
        push(covered, begin);
        push(begin, end);
        covered = end;
      });
      push(covered, span.end);
      return;
    }
    std::vector<Part> parts;
    pattern_.visit(text, span,
                   [&](size_t begin, size_t end) { append_match(parts, covered, begin, end); });
    if (covered != span.end) parts.push_back({covered, span.end, false});
    if (invert_)
      for (Part& part : parts) part.is_match = !part.is_match;
    append_pieces(parts, behavior_, out);
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

// Cuts at each code point of a class.
class ClassSplitStep : public CuttingStep {
 public:
  using Class = std::function<bool(char32_t)>;
  ClassSplitStep(Class is_match, SplitBehavior behavior)
      : is_match_(std::move(is_match)), behavior_(behavior) {
    for (char32_t c = 0; c < 0x80; ++c) ascii_[c] = is_match_(c);
  }

 protected:
  void cut(std::string_view text, Span span, std::vector<Span>& out) const override {
    std::vector<Part> parts;
    size_t covered = span.begin;
    for (size_t at = span.begin; at < span.end;) {
      const DecodedCodePoint c = decode_utf8(text, at);
      const size_t after = at + static_cast<size_t>(c.length);
      if (c.code_point < 0x80 ? ascii_[c.code_point] : is_match_(c.code_point))
        append_match(parts, covered, at, after);
      at = after;
    }
    if (parts.empty()) {
      out.push_back(span);
      return;
    }
    if (covered != span.end) parts.push_back({covered, span.end, false});
    append_pieces(parts, behavior_, out);
  }

 private:
  Class is_match_;
  SplitBehavior behavior_;
  bool ascii_[0x80];
};

// Runs of one class each; class 0 is left out. Whitespace: \w+|[^\w\s]+.
class WhitespaceStep : public CuttingStep {
 protected:
  void cut(std::string_view text, Span span, std::vector<Span>& out) const override {
    int previous = 0;
    for (size_t at = span.begin; at < span.end;) {
      const DecodedCodePoint c = decode_utf8(text, at);
      const size_t after = at + static_cast<size_t>(c.length);
      const int kind = is_word(c.code_point) ? 1 : is_white_space(c.code_point) ? 0 : 2;
      if (kind != 0 && kind == previous)
        out.back().end = after;
      else if (kind != 0)
        out.push_back({at, after});
      previous = kind;
      at = after;
    }
  }
};

class FixedLengthStep : public CuttingStep {
 public:
  explicit FixedLengthStep(size_t length) : length_(length) {}

 protected:
  void cut(std::string_view text, Span span, std::vector<Span>& out) const override {
    size_t begin = span.begin, count = 0;
    for (size_t at = span.begin; at < span.end;) {
      at += static_cast<size_t>(decode_utf8(text, at).length);
      if (++count < length_ && at < span.end) continue;
      out.push_back({begin, at});
      begin = at;
      count = 0;
    }
  }

 private:
  size_t length_;
};

class UnicodeScriptsStep : public CuttingStep {
 protected:
  // The reference drops what comes before the first code point that has a script, and so do we.
  void cut(std::string_view text, Span span, std::vector<Span>& out) const override {
    int last = -1;
    size_t begin = text.npos;
    for (size_t at = span.begin; at < span.end;) {
      const DecodedCodePoint c = decode_utf8(text, at);
      const int script = fixed_script(c.code_point);
      if (script != 0 && last != script) {
        if (begin != text.npos) out.push_back({begin, at});
        begin = at;
      }
      if (script != 0) last = script;
      at += static_cast<size_t>(c.length);
    }
    if (begin != text.npos) out.push_back({begin, span.end});
  }

 private:
  // Japanese is written in three scripts at once; the space belongs to every script.
  static int fixed_script(char32_t c) {
    if (c == 0x30FC) return script_of(U'一');
    if (c == ' ') return 0;
    const int script = script_of(c);
    return script == script_of(U'あ') || script == script_of(U'ア') ? script_of(U'一') : script;
  }
};

class ByteLevelStep : public PreTokenizerStep {
 public:
  ByteLevelStep(bool add_prefix_space, bool use_regex) : add_prefix_space_(add_prefix_space) {
    if (use_regex)
      words_ = Pattern::regex(
          R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)");
  }

  void apply(Pieces& pieces) const override {
    std::string text;
    std::vector<Span> spans;
    text.reserve(pieces.text.size() + pieces.text.size() / 3);
    spans.reserve(pieces.spans.size());
    const auto push = [&](std::string_view piece) {
      if (piece.empty()) return;
      const size_t begin = text.size();
      append_byte_alphabet(text, piece);
      spans.push_back({begin, text.size()});
    };
    std::string prefixed;
    for (const Span& span : pieces.spans) {
      std::string_view piece =
          std::string_view(pieces.text).substr(span.begin, span.end - span.begin);
      if (add_prefix_space_ && piece[0] != ' ') {
        prefixed = cat(" ", piece);
        piece = prefixed;
      }
      if (!words_) {
        push(piece);
        continue;
      }
      size_t covered = 0;
      words_->visit(piece, {0, piece.size()}, [&](size_t begin, size_t end) {
        push(piece.substr(covered, begin - covered));
        push(piece.substr(begin, end - begin));
        covered = end;
      });
      push(piece.substr(covered));
    }
    pieces.text = std::move(text);
    pieces.spans = std::move(spans);
  }

 private:
  bool add_prefix_space_;
  std::optional<Pattern> words_;
};

enum class PrependScheme { first, never, always };

class MetaspaceStep : public PreTokenizerStep {
 public:
  MetaspaceStep(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)), scheme_(scheme), split_(split) {}

  void apply(Pieces& pieces) const override {
    std::string text;
    std::vector<Span> spans;
    bool starts_input = pieces.starts_input;
    for (const Span& span : pieces.spans) {
      const std::string piece =
          replaced(std::string_view(pieces.text).substr(span.begin, span.end - span.begin));
      const bool prepend =
          scheme_ == PrependScheme::always || (scheme_ == PrependScheme::first && starts_input);
      starts_input = false;
      const size_t begin = text.size();
      if (prepend && piece.rfind(replacement_, 0) != 0) text += replacement_;
      text += piece;
      if (split_)
        cut(text, begin, spans);
      else
        spans.push_back({begin, text.size()});
    }
    pieces.text = std::move(text);
    pieces.spans = std::move(spans);
  }

 private:
  std::string replaced(std::string_view piece) const {
    std::string out;
    for (const char c : piece) {
      if (c == ' ')
        out += replacement_;
      else
        out += c;
    }
    return out;
  }
  // Each replacement begins a piece; of several in a row, each but the last is one.
  void cut(const std::string& text, size_t begin, std::vector<Span>& spans) const {
    std::vector<Part> parts;
    size_t covered = begin;
    for (size_t at = text.find(replacement_, begin); at != text.npos;
         at = text.find(replacement_, at + replacement_.size()))
      append_match(parts, covered, at, at + replacement_.size());
    if (covered != text.size()) parts.push_back({covered, text.size(), false});
    append_pieces(parts, SplitBehavior::merged_with_next, spans);
  }

  std::string replacement_;
  PrependScheme scheme_;
  bool split_;
};

SplitBehavior behavior_of(const Spec& spec) {
  const std::string name = spec.text("behavior");
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  spec.refuse(cat("behavior ", name));
}

using Step = std::unique_ptr<PreTokenizerStep>;

Step make_metaspace(const Spec& spec) {
  const std::string scheme_name = spec.text("prepend_scheme", "always");
  PrependScheme scheme = PrependScheme::always;
  if (scheme_name == "first")
    scheme = PrependScheme::first;
  else if (scheme_name == "never")
    scheme = PrependScheme::never;
  else if (scheme_name != "always")
    spec.refuse(cat("prepend_scheme ", scheme_name));
  if (!spec.flag("add_prefix_space", true)) {
    if (scheme != PrependScheme::never && spec.has("prepend_scheme"))
      spec.fail("add_prefix_space false contradicts prepend_scheme");
    scheme = PrependScheme::never;
  }
  return std::make_unique<MetaspaceStep>(spec.character("replacement"), scheme,
                                         spec.flag("split", true));
}

Step make_split(const Spec& spec) {
  const SpecPattern pattern = spec.pattern("pattern");
  return std::make_unique<SplitStep>(
      pattern.is_regex ? Pattern::regex(pattern.text) : Pattern::literal(pattern.text),
      behavior_of(spec), spec.flag("invert"));
}

Step class_split(ClassSplitStep::Class is_match, SplitBehavior behavior) {
  return std::make_unique<ClassSplitStep>(std::move(is_match), behavior);
}

void append_steps(const Spec& spec, PreTokenizer& out) {
  const std::string type = spec.type();
  std::vector<Step>& steps = out.steps;
  if (type == "Sequence") {
    out.name += "Sequence[";
    const char* comma = "";
    for (const Spec& child : spec.children("pretokenizers")) {
      out.name += comma;
      comma = ", ";
      append_steps(child, out);
    }
    out.name += "]";
    return;
  }
  out.name += type;
  if (type == "ByteLevel") {
    steps.push_back(std::make_unique<ByteLevelStep>(spec.flag("add_prefix_space"),
                                                    spec.flag("use_regex", true)));
  } else if (type == "Metaspace") {
    steps.push_back(make_metaspace(spec));
  } else if (type == "Split") {
    steps.push_back(make_split(spec));
  } else if (type == "Whitespace") {
    steps.push_back(std::make_unique<WhitespaceStep>());
  } else if (type == "WhitespaceSplit") {
    steps.push_back(make_white_space_split_step());
  } else if (type == "BertPreTokenizer") {
    steps.push_back(make_white_space_split_step());
    steps.push_back(class_split(is_punctuation, SplitBehavior::isolated));
  } else if (type == "Punctuation") {
    steps.push_back(class_split(
        is_punctuation, spec.has("behavior") ? behavior_of(spec) : SplitBehavior::isolated));
  } else if (type == "Digits") {
    steps.push_back(class_split(is_number, spec.flag("individual_digits")
                                               ? SplitBehavior::isolated
                                               : SplitBehavior::contiguous));
  } else if (type == "CharDelimiterSplit" || type == "Delimiter") {
    const char32_t delimiter = decode_utf8(spec.character("delimiter"), 0).code_point;
    steps.push_back(
        class_split([delimiter](char32_t c) { return c == delimiter; }, SplitBehavior::removed));
  } else if (type == "UnicodeScripts") {
    steps.push_back(std::make_unique<UnicodeScriptsStep>());
  } else if (type == "FixedLength") {
    const int64_t length = spec.integer("length", 5);
    if (length < 1) spec.fail(cat("length ", length, ", expected at least 1"));
    steps.push_back(std::make_unique<FixedLengthStep>(static_cast<size_t>(length)));
  } else {
    spec.refuse(cat("type ", type));
  }
}

}  // namespace

PreTokenizer make_pre_tokenizer(const Json& json) {
  PreTokenizer out;
  if (!json.is_null()) append_steps(Spec(json, "pre_tokenizer"), out);
  return out;
}

std::unique_ptr<PreTokenizerStep> make_split_step(std::string_view pattern) {
  return std::make_unique<SplitStep>(Pattern::regex(pattern), SplitBehavior::isolated, false);
}

std::unique_ptr<PreTokenizerStep> make_byte_level_step() {
  return std::make_unique<ByteLevelStep>(false, false);
}

std::unique_ptr<PreTokenizerStep> make_white_space_split_step() {
  return class_split(is_white_space, SplitBehavior::removed);
}

}  // namespace crane
