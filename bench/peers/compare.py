#!/usr/bin/env python3
"""Runs `crane bench` and llama.cpp's llama-bench and llama-batched-bench on the same file, turn by
turn (ours, theirs, ours, theirs, …), and writes medians, ratios and a plot.

    bench/peers/compare.py --model FILE.gguf --peer DIR [--crane build/release/bin/crane]
        [--threads 2] [--prompt 512] [--generate 64] [--depths 0,4096] [--streams 1,4]
        [--rounds 3] [--output docs/benchmarks.md] [--plot docs/benchmarks.svg] [--json FILE]

DIR holds the peer's programs. The table replaces what stands between the markers of this model in
the output file, or is put at its end. Both sides run with the same number of threads; interleaving
makes both see the same neighbours. Needs only Python.
"""
import argparse
import json
import statistics
import subprocess
import sys
from datetime import date
from pathlib import Path

WIDTH, HEIGHT, MARGIN = 420, 260, 48
COLOURS = {"crane": "#1f6feb", "llama.cpp": "#d1701f"}


def numbers(text):
    return [int(part) for part in text.split(",")]


def run(command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def joined(values):
    return ",".join(map(str, values))


def run_crane(options):
    """{(test, depth, streams): (rate, share of peak)} and the machine of one run."""
    report = json.loads(run(
        [options.crane, "bench", "-m", options.model, "-t", options.threads, "-p", options.prompt,
         "-n", options.generate, "-d", joined(options.depths), "-np", joined(options.streams),
         "-r", 1, "--json"]))
    rows = {(row["test"], row["depth"], row["streams"]): (row["median"], row["share_of_peak"])
            for row in report["rows"]}
    return rows, report["machine"]


def run_llama_bench(options):
    text = run([options.peer / "llama-bench", "-m", options.model, "-t", options.threads,
                "-p", options.prompt, "-n", options.generate, "-d", joined(options.depths),
                "-r", 1, "-o", "jsonl"])
    rows = {}
    for line in text.splitlines():
        row = json.loads(line)
        test = "prefill" if row["n_prompt"] else "decode"
        rows[test, row["n_depth"], 1] = row["avg_ts"]
    return rows


def run_llama_batched(options):
    """Decode with several streams; each one has its own context."""
    streams = [count for count in options.streams if count > 1]
    rows = {}
    for depth in options.depths if streams else []:
        prompt = max(depth, 1)
        context = max(streams) * (prompt + options.generate + 64)
        text = run([options.peer / "llama-batched-bench", "-m", options.model, "-t",
                    options.threads, "-c", context, "-npp", prompt, "-ntg", options.generate,
                    "-npl", joined(streams), "--output-format", "jsonl"])
        for line in text.splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                rows["decode", depth, row["pl"]] = row["speed_tg"]
    return rows


def measure(options):
    """Medians over the rounds: {key: {"crane", "share", "llama.cpp"}}, and the machine."""
    ours, theirs, machine = {}, {}, {}
    for index in range(options.rounds):
        print(f"round {index + 1} of {options.rounds}", file=sys.stderr, flush=True)
        rows, machine = run_crane(options)
        for key, value in rows.items():
            ours.setdefault(key, []).append(value)
        for rows in (run_llama_bench(options), run_llama_batched(options)):
            for key, rate in rows.items():
                theirs.setdefault(key, []).append(rate)
    result = {}
    for key, values in ours.items():
        shares = [share for _, share in values if share is not None]
        result[key] = {"crane": statistics.median(rate for rate, _ in values),
                       "share": statistics.median(shares) if shares else None,
                       "llama.cpp": statistics.median(theirs[key]) if key in theirs else None}
    return result, machine


def row_name(key, options):
    test, depth, streams = key
    name = f"prefill {options.prompt}" if test == "prefill" else f"decode {options.generate}"
    return name + (f" at depth {depth}" if depth else "") + (f", {streams} streams" if streams > 1 else "")


def table(result, machine, options):
    lines = ["| test | crane, tokens/s | llama.cpp, tokens/s | ratio | crane's share of peak |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for key, row in result.items():
        peer, share = row["llama.cpp"], row["share"]
        cells = [row_name(key, options), f"{row['crane']:.1f}", f"{peer:.1f}" if peer else "-",
                 f"{row['crane'] / peer:.2f}" if peer else "-", f"{share:.0%}" if share else "-"]
        lines.append("| " + " | ".join(cells) + " |")
    int8 = machine["peak_int8_gmac_s"]
    lines += ["", f"{date.today()}, {machine['cpu']}, {options.threads} threads, {machine['device']}; "
              f"read {machine['peak_bandwidth_gb_s']:.1f} GB/s"
              + (f", int8 {int8:.0f} GMAC/s" if int8 else "")
              + f"; medians of {options.rounds} rounds, taken in turn; crane {machine['version']}."]
    return "\n".join(lines)


def write_between_markers(path, name, text):
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    block = f"{begin}\n## {name}\n\n{text}\n{end}"
    old = path.read_text() if path.exists() else "# Benchmarks\n"
    if begin in old and end in old:
        head, rest = old.split(begin, 1)
        new = head + block + rest.split(end, 1)[1]
    else:
        new = old.rstrip("\n") + "\n\n" + block + "\n"
    path.write_text(new)


def panel(title, labels, series, left):
    """One plot: a line for each program over evenly spaced labels."""
    top = max(value for values in series.values() for value in values if value) * 1.15
    step = (WIDTH - 2 * MARGIN) / max(len(labels) - 1, 1)

    def at(index, value):
        x = left + MARGIN + index * step
        return x, HEIGHT - MARGIN - value / top * (HEIGHT - 2 * MARGIN)

    parts = [f'<text x="{left + WIDTH / 2}" y="20" text-anchor="middle" font-weight="bold">{title}</text>',
             f'<line x1="{left + MARGIN}" y1="{HEIGHT - MARGIN}" x2="{left + WIDTH - MARGIN}" '
             f'y2="{HEIGHT - MARGIN}" stroke="#888"/>']
    for index, label in enumerate(labels):
        x, y = at(index, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{label}</text>')
    for order, (name, values) in enumerate(series.items()):
        points = [at(i, value) + (value,) for i, value in enumerate(values) if value]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        for x, y, value in points:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>'
                         f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="middle" '
                         f'fill="{COLOURS[name]}">{value:.0f}</text>')
        parts.append(f'<text x="{left + MARGIN + 90 * order}" y="{HEIGHT - 8}" '
                     f'fill="{COLOURS[name]}">{name}</text>')
    return "".join(parts)


def plot(result, options):
    def series(keys):
        return {name: [result[key][name] for key in keys] for name in COLOURS
                if any(result[key][name] for key in keys)}

    panels = []
    for test in ("prefill", "decode"):
        keys = [key for key in result if key[0] == test and key[2] == min(options.streams)]
        if keys:
            panels.append((f"{test}, tokens/s by depth", [key[1] for key in keys], series(keys)))
    keys = [key for key in result if key[0] == "decode" and key[1] == min(options.depths)]
    if len(keys) > 1:
        panels.append(("decode, tokens/s by streams", [key[2] for key in keys], series(keys)))
    body = "".join(panel(title, labels, values, index * WIDTH)
                   for index, (title, labels, values) in enumerate(panels))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * len(panels)}" height="{HEIGHT}" '
            f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" '
            f'fill="white"/>{body}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--peer", type=Path, required=True)
    parser.add_argument("--crane", type=Path, default=Path("build/release/bin/crane"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=64)
    parser.add_argument("--depths", type=numbers, default=[0])
    parser.add_argument("--streams", type=numbers, default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result, machine = measure(options)
    text = table(result, machine, options)
    print(text)
    if options.output:
        write_between_markers(options.output, options.model.name, text)
    if options.plot:
        options.plot.write_text(plot(result, options))
    if options.json:
        rows = [{"test": key[0], "depth": key[1], "streams": key[2], **row}
                for key, row in result.items()]
        options.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
