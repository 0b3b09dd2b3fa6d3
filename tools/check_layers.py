#!/usr/bin/env python3
"""Checks the one-way order of the folders under src/: a file includes its own folder and lower
layers only, and a third-party header only where docs/dependencies.md says."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = {"base": 0, "core": 1, "backends": 2, "ops": 3, "io": 3, "text": 3, "media": 3, "nn": 4,
          "models": 5, "engine": 6, "pipelines": 7, "serve": 8, "app": 9}

# The one place above a backend that names one is backends/registry.cpp.
CONCRETE_BACKENDS = ("backends/cpu/", "backends/gpu/", "backends/metal/")

# Third-party headers, and the files that hide them.
THIRD_PARTY = {
    "nlohmann/": {"base/json.cpp"},
    "pcre2.h": {"base/regex.cpp"},
    "utf8proc.h": {"base/unicode.cpp"},
    "CLI/": {"app/options.cpp"},
    "histedit.h": {"app/line_editor.cpp"},
}


def problems_of(path):
    name = path.relative_to(ROOT / "src").as_posix()
    folder = name.split("/")[0]
    if folder not in LAYERS:
        yield f"{name}: folder {folder} has no layer in tools/check_layers.py"
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        where, included = f"src/{name}:{number}", match.group(2)
        for header, allowed in THIRD_PARTY.items():
            if included.startswith(header) and name not in allowed:
                yield f"{where}: {included} belongs in {', '.join(sorted(allowed))} only"
        if match.group(1) == "<":
            continue
        if not (ROOT / "src" / included).exists():
            yield f"{where}: {included} is no path from src/"
            continue
        target = included.split("/")[0]
        if target != folder and LAYERS.get(target, 99) >= LAYERS[folder]:
            yield f"{where}: {folder} (layer {LAYERS[folder]}) must not include {included}"
        if included.startswith(CONCRETE_BACKENDS) and folder != "backends":
            yield f"{where}: only backends/registry.cpp may name a backend"


def main():
    found = [problem for path in sorted((ROOT / "src").rglob("*"))
             if path.suffix in (".h", ".cpp", ".inl") for problem in problems_of(path)]
    for problem in found:
        print(f"layers: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
