#!/usr/bin/env python3
"""Compares `crane tokenize` with Hugging Face `tokenizers` on random text and random components.

usage: fuzz.py CRANE [--rounds 200] [--texts 60] [--seed 1] [--model FILE_OR_FOLDER ...]

Without --model each round puts a tokenizer together from the families of families.py (a trained model,
a normalizer, a pre-tokenizer, added tokens); with it, each is a tokenizer.json (or its folder). Texts mix
random Unicode of all planes, runs, blanks, marks, pieces of the corpus and special tokens inside words.
Prints each difference; exit code 1 when there was one.
needs: pip install tokenizers sentencepiece
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

import families

SPACES = " \t\n\r\u000b\u0085\u00a0\u1680\u2003\u2028\u202f\u3000\u200b\u180e\ufeff"
ALPHABETS = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "'\".,;:!?()-_/\\|",
             "éèüßñçøåÉÜ", "абвгдежзАБВГД", "αβγδσςΣΩ", "漢字中文日本", "ひらがなカタカナーｶﾞ", "한국어가나다",
             "عربية", "नमस्ते", "ไทยนกกระ", "\u0301\u0300\u0323\u0308\u0334\u20dd", "🚀🦙👩\u200d🇩🇪🏽",
             "ﬁ™½²①Ⅷ㎏ﷺ", SPACES]


def random_text(rng, corpus, specials):
    out = []
    for _ in range(rng.randint(1, 14)):
        kind = rng.random()
        if kind < 0.30:
            out.append("".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(1, 8))))
        elif kind < 0.45:
            words = rng.choice(corpus).split(" ")
            start = rng.randrange(len(words))
            out.append(" ".join(words[start:start + rng.randint(1, 5)]))
        elif kind < 0.55:
            out.append(rng.choice(SPACES) * rng.randint(1, 4))
        elif kind < 0.65 and specials:
            out.append(rng.choice(specials))
        elif kind < 0.75:
            plane = rng.choice([0x800, 0x3000, 0x10000, 0x20000, 0x110000])
            out.append("".join(chr(c) for c in (rng.randrange(plane) for _ in range(rng.randint(1, 6)))
                               if not 0xD800 <= c < 0xE000))
        elif kind < 0.80:
            out.append(rng.choice(rng.choice(ALPHABETS)) * rng.randint(2, 200))
        elif kind < 0.90:
            out.append(rng.choice(["it's", "I'LL", "'S", "12345", "\r\n\n", "  \n ", "a.b.c", "x_y", "1,000"]))
        else:
            out.append(" ")
    return "".join(out)


def random_tokenizer(rng, bases, parts):
    """A base whose parts are replaced at random."""
    base_name = rng.choice(sorted(bases))
    spec = json.loads(json.dumps(bases[base_name]))
    if rng.random() < 0.5:
        spec["normalizer"] = rng.choice(parts["normalizers"])
    if rng.random() < 0.5:
        pool = "byte_levels" if base_name == "bpe_bytes" else "pre_tokenizers"
        spec["pre_tokenizer"] = rng.choice(parts[pool])
    if "BertNormalizer" in json.dumps(spec["normalizer"]) and "first" in json.dumps(spec["pre_tokenizer"]):
        # Known difference: a space that BERT's normalizer puts before the first letter counts as the
        # begin of the input for Metaspace's "first" in the reference, not here.
        spec["normalizer"] = None
    if rng.random() < 0.5:
        spec["added_tokens"] = families.added_tokens(bases[base_name], families.flag_matrix())
    if spec["model"]["type"] == "BPE" and base_name == "bpe_bytes":
        spec["model"]["ignore_merges"] = rng.random() < 0.3
    return base_name, spec


def run(command, stdin=None):
    done = subprocess.run(command, capture_output=True, input=stdin)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def compare(crane, folder, tokenizer, texts, label):
    """Number of differences between the two on these texts."""
    path = os.path.join(folder, "texts.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(texts, file)
    bad = 0
    for flags, plain in ((["--no-bos"], False), (["--no-bos", "--no-special"], True)):
        tokenizer.encode_special_tokens = plain
        code, out, err = run([crane, "tokenize", "--model", folder, "--lines-json", path, *flags, "--json"])
        if code != 0:
            print(label, "exit", code, err.strip()[:300])
            return bad + 1
        got = json.loads(out)["ids"]
        for text, mine in zip(texts, got):
            want = tokenizer.encode(text, add_special_tokens=False).ids
            if want != mine:
                bad += 1
                print(label, flags, ascii(text), "expected", want, "got", mine)
    tokenizer.encode_special_tokens = False
    return bad + compare_decoding(crane, folder, tokenizer, texts[:3], label)


def compare_decoding(crane, folder, tokenizer, texts, label):
    bad = 0
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        if not ids:
            continue
        try:
            want = tokenizer.decode(ids, skip_special_tokens=False)
        except BaseException:  # the reference itself fails
            continue
        code, out, err = run([crane, "tokenize", "--model", folder, "--decode", "--ids",
                              ",".join(map(str, ids)), "--json"])
        if code != 0 or json.loads(out)["text"] != want:
            bad += 1
            print(label, "decode", ids, "expected", ascii(want), "got", ascii(out.strip()), err.strip()[:200])
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("crane")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", action="append", default=[])
    options = parser.parse_args()
    rng = random.Random(options.seed)
    corpus = families.corpus()
    bad = 0
    if not options.model:
        bases = families.bases()
        parts = dict(pre_tokenizers=list(families.pre_tokenizer_parts().values()),
                     byte_levels=list(families.byte_level_parts().values()),
                     normalizers=list(families.normalizer_parts(families.small_charsmap()).values()))
    for round_ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            if options.model:
                label = options.model[round_ % len(options.model)]
                path = os.path.join(label, "tokenizer.json") if os.path.isdir(label) else label
                spec = json.load(open(path, encoding="utf-8"))
            else:
                label, spec = random_tokenizer(rng, bases, parts)
                label = "%s %s %s" % (label, json.dumps(spec["normalizer"])[:120],
                                      json.dumps(spec["pre_tokenizer"])[:300])
            with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
                json.dump(spec, file)
            tokenizer = Tokenizer.from_str(json.dumps(spec))
            specials = [token["content"] for token in spec["added_tokens"]]
            texts = [random_text(rng, corpus, specials) for _ in range(options.texts)]
            bad += compare(options.crane, folder, tokenizer, texts, label)
    print("%d rounds of %d texts, %d differences" % (options.rounds, options.texts, bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
