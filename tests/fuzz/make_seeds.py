#!/usr/bin/env python3
"""Makes the first seeds of the fuzz targets: one good file of each kind."""
import struct
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf():
    pairs = [text("general.architecture") + struct.pack("<I", 8) + text("qwen2")]

    def u32(key, value):
        pairs.append(text(key) + struct.pack("<II", 4, value))

    def f32(key, value):
        pairs.append(text(key) + struct.pack("<If", 6, value))

    for key, value in dict(context_length=512, embedding_length=32, feed_forward_length=32,
                           block_count=2).items():
        u32("qwen2." + key, value)
    u32("qwen2.attention.head_count", 4)
    u32("qwen2.attention.head_count_kv", 2)
    f32("qwen2.attention.layer_norm_rms_epsilon", 1e-6)
    f32("qwen2.rope.freq_base", 1e6)
    pairs.append(text("qwen2.rope.scaling.type") + struct.pack("<I", 8) + text("yarn"))
    f32("qwen2.rope.scaling.factor", 4)
    f32("qwen2.rope.scaling.attn_factor", 1.5)
    u32("qwen2.rope.scaling.original_context_length", 32)
    u32("qwen2.attention.sliding_window", 8)
    pairs.append(text("qwen2.attention.sliding_window_pattern")
                 + struct.pack("<IIQBB", 9, 7, 2, 0, 1))
    pairs.append(text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 3)
                 + text("a") + text("") + text("bc"))
    pairs.append(text("tokenizer.ggml.token_type") + struct.pack("<IIQiii", 9, 5, 3, 1, 3, 1))
    u32("general.alignment", 32)
    u32("tokenizer.ggml.eos_token_id", 2)
    tensors = [("token_embd.weight", [32, 3], 2, 54), ("blk.0.attn_q.bias", [32], 0, 128),
               ("output_norm.weight", [32], 1, 64)]
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    offset = 0
    for name, sizes, kind, size in tensors:
        out += text(name) + struct.pack("<I", len(sizes))
        out += b"".join(struct.pack("<Q", n) for n in sizes) + struct.pack("<IQ", kind, offset)
        offset += (size + 31) // 32 * 32
    return out + bytes(-len(out) % 32) + bytes(i % 256 for i in range(offset))


def safetensors():
    header = (b'{"__metadata__":{"format":"pt"},'
              b'"b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]},'
              b'"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},'
              b'"s":{"dtype":"BF16","shape":[],"data_offsets":[22,24]},'
              b'"e":{"dtype":"I64","shape":[0,5],"data_offsets":[24,24]}}  ')
    return struct.pack("<Q", len(header)) + header + bytes(range(24))


JSON = b'{"a":[1,-2.5e3,"\\u00e9\\ud83d\\udc26\\n",null,true,{"b":{}}],"c":""}'

if __name__ == "__main__":
    for name, value in (("gguf/qwen2.gguf", gguf()), ("safetensors/good.safetensors", safetensors()),
                        ("json/values.json", JSON)):
        (SEEDS / name).parent.mkdir(parents=True, exist_ok=True)
        (SEEDS / name).write_bytes(value)
