#!/usr/bin/env python3
"""Writes the committed expectations of the tokenizer tests, made with Hugging Face `tokenizers`.

  bases.json      tokenizer.json of each small trained model
  cases.json      for each case: the base, the keys that replace the base's, and what is expected
  texts.json      the texts

Expected of each text: "a" ids with special tokens added, "n" ids without, "p" ids with the text of
special tokens as plain text (absent where equal to "n"), "d" the decoding of "n" with special tokens,
"s" without them (absent where equal to "d").
needs: pip install tokenizers sentencepiece
"""
import json
import os

import tokenizers
from tokenizers import Tokenizer

import families

HERE = families.HERE

TEXTS = [
    "", " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n \t\n", "a", "Hello", " Hello", "  Hello world",
    "Hello, y'all! How're you? I'LL see 'em, we'Ve.", "The crane waits.", "crane crane  crane   crane",
    "12345678 1,234,567 0x1F3a 3.14 1st abc123def 1234x", "½ ² Ⅷ ٣٤ १२३ ①", "don't can't I'm he'd 'twas",
    "für Straße, größer GRÖSSE", "Cafe\u0301 café CAFÉ \u0301e Å Å ﬁn ™", "ΣΊΣΥΦΟΣ ΣΑΣ. İstanbul ǅ",
    "Журавль стоит", "鹤站在浅水里，等着鱼。", "カメラでｶﾞ写真ー 東京tower", "두루미가 각 한글",
    "طائر الكركي عَرَبِيّ", "सारस क्षि नमस्ते", "นกกระเรียนยืน", "Việt Nam Vie\u0323\u0302t",
    "🚀🦙👩‍🚀 🎉🏽 🇩🇪", "\u200b\u200d\u2028x\u3000y\u00a0z\u180e\ufeff", "\x00\x01\x7f\x85 \u00ad",
    "https://example.org/a_b?c=d&e=%20#f", "for (int i=0;i<n;++i){\n\tx[i] = -y;\n}\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "                                                                          x",
    "!!!???...,,,;;; -- __ ## ** $$ ++ << >> == ^^ `` || ~~", "a.b\na.b x.y x\ny", "e e  ee   eee",
    "▁a▁▁b ▁ c", "<s>Hello</s> <unk> <pad>", "[CLS] hello [SEP] [MASK]", "<|end|>text<|end|> <|end|>",
    "x<0x41><0xE4>y", "𝕳𝖊𝖑𝖑𝖔 ℌ ﷺ ㎏", "\U000323af\U00031350 \ua7da\ua7dc \U00010d50 \u1c89 \u0897",
    "end of line \nnext  line\n\n  indented\n", "MiXeD CaSe WoRdS iPhone eBay McDonald's",
    "supercalifragilisticexpialidocious Donaudampfschifffahrtsgesellschaft",
] + [before + "<t%d>" % bits + after for bits in range(16)
     for before, after in [("a ", " b"), ("a", "b"), (" \t\u00a0", "\n \u3000"), ("", "")]] + [
    "<|Special|> <|Special|><|Twice|> <|special|> <|Special|><|Special|>", "WORD words WORD, aWORD word",
    "é e\u0301 café <t1>é<t8>", "a    b  c", "<t0><t3> <t5>  <t6> <t15>",
]


def expected(tokenizer, text):
    tokenizer.encode_special_tokens = False
    row = {"a": tokenizer.encode(text).ids}
    row["n"] = tokenizer.encode(text, add_special_tokens=False).ids
    tokenizer.encode_special_tokens = True
    plain = tokenizer.encode(text, add_special_tokens=False).ids
    if plain != row["n"]:
        row["p"] = plain
    if row["a"] == row["n"]:
        del row["a"]
    if row["n"]:
        row["d"] = decoded(tokenizer, row["n"], False)
        shown = decoded(tokenizer, row["n"], True)
        if shown != row["d"]:
            row["s"] = shown
    return row


def decoded(tokenizer, ids, skip):
    """None where the reference itself fails: Strip longer than the text, BPEDecoder of no tokens."""
    try:
        return tokenizer.decode(ids, skip_special_tokens=skip)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return None
        raise


def write(name, value):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


def texts_of(name):
    """Every text for the models; the added-token matrix only where there are added tokens."""
    if "/added" in name:
        return list(range(len(TEXTS)))
    return [i for i, text in enumerate(TEXTS) if "<t" not in text]


def main():
    all_bases, cases = families.cases()
    all_bases["characters"] = families.characters_base(TEXTS)
    out = {}
    for name, (base, override) in cases.items():
        tokenizer = Tokenizer.from_str(json.dumps(families.assemble(all_bases[base], override)))
        rows = {}
        for index in texts_of(name):
            try:
                rows[index] = expected(tokenizer, TEXTS[index])
            except Exception as error:  # the reference itself fails
                rows[index] = {"error": str(error)}
        out[name] = dict(base=base, override=override, expected=rows)
    write("bases.json", all_bases)
    write("texts.json", TEXTS)
    write("cases.json", dict(tokenizers=tokenizers.__version__, cases=out))


if __name__ == "__main__":
    main()
