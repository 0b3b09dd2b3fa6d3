#!/usr/bin/env python3
"""Writes src/base/unicode_tables.cpp and src/base/unicode_scripts.cpp.

The tables hold what the reference (Hugging Face `tokenizers`) believes about each code point, found
by asking it. Its parts follow different Unicode versions, and neither is the version of our own
libraries (PCRE2, utf8proc), so every difference that shows in a token id is listed here.

usage: make_unicode_tables.py SCRIPTS_RS    (tokenizers/src/pre_tokenizers/unicode_scripts/scripts.rs)
needs: pip install tokenizers; libutf8proc.so.2. Takes about five minutes.
"""
import ctypes
import os
import re
import sys
import unicodedata

import tokenizers
from tokenizers import Regex
from tokenizers import normalizers as norm
from tokenizers import pre_tokenizers as pre

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
UTF8PROC = ctypes.CDLL("libutf8proc.so.2")
CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
              "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"]


def ranges(members):
    out = []
    for c in sorted(members):
        if out and c == out[-1][1] + 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def regex_class(pattern, among=ALL):
    """Members of an Oniguruma class: what survives when everything else is replaced by nothing."""
    replace = norm.Replace(Regex("[^" + pattern + "]"), "")
    found = set()
    for start in range(0, len(among), 4096):
        found |= set(map(ord, replace.normalize_str("".join(map(chr, among[start:start + 4096])))))
    return found


def isolated_by(pre_tokenizer):
    found = set()
    for start in range(0, len(ALL), 4096):
        text = "".join("ab" + chr(c) + "ab" for c in ALL[start:start + 4096])
        found |= {ord(text[b]) for _, (b, e) in pre_tokenizer.pre_tokenize_str(text) if e - b == 1}
    return found


def removed_by(normalizer):
    return {c for c in ALL if normalizer.normalize_str(chr(c)) == ""}


def normalization_opaque():
    """Code points that utf8proc would decompose, compose or reorder, and the reference would not."""
    nfd = norm.NFD()
    forms = [(getattr(norm, f)(), f) for f in ("NFC", "NFD", "NFKC", "NFKD")]
    opaque = {0x11930, 0x11935, 0x11938}  # a composition of Unicode 13
    for c in ALL:
        ccc = UTF8PROC.utf8proc_get_property
        ccc.restype = ctypes.POINTER(ctypes.c_uint16)
        combining_class = ccc(c)[1]
        if combining_class > 1 and nfd.normalize_str("a" + chr(c) + "\u0334") == "a" + chr(c) + "\u0334":
            opaque.add(c)
        if any(mine(c, f) != n.normalize_str(chr(c)) for n, f in forms):
            opaque.add(c)
    return opaque


def mine(c, form):
    flags = {"NFC": 2 | 8, "NFD": 2 | 16, "NFKC": 2 | 4 | 8, "NFKD": 2 | 4 | 16}[form]
    UTF8PROC.utf8proc_map.argtypes = [ctypes.c_char_p, ctypes.c_ssize_t,
                                      ctypes.POINTER(ctypes.c_void_p), ctypes.c_int]
    UTF8PROC.utf8proc_map.restype = ctypes.c_ssize_t
    result = ctypes.c_void_p()
    text = chr(c).encode()
    size = UTF8PROC.utf8proc_map(text, len(text), ctypes.byref(result), flags)
    out = ctypes.string_at(result, size).decode()
    ctypes.CDLL(None).free(result)
    return out


def case_exceptions(expected, simple):
    simple.restype = ctypes.c_int32
    rows = []
    for c in ALL:
        want = expected(chr(c))
        if want != chr(simple(c)):
            rows.append((c, [ord(x) for x in want]))
    return rows


def emit(out, items, width=100):
    line = "   "
    for item in items:
        if len(line) + 1 + len(item) > width:
            out.append(line)
            line = "   "
        line += " " + item
    out.append(line)


def hex_range(first, last):
    return "{0x%X,0x%X}," % (first, last)


def table(out, name, note, members):
    out.append("// " + note)
    out.append("const CodePointRange %s[] = {" % name)
    emit(out, [hex_range(a, b) for a, b in ranges(members)])
    out.append("};")
    out.append("const size_t %sCount = std::size(%s);" % (name, name))
    out.append("")


def newer_categories():
    new = [c for c in ALL if unicodedata.category(chr(c)) == "Cn"]  # Python here: Unicode 14, as PCRE2
    rows = []
    for category in CATEGORIES:
        for a, b in ranges(regex_class(r"\p{%s}" % category, new)):
            rows.append((a, b, category))
    assert unicodedata.unidata_version.startswith("14."), "needs the Python of Debian 12 (Unicode 14)"
    return sorted(rows)


def case_table(out, name, rows):
    out.append("const CaseException %s[] = {" % name)
    emit(out, ["{0x%X,{%s}}," % (c, ",".join("0x%X" % x for x in to)) for c, to in rows])
    out.append("};")
    out.append("const size_t %sCount = std::size(%s);" % (name, name))
    out.append("")


def main():
    head = ["// Made by tools/make_unicode_tables.py from tokenizers %s; do not edit." %
            tokenizers.__version__, '#include "base/unicode_tables.h"', "", "#include <iterator>", "",
            "namespace crane {", "", "// clang-format off"]
    out = list(head)
    onig_word = regex_class(r"\w")
    table(out, "kPunctuation", "ASCII punctuation and P* (unicode_categories crate)",
          isolated_by(pre.Punctuation("isolated")))
    table(out, "kNumber", "N* (Rust's char::is_numeric)",
          isolated_by(pre.Digits(individual_digits=True)))
    table(out, "kLetter", "L* (Oniguruma)", regex_class(r"\p{L}"))
    table(out, "kWord", r"\w of Rust's regex crate: Oniguruma's and the two joiners",
          onig_word | {0x200C, 0x200D})
    bert = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    table(out, "kOther", "C* (unicode_categories crate), tab and line ends left out",
          removed_by(norm.BertNormalizer(**{**bert, "clean_text": True})) - {0xFFFD})
    table(out, "kNonspacingMark", "Mn (unicode_categories crate)",
          removed_by(norm.BertNormalizer(**{**bert, "strip_accents": True})))
    table(out, "kCombiningMark", "M* (unicode-normalization crate)", removed_by(norm.StripAccents()))
    table(out, "kNormalizationOpaque", "newer than the reference's normalization data",
          normalization_opaque())
    out.append("// Assigned after Unicode 14, which PCRE2 10.42 knows, with Oniguruma's categories.")
    out.append("const NewerCategory kNewerCategories[] = {")
    emit(out, ['{0x%X,0x%X,"%s"},' % row for row in newer_categories()])
    out.append("};")
    out.append("const size_t kNewerCategoriesCount = std::size(kNewerCategories);")
    out.append("")
    out.append("// Where the full case mapping is not utf8proc's simple one.")
    lower = norm.Lowercase()
    case_table(out, "kLowerExceptions", case_exceptions(lower.normalize_str, UTF8PROC.utf8proc_tolower))
    case_table(out, "kUpperExceptions", case_exceptions(str.upper, UTF8PROC.utf8proc_toupper))
    out += ["// clang-format on", "", "}  // namespace crane", ""]
    open(os.path.join(ROOT, "src/base/unicode_tables.cpp"), "w").write("\n".join(out))

    source = open(sys.argv[1]).read()
    rows = []
    for first, last, script in re.findall(
            r"0x([0-9A-F]+)(?:\.\.=0x([0-9A-F]+))? => Script::(\w+)", source):
        rows.append([int(first, 16), int(last or first, 16), script])
    rows.sort()
    merged = []
    for a, b, script in rows:
        if merged and merged[-1][1] + 1 == a and merged[-1][2] == script:
            merged[-1][1] = b
        else:
            merged.append([a, b, script])
    names = ["Any"] + sorted({row[2] for row in merged})
    out = list(head)
    out.append("const char* const kScriptNames[] = {")
    emit(out, ['"%s",' % name for name in names])
    out += ["};", "const size_t kScriptNameCount = std::size(kScriptNames);", "",
            "const ScriptRange kScripts[] = {"]
    emit(out, ["{0x%X,0x%X,%d}," % (a, b, names.index(s)) for a, b, s in merged])
    out += ["};", "const size_t kScriptCount = std::size(kScripts);", "", "// clang-format on", "",
            "}  // namespace crane", ""]
    open(os.path.join(ROOT, "src/base/unicode_scripts.cpp"), "w").write("\n".join(out))


if __name__ == "__main__":
    main()
