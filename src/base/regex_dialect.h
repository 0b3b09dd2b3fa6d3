// Translates a pattern in Oniguruma's default (Ruby) dialect, in which tokenizer.json files are
// written, to PCRE2's, with the classes of Oniguruma's Unicode version.
//
// Known differences: \s without U+180E; \w, \d, \b by Unicode; \h a hex digit; ^ and $ at every
// line;
// (?m) lets the dot match line ends; X{n,m}+ repeats X{n,m}; [a&&b] and [a[b]] are set operations.
#pragma once

#include <string>
#include <string_view>

namespace crane {

// Throws Error(unsupported) naming pattern and construct where there is no equal in PCRE2. Syntax
// errors pass through, so that the compiler of the result reports them.
std::string translate_oniguruma(std::string_view pattern);

}  // namespace crane
