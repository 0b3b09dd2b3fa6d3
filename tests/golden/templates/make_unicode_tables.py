"""Writes the Unicode tables of the template engine from the data of the Python that runs it (3.11).

    python tests/golden/templates/make_unicode_tables.py classes > src/text/template_class_tables.h
    python tests/golden/templates/make_unicode_tables.py cases > src/text/template_case_tables.h
    python tests/golden/templates/make_unicode_tables.py entities > src/text/template_entities.h
"""

import html.entities
import sys
import unicodedata

ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(test):
    found = []
    for c in map(ord, filter(test, ALL)):
        if found and (found[-1][1] == c - 1 or (c == 0xE000 and found[-1][1] == 0xD7FF)):
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def emit(name, rows):
    print(f"inline constexpr CodeRange {name}[] = {{")
    line = "   "
    for first, last in rows:
        cell = f" {{{first:#x}, {last:#x}}},"
        if len(line) + len(cell) > 100:
            print(line)
            line = "   "
        line += cell
    print(line)
    print("};")


def mapping(name, method):
    """Characters whose mapping is not their upper case (title) or lower case (fold)."""
    other = {"title": str.upper, "casefold": str.lower}[method]
    print(f"inline constexpr CaseMapping {name}[] = {{")
    line = "   "
    for c in ALL:
        text = getattr(c, method)()
        if text == other(c):
            continue
        text = "".join(f"\\u{ord(x):04x}" if ord(x) < 0x10000 else f"\\U{ord(x):08x}" for x in text)
        cell = f' {{{ord(c):#x}, U"{text}"}},'
        if len(line) + len(cell) > 100:
            print(line)
            line = "   "
        line += cell
    print(line)
    print("};")


def entities():
    """One text of " name value name value ": the names of HTML 5 as html.unescape knows them."""
    words = [f"{name} {value}" for name, value in sorted(html.entities.html5.items())]
    print("inline constexpr char kHtmlEntities[] =")
    line = '    " '
    for word in words:
        cell = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        cell = "".join(c if c.isprintable() and not unicodedata.combining(c) else
                       f"\\u{ord(c):04x}" if ord(c) >= 0xA0 else c for c in cell)
        if len(line) + len(cell) > 97:
            print(line + '"')
            line = '    "'
        line += cell + " "
    print(line + '";')


def main():
    print("// Character classes and case mappings of CPython %d.%d (Unicode %s)."
          % (*sys.version_info[:2], unicodedata.unidata_version))
    print("// Made by tests/golden/templates/make_unicode_tables.py; do not edit.")
    print("#pragma once\n")
    if sys.argv[1] == "cases":
        print('#include "text/template_class_tables.h"\n')
    print("namespace crane::jinja {\n")
    print("// clang-format off")
    if sys.argv[1] == "entities":
        entities()
    elif sys.argv[1] == "classes":
        print("struct CodeRange {\n  char32_t first, last;\n};")
        emit("kNotPrintable", ranges(lambda c: not c.isprintable()))
        emit("kDecimal", ranges(str.isdecimal))
        emit("kDigit", ranges(lambda c: c.isdigit() and not c.isdecimal()))
        emit("kNumeric", ranges(lambda c: c.isnumeric() and not c.isdigit()))
        emit("kAlpha", ranges(str.isalpha))
        emit("kIdentifierPartOnly",
             ranges(lambda c: ("a" + c).isidentifier() and not (c.isalnum() or c == "_")))
    else:
        # How str.lower treats a capital sigma tells what its neighbours are.
        final = lambda text: text.lower()[-1] == "\u03c2"
        print("struct CaseMapping {\n  char32_t from;\n  const char32_t* to;\n};")
        emit("kLower", ranges(str.islower))
        emit("kUpper", ranges(str.isupper))
        emit("kTitle", ranges(lambda c: unicodedata.category(c) == "Lt"))
        emit("kCased", ranges(lambda c: final("1" + c + "\u03a3")))
        emit("kCaseIgnorable",
             ranges(lambda c: final("a" + c + "\u03a3") and not final("1" + c + "\u03a3")))
        mapping("kTitleMapping", "title")
        mapping("kFoldMapping", "casefold")
    print("// clang-format on")
    print("\n}  // namespace crane::jinja")


main()
