// Tables of code points behind unicode.cpp and regex_dialect.cpp, made by
// tools/make_unicode_tables.py: where the reference tokenizer's idea of Unicode is not that of our
// libraries. Ranges are sorted and do not overlap; both ends belong to the range.
#pragma once

#include <cstddef>

namespace crane {

struct CodePointRange {
  char32_t first, last;
};

struct NewerCategory {
  char32_t first, last;
  char category[3];  // general category, two letters
};

struct CaseException {
  char32_t from;
  char32_t to[3];  // filled up with 0
};

struct ScriptRange {
  char32_t first, last;
  unsigned char script;  // index into kScriptNames; what no range holds is 0, "Any"
};

extern const CodePointRange kPunctuation[], kNumber[], kLetter[], kWord[], kOther[],
    kNonspacingMark[], kCombiningMark[], kNormalizationOpaque[];
extern const size_t kPunctuationCount, kNumberCount, kLetterCount, kWordCount, kOtherCount,
    kNonspacingMarkCount, kCombiningMarkCount, kNormalizationOpaqueCount;
extern const NewerCategory kNewerCategories[];
extern const size_t kNewerCategoriesCount;
extern const CaseException kLowerExceptions[], kUpperExceptions[];
extern const size_t kLowerExceptionsCount, kUpperExceptionsCount;
extern const char* const kScriptNames[];
extern const size_t kScriptNameCount;
extern const ScriptRange kScripts[];
extern const size_t kScriptCount;

}  // namespace crane
