#!/usr/bin/env python3
"""Checks sizes: a file has at most 600 lines, a function at most 60, a model file at most 100
non-blank lines, and nothing takes more than 6 parameters. Exceptions stand here with a reason."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES, FUNCTION_LINES, MODEL_LINES, PARAMETERS = 600, 60, 100, 6

# "path" or "path:function" -> why it may be larger.
EXCEPTIONS = {
    "src/base/unicode_scripts.cpp": "a table of Unicode data, made by a script",
    "src/base/unicode_tables.cpp": "a table of Unicode data, made by a script",
}

# Files of src/models that are the frame around the models.
NO_MODELS = {"src/models/registry.cpp", "src/models/config.cpp"}


def without_text(lines):
    """The lines with strings, characters and comments blanked, so that braces can be counted."""
    out, in_comment = [], False
    for line in lines:
        line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', '""', line)
        if in_comment:
            line, in_comment = ("", True) if "*/" not in line else (line.split("*/", 1)[1], False)
        line = re.sub(r"/\*.*?\*/", "", line)
        if "/*" in line:
            line, in_comment = line.split("/*", 1)[0], True
        out.append(re.sub(r"//.*", "", line))
    return out


def functions_of(lines):
    """(line number, header, length) of every function body that clang-format's style shows: its
    header begins at a column of a namespace or class member and its body ends at that column."""
    lines = without_text(lines)
    number = 0
    while number < len(lines):
        line = lines[number]
        indent = len(line) - len(line.lstrip())
        starts = re.match(r"\s*(?![\[{\"]|namespace|struct|class|enum|union|extern|#|if|for|while|switch|do\b|else|return|\}|typedef|using)\S", line)
        if not starts or indent > 4 or "(" not in line and not line.rstrip().endswith(","):
            number += 1
            continue
        header, end = "", number
        while end < len(lines) and end - number < 12:
            header += " " + lines[end].strip()
            if re.search(r"[;{}]\s*$", lines[end]):
                break
            end += 1
        body = re.search(r"\)[^()=]*\{\s*$|\)\s*(const|noexcept|override|final|mutable|->.*)*\s*(:.*)?\{\s*$", header)
        if end >= len(lines) or not body or re.search(r"=\s*(\[|\{)", header):
            number = max(end, number) + 1 if not header.endswith(";") else end + 1
            continue
        close = end + 1
        while close < len(lines) and not re.match(r" {%d}\}" % indent, lines[close]):
            close += 1
        yield number + 1, header.strip(), close - number + 1
        number = close + 1


def parameters_of(header):
    """How many parameters the first parenthesis of a function header lists."""
    depth, count, seen = 0, 0, False
    for char in header[header.index("("):] if "(" in header else "":
        if char in "(<[{":
            depth += 1
        elif char in ")>]}":
            depth -= 1
            if depth == 0:
                break
        elif depth == 1:
            seen = seen or not char.isspace()
            count += char == ","
    return count + 1 if seen or count else 0


def name_of(header):
    match = re.search(r"([~\w:]+|operator\S+)\s*\(", header)
    return match.group(1) if match else header[:40]


def problems_of(path):
    name = path.relative_to(ROOT).as_posix()
    lines = path.read_text().splitlines()
    if len(lines) > FILE_LINES and name not in EXCEPTIONS:
        yield f"{name}: {len(lines)} lines, allowed {FILE_LINES}"
    if path.suffix == ".py":
        return
    filled = sum(1 for line in lines if line.strip())
    if name.startswith("src/models/") and path.suffix == ".cpp" and name not in NO_MODELS and \
            filled > MODEL_LINES and name not in EXCEPTIONS:
        yield f"{name}: {filled} non-blank lines, allowed {MODEL_LINES} in a model"
    for number, header, length in functions_of(lines):
        function = name_of(header)
        if f"{name}:{function}" in EXCEPTIONS or re.match(r"(TEST|TEST_P|TEST_F|BENCHMARK)\b", header):
            continue
        if length > FUNCTION_LINES:
            yield f"{name}:{number}: {function} has {length} lines, allowed {FUNCTION_LINES}"
        if parameters_of(header) > PARAMETERS:
            yield f"{name}:{number}: {function} takes {parameters_of(header)} parameters, allowed {PARAMETERS}"


def main():
    found = []
    for folder in ("src", "tests", "bench", "tools", "include", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".inl", ".py", ".cu"):
                found += problems_of(path)
    for problem in found:
        print(f"sizes: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
