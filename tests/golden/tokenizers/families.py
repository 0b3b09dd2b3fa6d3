"""Small tokenizers of every model kind, and the component combinations that are tested on them.

Used by make_goldens.py (committed expectations) and fuzz.py (comparison on random text).
"""
import base64
import json
import os
import struct
import tempfile

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors, trainers

HERE = os.path.dirname(os.path.abspath(__file__))

QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
         r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

SPECIALS = ["<unk>", "<s>", "</s>", "<pad>"]


def corpus():
    with open(os.path.join(HERE, "corpus.txt"), encoding="utf-8") as file:
        return [line for line in file.read().split("\n") if line]


def as_json(tokenizer):
    return json.loads(tokenizer.to_str())


def train(model, trainer, normalizer=None, pre_tokenizer=None):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def bytes_in_vocabulary(spec):
    """Gives a BPE or unigram model the 256 byte tokens of SentencePiece."""
    model = spec["model"]
    names = ["<0x%02X>" % byte for byte in range(256)]
    if model["type"] == "Unigram":
        model["vocab"] += [[name, -20.0] for name in names]
    else:
        first = max(model["vocab"].values()) + 1
        model["vocab"].update({name: first + i for i, name in enumerate(names)})
    model["byte_fallback"] = True
    return spec


def small_charsmap():
    """A compiled SentencePiece rule table with a few rules of our own."""
    import sentencepiece
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.tsv")
        with open(rules, "w") as file:
            for source, target in [("\ufb01", "fi"), ("\u00b2", "2"), ("\u212b", "\u00c5"),
                                   ("e\u0301", "\u00e9"), ("\u00e9", "e"), ("\u3000", " "),
                                   ("\t", " "), ("\u2122", "TM"), ("\uff76\uff9e", "\u30ac"),
                                   ("\uff76", "\u30ab"), ("\u00ad", ""), ("\u00bd", "1\u20442")]:
                hexes = [" ".join("%X" % ord(c) for c in text) for text in (source, target)]
                file.write("\t".join(hexes) + "\n")
        text = os.path.join(folder, "text.txt")
        with open(text, "w") as file:
            file.write("\n".join(corpus()))
        sentencepiece.SentencePieceTrainer.train(
            input=text, model_prefix=os.path.join(folder, "m"), vocab_size=300, hard_vocab_limit=False,
            normalization_rule_tsv=rules, minloglevel=2)
        from sentencepiece import sentencepiece_model_pb2 as pb
        model = pb.ModelProto()
        model.ParseFromString(open(os.path.join(folder, "m.model"), "rb").read())
        return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()


def bases():
    """name -> tokenizer.json of a trained model with its natural components."""
    out = {}
    byte_trainer = lambda: trainers.BpeTrainer(
        vocab_size=520, special_tokens=["<|end|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False)
    tokenizer = train(models.BPE(), byte_trainer(),
                      pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    out["bpe_bytes"] = as_json(tokenizer)

    tokenizer = train(models.BPE(unk_token="<unk>", fuse_unk=True),
                      trainers.BpeTrainer(vocab_size=420, special_tokens=SPECIALS, show_progress=False),
                      pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = None
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
        decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    out["bpe_sentencepiece"] = bytes_in_vocabulary(as_json(tokenizer))

    tokenizer = train(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
                      trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIALS,
                                          end_of_word_suffix="</w>", show_progress=False),
                      normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]),
                      pre_tokenizer=pre_tokenizers.Whitespace())
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    out["bpe_words"] = as_json(tokenizer)

    tokenizer = train(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"),
                      trainers.BpeTrainer(vocab_size=360, special_tokens=SPECIALS,
                                          continuing_subword_prefix="##", show_progress=False),
                      pre_tokenizer=pre_tokenizers.BertPreTokenizer())
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    out["bpe_prefix"] = as_json(tokenizer)

    tokenizer = train(models.Unigram(),
                      trainers.UnigramTrainer(vocab_size=400, unk_token="<unk>", special_tokens=SPECIALS,
                                              show_progress=False),
                      normalizer=normalizers.NFKC(),
                      pre_tokenizer=pre_tokenizers.Metaspace())
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    out["unigram"] = as_json(tokenizer)

    tokenizer = train(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20),
                      trainers.WordPieceTrainer(
                          vocab_size=420, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                          show_progress=False),
                      normalizer=normalizers.BertNormalizer(),
                      pre_tokenizer=pre_tokenizers.BertPreTokenizer())
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    out["wordpiece"] = as_json(tokenizer)

    tokenizer = train(models.WordLevel(unk_token="<unk>"),
                      trainers.WordLevelTrainer(vocab_size=300, special_tokens=SPECIALS,
                                                show_progress=False),
                      pre_tokenizer=pre_tokenizers.Whitespace())
    out["wordlevel"] = as_json(tokenizer)
    return out


def characters_base(texts):
    """A model of single characters, each in two spellings: inside a piece and as its last one. The ids
    show exactly what the normalizer made and where the pre-tokenizer cut."""
    forms = [None, normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(),
             normalizers.Lowercase(), normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()])]
    characters = {c for text in texts for form in forms
                  for c in (form.normalize_str(text) if form else text)}
    vocab = {"<unk>": 0}
    for c in sorted(characters | set("▁_L*")):
        vocab[c] = len(vocab)
        vocab[c + "|"] = len(vocab)
    model = dict(type="BPE", dropout=None, unk_token="<unk>", continuing_subword_prefix=None,
                 end_of_word_suffix="|", fuse_unk=False, byte_fallback=False, ignore_merges=False,
                 vocab=vocab, merges=[])
    return dict(version="1.0", truncation=None, padding=None, added_tokens=[], normalizer=None,
                pre_tokenizer=None, post_processor=None, decoder={"type": "Fuse"}, model=model)


def part(component):
    """The JSON of one component."""
    return json.loads(component.__getstate__().decode())


def added(content, token_id=0, **flags):
    return dict(id=token_id, content=content, single_word=flags.get("single_word", False),
                lstrip=flags.get("lstrip", False), rstrip=flags.get("rstrip", False),
                normalized=flags.get("normalized", False), special=flags.get("special", False))


def added_tokens(base, extra):
    """The base's added tokens and more, with the ids that they will get."""
    model = base["model"]
    vocab = model["vocab"]
    known = {row[0]: i for i, row in enumerate(vocab)} if isinstance(vocab, list) else vocab
    rows = list(base["added_tokens"])
    following = len(known)
    for row in extra:
        row = dict(row)
        row["id"] = known.get(row["content"], following)
        if row["content"] not in known:
            following += 1
        rows.append(row)
    return rows


def regex_splits():
    behaviors = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    out = {}
    for behavior in behaviors:
        for invert in (False, True):
            for name, pattern in [("letter", r"[aeiou ]"), ("word", r"\w+"), ("text", None)]:
                from tokenizers import Regex
                what = " " if pattern is None else Regex(pattern)
                out["split_%s_%s%s" % (name, behavior, "_invert" if invert else "")] = part(
                    pre_tokenizers.Split(what, behavior, invert))
    for name, pattern in [("qwen2", QWEN2), ("llama3", LLAMA3), ("o200k", O200K), ("kimi", KIMI),
                          ("thousands", r"\d{1,3}(?=(?:\d{3})*\b)"), ("gaps", r"(?=(\d{3})+(?!\d))"),
                          ("empty", ""), ("lines", r"^\s*|\s+$"), ("dots", r"(?m:a.b)|x.y"),
                          ("hex", r"\h+"), ("interval", r"\p{N}{2,3}+"), ("posix", r"[[:punct:]]+"),
                          ("sets", r"[\p{L}&&[^a-m]]+|[^\S\n]+"), ("bounds", r"\b\w|\B\d"),
                          ("backref", r"(.)\1+"), ("script", r"[\p{Hiragana}\p{Katakana}ー]+|\p{Greek}+"),
                          ("negated", r"[^\p{L}\s]+"), ("nested", r"[a[0-9]_]+")]:
        from tokenizers import Regex
        out["regex_" + name] = part(pre_tokenizers.Split(Regex(pattern), "isolated"))
    return out


def pre_tokenizer_parts():
    P = pre_tokenizers
    out = {
        "none": None,
        "whitespace": part(P.Whitespace()),
        "whitespace_split": part(P.WhitespaceSplit()),
        "bert": part(P.BertPreTokenizer()),
        "digits": part(P.Digits(False)),
        "digits_individual": part(P.Digits(True)),
        "delimiter": part(P.CharDelimiterSplit("e")),
        "scripts": part(P.UnicodeScripts()),
        "fixed_length": part(P.FixedLength(3)),
        "metaspace_split_last": part(P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="first")])),
        "punctuation_then_digits": part(P.Sequence([P.Punctuation("contiguous"), P.Digits(True)])),
    }
    for scheme in ("always", "first", "never"):
        for split in (True, False):
            out["metaspace_%s%s" % (scheme, "" if split else "_whole")] = part(
                P.Metaspace(prepend_scheme=scheme, split=split))
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        out["punctuation_" + behavior] = part(P.Punctuation(behavior))
    out.update(regex_splits())
    return out


def byte_level_parts():
    from tokenizers import Regex
    P = pre_tokenizers
    split = lambda pattern: P.Split(Regex(pattern), "isolated")
    raw = P.ByteLevel(add_prefix_space=False, use_regex=False)
    return {
        "plain": part(raw),
        "prefix_space": part(P.ByteLevel(add_prefix_space=True)),
        "prefix_space_whole": part(P.ByteLevel(add_prefix_space=True, use_regex=False)),
        "qwen2": part(P.Sequence([split(QWEN2), raw])),
        "llama3": part(P.Sequence([split(LLAMA3), raw])),
        "o200k": part(P.Sequence([split(O200K), raw])),
        "kimi": part(P.Sequence([split(KIMI), raw])),
        "digits_first": part(P.Sequence([P.Digits(True), P.ByteLevel(add_prefix_space=False)])),
        "deepseek": part(P.Sequence([
            split(r"\p{N}{1,3}"), split("[一-龥\u3040-ゟ゠-ヿ]+"),
            split(r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                  r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"), raw])),
    }


def normalizer_parts(charsmap):
    from tokenizers import Regex
    N = normalizers
    out = {
        "nfc": part(N.NFC()), "nfd": part(N.NFD()), "nfkc": part(N.NFKC()), "nfkd": part(N.NFKD()),
        "lowercase": part(N.Lowercase()), "strip": part(N.Strip()), "nmt": part(N.Nmt()),
        "strip_left": part(N.Strip(True, False)), "strip_right": part(N.Strip(False, True)),
        "strip_accents": part(N.Sequence([N.NFD(), N.StripAccents()])),
        "replace": part(N.Replace("ll", "L")), "replace_regex": part(N.Replace(Regex(r"\s{2,}"), "_")),
        "prepend": part(N.Prepend("▁")),
        "sequence": part(N.Sequence([N.Strip(), N.NFKD(), N.StripAccents(), N.Lowercase()])),
        "precompiled": {"type": "Precompiled", "precompiled_charsmap": charsmap},
    }
    for bits in range(16):
        out["bert_%d" % bits] = part(N.BertNormalizer(
            clean_text=bool(bits & 1), handle_chinese_chars=bool(bits & 2),
            strip_accents=bool(bits & 4), lowercase=bool(bits & 8)))
    return out


def decoder_parts():
    from tokenizers import Regex
    D = decoders
    return {
        "none": None, "fuse": part(D.Fuse()), "bytes": part(D.ByteLevel()),
        "replace": part(D.Replace("▁", " ")), "replace_regex": part(D.Replace(Regex("[aeiou]"), "*")),
        "strip": part(D.Strip("▁", 1, 0)), "strip_fused": part(D.Sequence([D.Fuse(), D.Strip("▁", 2, 1)])),
        "wordpiece": part(D.WordPiece("e", True)), "metaspace": part(D.Metaspace()),
        "metaspace_never": part(D.Metaspace(prepend_scheme="never")), "bpe": part(D.BPEDecoder("e")),
        "ctc": part(D.CTC("<pad>", "▁", True)), "ctc_plain": part(D.CTC("<pad>", "▁", False)),
        "sequence": part(D.Sequence([D.Replace("▁", " "), D.Fuse(), D.Strip(" ", 1, 1)])),
    }


def flag_matrix():
    """Added tokens with every setting of the four flags, and a few special ones."""
    rows = []
    for bits in range(16):
        rows.append(added("<t%d>" % bits, single_word=bool(bits & 1), lstrip=bool(bits & 2),
                          rstrip=bool(bits & 4), normalized=bool(bits & 8)))
    rows.append(added("<|Special|>", special=True))
    rows.append(added("<|Special|><|Twice|>", special=True))
    rows.append(added("WORD", normalized=True, single_word=True))
    rows.append(added("é", normalized=True))
    rows.append(added("  ", normalized=False))
    return rows


def cases():
    """name -> (base name, keys of the tokenizer.json that replace the base's)."""
    all_bases = bases()
    charsmap = small_charsmap()
    out = {name: (name, {}) for name in all_bases}
    for name, value in byte_level_parts().items():
        out["bpe_bytes/" + name] = ("bpe_bytes", {"pre_tokenizer": value})
    for name, value in pre_tokenizer_parts().items():
        out["characters/" + name] = ("characters", {"pre_tokenizer": value})
    for name, value in normalizer_parts(charsmap).items():
        out["characters/norm_" + name] = ("characters", {"normalizer": value})
    for name, value in decoder_parts().items():
        out["bpe_sentencepiece/decoder_" + name] = ("bpe_sentencepiece", {"decoder": value})
    out["bpe_bytes/nfc"] = ("bpe_bytes", {"normalizer": part(normalizers.NFC())})
    out["bpe_bytes/byte_normalizer"] = ("bpe_bytes", {
        "normalizer": part(normalizers.ByteLevel()), "pre_tokenizer": None})
    model = dict(all_bases["bpe_bytes"]["model"], ignore_merges=True)
    out["bpe_bytes/ignore_merges"] = ("bpe_bytes", {"model": model})
    model = dict(all_bases["bpe_bytes"]["model"])
    model["merges"] = [" ".join(pair) for pair in model["merges"]]
    out["bpe_bytes/merges_as_text"] = ("bpe_bytes", {"model": model})
    model = dict(all_bases["bpe_sentencepiece"]["model"], byte_fallback=False, fuse_unk=False)
    out["bpe_sentencepiece/unknown"] = ("bpe_sentencepiece", {"model": model})
    out["bpe_sentencepiece/unknown_fused"] = ("bpe_sentencepiece", {"model": dict(model, fuse_unk=True)})
    out["bpe_sentencepiece/metaspace"] = ("bpe_sentencepiece", {
        "normalizer": None, "pre_tokenizer": part(pre_tokenizers.Metaspace(prepend_scheme="first"))})
    out["unigram/byte_fallback"] = ("unigram", {
        "model": bytes_in_vocabulary(json.loads(json.dumps(all_bases["unigram"])))["model"]})
    out["unigram/precompiled"] = ("unigram", {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap}})
    out["wordpiece/roberta"] = ("wordpiece", {"post_processor": part(
        processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2)))})
    out["wordpiece/sequence"] = ("wordpiece", {"post_processor": part(processors.Sequence([
        processors.ByteLevel(), processors.TemplateProcessing(
            single="[CLS] $A [SEP] [SEP]", pair="$A $B", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])]))})
    for base in ("bpe_bytes", "bpe_sentencepiece", "wordpiece", "unigram"):
        out[base + "/added"] = (base, {"added_tokens": added_tokens(all_bases[base], flag_matrix())})
    lower = part(normalizers.Lowercase())
    out["bpe_bytes/added_lowercase"] = ("bpe_bytes", {
        "normalizer": lower, "added_tokens": added_tokens(all_bases["bpe_bytes"], flag_matrix())})
    return all_bases, out


def assemble(base, override):
    return {**base, **override}
