#!/usr/bin/env python3
"""Checks that every source file of src/base … src/app has a test: tests/FOLDER/NAME_test.cpp, a
test of a file whose name it extends (bpe_test.cpp for bpe_scores.cpp), one that includes its header,
or one that the table here names for it."""
import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("base", "core", "backends", "ops", "io", "text", "media", "nn", "models", "engine",
           "pipelines", "app")

# Sources that are parts of something larger -> the tests that reach them through it; at least one
# of these must exist.
REACHED = {
    "core/backend.cpp": "tests/backends/*_test.cpp",  # the defaults of fused ops
    "backends/cpu/*": "tests/backends/*_test.cpp",  # ops, through the front door of ops/
    "backends/cpu/isa/*": "tests/backends/dispatch_test.cpp",  # every level that the machine has
    "ops/linear.cpp": "tests/backends/linear_test.cpp",
    "io/foreign_text.cpp": "tests/io/gguf*_test.cpp",
    "io/json_file.cpp": "tests/io/safetensors_test.cpp",
    "text/template_*": "tests/text/*template*_test.cpp",  # the interpreter's parts
    "text/*": "tests/text/*token*_test.cpp",  # models, normalizers, pre-tokenizers of tokenizers
    "nn/linear.cpp": "tests/models/*_test.cpp",
    "models/qwen2.cpp": "tests/models/golden_test.cpp",
    "pipelines/model_bundle.cpp": "tests/app/run_test.cpp",
    "app/main.cpp": "tests/app/cli_test.cpp",
    "app/program.cpp": "tests/app/cli_test.cpp",
    "app/show.cpp": "tests/app/cli_test.cpp",
    "app/version.cpp": "tests/app/cli_test.cpp",
    "app/tokenize.cpp": "tests/app/text_verbs_test.cpp",
    "app/template.cpp": "tests/app/text_verbs_test.cpp",
    "app/perplexity.cpp": "tests/app/score_test.cpp",
    "app/loading.cpp": "tests/app/run_test.cpp",
    "app/answer.cpp": "tests/app/run_test.cpp",
    "app/interrupts.cpp": "tests/app/chat_test.cpp",
    "app/line_editor.cpp": "tests/app/chat_test.cpp",
    "app/option_unbuilt.cpp": "tests/app/options_test.cpp",
}


def has_test(source, tests, included):
    name = source.relative_to(ROOT / "src")
    stem = source.stem
    for test in tests.get(name.parts[0], ()):
        tested = test.stem.removesuffix("_test")
        if stem == tested or stem.startswith(tested + "_"):
            return True
    if name.with_suffix(".h").as_posix() in included:
        return True
    return any(fnmatch.fnmatch(name.as_posix(), pattern) and any(ROOT.glob(reached))
               for pattern, reached in REACHED.items())


def main():
    tests, included = {}, set()
    for test in (ROOT / "tests").rglob("*_test.cpp"):
        tests.setdefault(test.relative_to(ROOT / "tests").parts[0], []).append(test)
        included |= set(re.findall(r'#include "([^"]+)"', test.read_text()))
    failed = False
    for folder in FOLDERS:
        for source in sorted((ROOT / "src" / folder).rglob("*.cpp")):
            name = source.relative_to(ROOT / "src").as_posix()
            if not has_test(source, tests, included):
                print(f"tests: src/{name} has no test")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
