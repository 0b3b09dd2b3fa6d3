#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include <pcre2.h>

#include "base/error.h"
#include "base/regex_dialect.h"
#include "base/strings.h"
#include "base/unicode.h"

namespace crane {
namespace {

constexpr size_t kMaxPatternBytes = 64 * 1024;
constexpr uint32_t kMatchSteps = 10'000'000;  // and as many again for every 100 kB of text
constexpr uint32_t kMatchHeapKib = 256 * 1024;
constexpr size_t kJitStackStart = 32 * 1024;
constexpr size_t kJitStackMax = 64 * 1024 * 1024;

struct FreeCode {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
};
struct FreeCompileContext {
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
};
struct FreeMatchData {
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
};
struct FreeMatchContext {
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};
struct FreeJitStack {
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};

std::string error_text(int code) {
  PCRE2_UCHAR buffer[256];
  const int length = pcre2_get_error_message(code, buffer, sizeof(buffer));
  return length < 0
             ? cat("error ", code)
             : std::string(reinterpret_cast<const char*>(buffer), static_cast<size_t>(length));
}

// The memory of one search: not shared between threads.
class Search {
 public:
  Search(const pcre2_code* code, const std::string& pattern)
      : code_(code),
        pattern_(pattern),
        data_(pcre2_match_data_create_from_pattern(code, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (!data_ || !context_) throw std::bad_alloc();
    pcre2_set_heap_limit(context_.get(), kMatchHeapKib);
  }

  std::optional<RegexMatch> find(std::string_view text, size_t from) {
    const uint64_t steps = kMatchSteps + uint64_t{100} * text.size();
    pcre2_set_match_limit(context_.get(),
                          static_cast<uint32_t>(std::min<uint64_t>(steps, 4'000'000'000u)));
    int result = match(text, from, PCRE2_NO_UTF_CHECK);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && !jit_stack_) {
      jit_stack_.reset(pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr));
      if (jit_stack_) pcre2_jit_stack_assign(context_.get(), nullptr, jit_stack_.get());
      result = match(text, from, PCRE2_NO_UTF_CHECK);
    }
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
      result = match(text, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (result < 0)
      throw Error(ErrorCode::invalid_argument,
                  cat("regular expression ", pattern_, ": ", error_text(result), " on ",
                      text.size(), " bytes of text"));
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_.get());
    // \K in a look-ahead can set the begin behind the end.
    return RegexMatch{std::min(ends[0], ends[1]), ends[1]};
  }

 private:
  int match(std::string_view text, size_t from, uint32_t options) {
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, options,
                       data_.get(), context_.get());
  }

  const pcre2_code* code_;
  const std::string& pattern_;
  std::unique_ptr<pcre2_match_data, FreeMatchData> data_;
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context_;
  std::unique_ptr<pcre2_jit_stack, FreeJitStack> jit_stack_;
};

}  // namespace

struct Regex::Impl {
  std::string pattern;
  std::unique_ptr<pcre2_code, FreeCode> code;
};

Regex::Regex(std::string_view pattern) : impl_(std::make_unique<Impl>()) {
  if (pattern.size() > kMaxPatternBytes)
    throw Error(ErrorCode::unsupported, cat("regular expression ", pattern.substr(0, 40), "…: ",
                                            pattern.size(), " bytes, at most ", kMaxPatternBytes));
  impl_->pattern = pattern;
  const std::string translated = translate_oniguruma(pattern);
  std::unique_ptr<pcre2_compile_context, FreeCompileContext> context(
      pcre2_compile_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 250);
  int code = 0;
  PCRE2_SIZE offset = 0;
  impl_->code.reset(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK, &code,
      &offset, context.get()));
  if (!impl_->code)
    throw Error(ErrorCode::unsupported,
                cat("regular expression ", pattern, ": ", error_text(code)));
  // Where the JIT compiler cannot work, the interpreter does, with the same results.
  pcre2_jit_compile(impl_->code.get(), PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

const std::string& Regex::pattern() const { return impl_->pattern; }

std::optional<RegexMatch> Regex::find(std::string_view text, size_t from) const {
  return Search(impl_->code.get(), impl_->pattern).find(text, from);
}

void Regex::for_each(std::string_view text, const std::function<void(RegexMatch)>& visit) const {
  Search search(impl_->code.get(), impl_->pattern);
  std::optional<size_t> last_end;
  for (size_t from = 0; from <= text.size();) {
    const std::optional<RegexMatch> found = search.find(text, from);
    if (!found) return;
    if (found->begin == found->end && last_end == found->end) {
      if (from >= text.size()) return;
      from += static_cast<size_t>(decode_utf8(text, from).length);
      continue;
    }
    visit(*found);
    from = found->end;
    last_end = found->end;
  }
}

}  // namespace crane
