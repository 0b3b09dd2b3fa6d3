"""Expected rotary frequencies and magnitudes, from transformers' own functions.

Usage: python make_rope.py > rope.json   (transformers 5.24, torch 2.13)
"""
import json

import torch
import transformers
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

CASES = [
    (64, 32768, {"rope_type": "default", "rope_theta": 1e6}),
    (10, 512, {"rope_type": "default", "rope_theta": 10000.0}),
    (64, 8192, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}),
    (128, 131072, {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0,
                   "original_max_position_embeddings": 32768}),
    (16, 256, {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0, "beta_fast": 16, "beta_slow": 2,
               "original_max_position_embeddings": 32}),
    (64, 256, {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "mscale": 1.0,
               "mscale_all_dim": 0.5, "truncate": False, "original_max_position_embeddings": 64}),
    (64, 256, {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "attention_factor": 1.25,
               "original_max_position_embeddings": 64}),
    (128, 131072, {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0,
                   "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 8192}),
]

out = {"transformers": transformers.__version__, "cases": []}
for head_dim, positions, rope in CASES:
    config = LlamaConfig(hidden_size=head_dim * 2, num_attention_heads=2, head_dim=head_dim,
                         max_position_embeddings=positions, rope_parameters=dict(rope))
    if rope["rope_type"] == "default":
        exponents = torch.arange(0, head_dim, 2, dtype=torch.float) / head_dim
        frequencies, magnitude = 1.0 / (rope["rope_theta"] ** exponents), 1.0
    else:
        frequencies, magnitude = ROPE_INIT_FUNCTIONS[rope["rope_type"]](config, "cpu")
    out["cases"].append({"head_dim": head_dim, "positions": positions, "parameters": rope,
                         "frequencies": [float(f"{f:.9g}") for f in frequencies.tolist()],
                         "magnitude": magnitude})
print(json.dumps(out))
