// tojson: Python's json.dumps, as transformers' environment calls it.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "text/template_runtime.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  std::string run(const Value& value) {
    write(value);
    return std::move(out_);
  }

 private:
  void write(const Value& value) {
    runtime_.step();
    runtime_.check_size(out_.size());
    switch (value.kind()) {
      case Kind::none:
        out_ += "null";
        return;
      case Kind::boolean:
        out_ += value.as_boolean() ? "true" : "false";
        return;
      case Kind::integer:
        out_ += std::to_string(value.as_integer());
        return;
      case Kind::number:
        out_ += number(value.as_number());
        return;
      case Kind::string:
        return write_text(value.text());
      case Kind::list:
      case Kind::tuple:
        return write_items(value.items());
      case Kind::dict:
        return write_dict(value.dict());
      default:
        fail(cat("Object of type ", type_name(value), " is not JSON serializable"));
    }
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_repr(value);
  }

  void open_line() {
    if (!style_.pretty) return;
    out_.push_back('\n');
    for (int i = 0; i < level_; ++i) out_ += style_.indent;
  }

  void write_items(const std::vector<Value>& items) {
    if (items.empty()) {
      out_ += "[]";
      return;
    }
    out_.push_back('[');
    ++level_;
    bool first = true;
    for (const Value& item : items) {
      if (!first) out_ += style_.item_separator;
      first = false;
      open_line();
      write(item);
    }
    --level_;
    open_line();
    out_.push_back(']');
  }

  static std::string key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::string:
        return key.text();
      case Kind::none:
        return "null";
      case Kind::boolean:
        return key.as_boolean() ? "true" : "false";
      case Kind::integer:
        return std::to_string(key.as_integer());
      case Kind::number:
        return number(key.as_number());
      default:
        fail(cat("keys must be str, int, float, bool or None, not ", type_name(key)));
    }
  }

  void write_dict(const DictObject& dict) {
    if (dict.items.empty()) {
      out_ += "{}";
      return;
    }
    out_.push_back('{');
    ++level_;
    std::vector<const DictObject::Item*> items;
    for (const auto& item : dict.items) items.push_back(&item);
    if (style_.sort_keys)
      std::stable_sort(items.begin(), items.end(), [&](const auto* a, const auto* b) {
        return compare(runtime_, Comparison::less, a->first, b->first);
      });
    bool first = true;
    for (const DictObject::Item* item : items) {
      if (!first) out_ += style_.item_separator;
      first = false;
      open_line();
      write_text(key_text(item->first));
      out_ += style_.key_separator;
      write(item->second);
    }
    --level_;
    open_line();
    out_.push_back('}');
  }

  void write_unit(uint32_t unit) {
    static constexpr char kHex[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_.push_back(kHex[(unit >> shift) & 15]);
  }

  void write_text(std::string_view text) {
    static constexpr std::string_view kFrom = "\"\\\n\r\t\f\b";
    static constexpr std::string_view kTo = "\"\\nrtfb";
    runtime_.copy_cost(8 * text.size());
    out_.push_back('"');
    for (size_t at = 0; at < text.size();) {
      size_t begin = at;
      char32_t c = next_code_point(text, at);
      size_t known = c < 0x80 ? kFrom.find(static_cast<char>(c)) : std::string_view::npos;
      if (known != std::string_view::npos) {
        out_.push_back('\\');
        out_.push_back(kTo[known]);
      } else if (c < 0x20 || (style_.ensure_ascii && c >= 0x7F && c < 0x10000)) {
        write_unit(c);
      } else if (style_.ensure_ascii && c >= 0x10000) {
        write_unit(0xD800 + ((c - 0x10000) >> 10));
        write_unit(0xDC00 + ((c - 0x10000) & 0x3FF));
      } else {
        out_ += text.substr(begin, at - begin);
      }
    }
    out_.push_back('"');
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

std::string to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  return JsonWriter(runtime, style).run(value);
}

}  // namespace crane::jinja
