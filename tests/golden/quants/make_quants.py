"""Writes quants.bin and quants.json: blocks of every block-quantised weight type, with the values that
the reference gives them (gguf.quants.dequantize of the `gguf` package).

Run with a Python that has gguf and numpy: python make_quants.py
"""

import json
import pathlib

import gguf
import numpy as np

# Type, and where its block holds f16 numbers (scales, minima).
TYPES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
}


def make_blocks(rng, size, halves, count):
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    blocks[0] = 0
    blocks[1] = 255
    blocks[2] = 128
    for offset in halves:
        scales = rng.uniform(0.002, 0.02, count) * rng.choice([-1.0, 1.0], count)
        scales[3] = 6e-6  # a subnormal f16
        blocks[:, offset:offset + 2] = scales.astype(np.float16).view(np.uint8).reshape(count, 2)
    return blocks


def main():
    folder = pathlib.Path(__file__).parent
    rng = np.random.default_rng(20261201)
    index, payload = {}, bytearray()
    for name, halves in TYPES.items():
        kind = gguf.GGMLQuantizationType[name]
        length, size = gguf.GGML_QUANT_SIZES[kind]
        count = 24 if length == 32 else 8
        blocks = make_blocks(rng, size, halves, count)
        values = gguf.quants.dequantize(blocks, kind).astype(np.float32)
        assert values.shape == (count, length) and np.isfinite(values).all()
        index[name] = {"blocks": count, "bytes_at": len(payload)}
        payload += blocks.tobytes()
        payload += b"\0" * (-len(payload) % 4)
        index[name]["values_at"] = len(payload)
        payload += values.tobytes()
    (folder / "quants.bin").write_bytes(payload)
    (folder / "quants.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
