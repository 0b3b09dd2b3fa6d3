#!/usr/bin/env python3
"""Checks that every source file of src/base … src/app has a test: tests/FOLDER/NAME_test.cpp, a
test of a file whose name it extends (bpe_test.cpp for bpe_scores.cpp), or one that includes its
header. Exceptions stand here with the test that reaches the file."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("base", "core", "backends", "ops", "io", "text", "media", "nn", "models", "engine",
           "pipelines", "app")

# Source file -> the test that reaches it.
EXCEPTIONS = {
    "app/main.cpp": "tests/app/cli_test.cpp runs the program",
}


def has_test(source, tests, included):
    name = source.relative_to(ROOT / "src")
    stem = source.stem
    for test in tests.get(name.parts[0], ()):
        tested = test.stem.removesuffix("_test")
        if stem == tested or stem.startswith(tested + "_"):
            return True
    return name.with_suffix(".h").as_posix() in included


def main():
    tests, included = {}, set()
    for test in (ROOT / "tests").rglob("*_test.cpp"):
        tests.setdefault(test.relative_to(ROOT / "tests").parts[0], []).append(test)
        included |= set(re.findall(r'#include "([^"]+)"', test.read_text()))
    failed = False
    for folder in FOLDERS:
        for source in sorted((ROOT / "src" / folder).rglob("*.cpp")):
            name = source.relative_to(ROOT / "src").as_posix()
            if name not in EXCEPTIONS and not has_test(source, tests, included):
                print(f"tests: src/{name} has no test")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
