#!/usr/bin/env python3
"""Makes the tiny random Qwen2 checkpoints of this folder and their expected log-probabilities.

Reference: transformers (Qwen2ForCausalLM, float32, eager attention). Run in an environment with
torch, transformers, tokenizers and gguf; the versions used are in each *.expected.json.

    python make_models.py [NAME ...]      # default: all

What is made, with the expectation beside it as NAME.expected.json:
    NAME/            safetensors and config.json
    NAME.gguf        written by gguf.GGUFWriter, quantised by gguf.quants
Expectations of quantised files come from transformers on the dequantised weights.
"""
import json
import shutil
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Q
from gguf import quants
from transformers import Qwen2Config, Qwen2ForCausalLM

import tiny_tokenizer

HERE = Path(__file__).parent
VERSIONS = {
    "torch": torch.__version__.split("+")[0],
    "transformers": transformers.__version__,
    "gguf": "0.19.0",
    "numpy": np.__version__,
}
LENGTHS = (1, 5, 64, 160)
torch.set_num_threads(1)


def make_config(hidden, heads, kv_heads, ffn, vocab, layers=3, tied=False, **more):
    rope = more.pop("rope", {"rope_type": "default", "rope_theta": 10000.0})
    return Qwen2Config(
        vocab_size=vocab, hidden_size=hidden, intermediate_size=ffn, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, tie_word_embeddings=tied,
        max_position_embeddings=more.pop("context", 512), rms_norm_eps=1e-6, rope_parameters=rope,
        bos_token_id=more.pop("bos", None), eos_token_id=more.pop("eos", None), **more)


def random_weights(config, seed):
    """State dict in float32, scaled so that attention is uneven and logits spread by 2 to 3."""
    rng = np.random.default_rng(seed)
    model = Qwen2ForCausalLM(config)
    head_std = 2.5 / np.sqrt(config.hidden_size)
    state = {}
    for name, old in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        noise = rng.standard_normal(tuple(old.shape)).astype(np.float32)
        if name.endswith("norm.weight"):
            value = 1.0 + 0.2 * noise
        elif name.endswith("bias"):
            value = 0.5 * noise
        elif name in ("lm_head.weight", "model.embed_tokens.weight"):
            value = head_std * noise
        else:
            value = 1.2 / np.sqrt(old.shape[1]) * noise
        state[name] = value.astype(np.float32)
    return state


def model_of(config, state):
    """The reference in float32."""
    config._attn_implementation = "eager"
    model = Qwen2ForCausalLM(config).to(torch.float32)
    tensors = {k: torch.from_numpy(np.ascontiguousarray(v)).float() for k, v in state.items()}
    if config.tie_word_embeddings:
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    missing, extra = model.load_state_dict(tensors, strict=False)
    assert not extra and not [m for m in missing if "inv_freq" not in m], (missing, extra)
    return model.eval()


def sequences(config, seed, limit):
    rng = np.random.default_rng(seed + 1000)
    return [[int(i) for i in rng.integers(0, limit or config.vocab_size, n)] for n in LENGTHS]


def rounded(values):
    return [float(f"{v:.7g}") for v in values]


def expectation(model, ids):
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0]
    logprobs = torch.log_softmax(logits.double(), -1)
    top = torch.topk(logprobs, 10, dim=-1)
    return {
        "ids": ids,
        "last": rounded(logprobs[-1].tolist()),
        "next": rounded(logprobs[i, ids[i + 1]].item() for i in range(len(ids) - 1)),
        "top_ids": top.indices.tolist(),
        "top": [rounded(row) for row in top.values.tolist()],
        "logits_std": round(logits.std().item(), 3),
    }


def write_expected(name, model, seed, limit=None, **more):
    cases = [expectation(model, ids) for ids in sequences(model.config, seed, limit)]
    stds = [case["logits_std"] for case in cases]
    assert all(1.5 < s < 8 for s in stds), f"{name}: flat or wild logits {stds}"
    value = {"versions": VERSIONS, "seed": seed, "sequences": cases, **more}
    (HERE / f"{name}.expected.json").write_text(json.dumps(value, separators=(",", ":")) + "\n")
    print(f"{name}: logits std {stds}")


# --- safetensors ---------------------------------------------------------------------------------

def write_folder(name, config, state, dtype, edit=None, shard=None):
    """Saves the folder as transformers does, edits its config.json, and gives back the model that
    transformers reads from it, in float32."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    model = model_of(config, state).to(dtype)
    model.config.dtype = dtype
    model.save_pretrained(folder, max_shard_size=shard or "1GB")
    for file in folder.iterdir():
        file.chmod(0o644)
    (folder / "generation_config.json").unlink(missing_ok=True)
    path = folder / "config.json"
    values = json.loads(path.read_text())
    if edit:
        edit(values)
    path.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n")
    return Qwen2ForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager").eval()


def old_config_style(values):
    """config.json as transformers 4 wrote it: rope_theta and rope_scaling at the top."""
    rope = values.pop("rope_parameters")
    values["rope_theta"] = rope.pop("rope_theta")
    values["rope_scaling"] = None
    if rope.pop("rope_type") != "default":
        values["rope_scaling"] = {"type": "yarn", **rope}
    values["torch_dtype"] = values.pop("dtype")
    values.pop("layer_types", None)


# --- GGUF ----------------------------------------------------------------------------------------

LAYER_NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    base, suffix = name.rsplit(".", 1)
    outer = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    if base in outer:
        return f"{outer[base]}.{suffix}"
    _, _, layer, rest = base.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[rest]}.{suffix}"


def random_k_blocks(rng, shape, kind):
    """Random bytes of a K-quant with scales that give weights of about 1.2/sqrt(columns). gguf-py
    cannot quantise to these types, but its dequantize is the truth for any bytes."""
    rows, columns = shape
    block_bytes = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = rng.integers(0, 256, (rows, columns // 256, block_bytes), dtype=np.uint8)
    target = 1.2 / np.sqrt(columns)
    wobble = rng.uniform(0.7, 1.3, blocks.shape[:2])
    if kind == Q.Q6_K:  # d * scale * (q - 32): scales as int8 in the 16 bytes before d
        scales = rng.integers(-64, 65, (*blocks.shape[:2], 16)).astype(np.int8)
        blocks[..., 192:208] = scales.view(np.uint8)
        d = (target / (37.0 * 18.5) * wobble).astype(np.float16)
        blocks[..., 208:210] = d[..., None].view(np.uint8)
    else:  # d * scale * q - dmin * min, with q up to 15 (Q4_K) or 31 (Q5_K)
        middle = 7.5 if kind == Q.Q4_K else 15.5
        d = (target / (34.0 * middle) * wobble).astype(np.float16)
        blocks[..., 0:2] = d[..., None].view(np.uint8)
        blocks[..., 2:4] = (d * np.float16(middle))[..., None].astype(np.float16).view(np.uint8)
    return blocks.reshape(rows, -1)


def add_keys(writer, config, keys):
    writer.add_name("tiny random Qwen2")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_quantization_version(2)
    if keys:
        keys(writer)


def write_gguf(name, config, state, choose, seed, keys=None, split=0):
    """`choose(gguf name)` gives the type of a matrix; vectors are F32. Gives back the reference
    model on the weights as the file holds them."""
    for old in HERE.glob(f"{name}*.gguf"):
        old.unlink()
    rng = np.random.default_rng(seed + 2000)
    writer = gguf.GGUFWriter(HERE / f"{name}.gguf", "qwen2", split_max_tensors=split)
    add_keys(writer, config, keys)
    held = {}
    for hf_name, value in state.items():
        kind = choose(gguf_name(hf_name)) if value.ndim == 2 else Q.F32
        if kind in (Q.Q4_K, Q.Q5_K, Q.Q6_K):
            data = random_k_blocks(rng, value.shape, kind)
        else:
            data = quants.quantize(value, kind)
        held[hf_name] = quants.dequantize(data, kind).astype(np.float32)
        if kind == Q.F32:
            writer.add_tensor(gguf_name(hf_name), value)
        elif kind == Q.F16:
            writer.add_tensor(gguf_name(hf_name), value.astype(np.float16))
        else:
            writer.add_tensor(gguf_name(hf_name), data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model_of(config, held)


def yarn_keys(writer):
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(4.0)
    writer.add_rope_scaling_orig_ctx_len(32)
    writer.add_rope_scaling_yarn_attn_factor(1.25)
    writer.add_rope_scaling_yarn_beta_fast(8.0)
    writer.add_rope_scaling_yarn_beta_slow(0.5)


def window_keys(writer):
    writer.add_sliding_window(8)
    writer.add_sliding_window_pattern([False, True, True])


# --- the checkpoints -----------------------------------------------------------------------------

YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
        "original_max_position_embeddings": 32}
YARN_ALL = {**YARN, "attention_factor": 1.25, "beta_fast": 8.0, "beta_slow": 0.5}
WINDOW = {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}


def folder_and_twin(name, config, seed, dtype, kind, edit=None):
    """A folder and the same weights as GGUF: one expectation for both."""
    state = random_weights(config, seed)
    state = {k: torch.from_numpy(v).to(dtype).float().numpy() for k, v in state.items()}
    model = write_folder(name, config, state, dtype, edit)
    write_gguf(name, config, state, lambda n: kind, seed)
    write_expected(name, model, seed)


def make_f32():
    folder_and_twin("qwen2-f32-tied", make_config(48, 6, 2, 56, 131, tied=True), 1, torch.float32,
                    Q.F32)


def make_f16():
    folder_and_twin("qwen2-f16-untied", make_config(60, 6, 2, 76, 133), 2, torch.float16, Q.F16,
                    old_config_style)


def make_bf16():
    folder_and_twin("qwen2-bf16-mqa",
                    make_config(64, 4, 1, 90, 131, tied=True,
                                rope={"rope_type": "default", "rope_theta": 1000000.0}),
                    3, torch.bfloat16, Q.BF16)


def make_yarn():
    config = make_config(48, 4, 1, 56, 131, tied=True, context=128, rope=YARN)
    state = random_weights(config, 4)
    write_expected("qwen2-yarn", write_folder("qwen2-yarn", config, state, torch.float16), 4)
    # The same model without the scaling must differ, or the test would show nothing.
    plain = make_config(48, 4, 1, 56, 131, tied=True, context=128)
    ids = torch.tensor([sequences(config, 4, None)[2]])
    with torch.no_grad():
        moved = (model_of(config, state)(ids).logits - model_of(plain, state)(ids).logits).abs()
    assert moved.mean() > 0.1, moved.mean()


def make_yarn_keys():
    name = "qwen2-yarn-keys"
    config = make_config(48, 6, 2, 56, 131, tied=True, context=128, rope=YARN_ALL)
    state = random_weights(config, 5)
    write_expected(name, write_gguf(name, config, state, lambda n: Q.F16, 5, yarn_keys), 5)


def make_window():
    config = make_config(48, 4, 2, 56, 131, tied=True, **WINDOW)
    state = random_weights(config, 6)
    model = write_folder("qwen2-window", config, state, torch.float16, old_config_style)
    assert model.config.layer_types == ["full_attention"] + ["sliding_attention"] * 2
    write_expected("qwen2-window", model, 6)


def make_window_keys():
    name = "qwen2-window-keys"
    config = make_config(48, 4, 2, 56, 131, tied=True, **WINDOW)
    state = random_weights(config, 7)
    write_expected(name, write_gguf(name, config, state, lambda n: Q.F16, 7, window_keys), 7)


def make_sharded():
    config = make_config(48, 6, 3, 56, 137)
    state = random_weights(config, 8)
    model = write_folder("qwen2-sharded", config, state, torch.bfloat16, shard="40KB")
    assert len(list((HERE / "qwen2-sharded").glob("*.safetensors"))) >= 3
    write_expected("qwen2-sharded", model, 8)


def make_quantised():
    for seed, kind in ((9, Q.Q4_0), (10, Q.Q5_0), (11, Q.Q8_0)):
        name = f"qwen2-{kind.name.lower()}"
        config = make_config(64, 4, 1, 96, 131, tied=seed == 9)
        state = random_weights(config, seed)
        write_expected(name, write_gguf(name, config, state, lambda n: kind, seed), seed)


def make_split():
    name = "qwen2-split"
    config = make_config(64, 4, 2, 64, 131, tied=True)
    state = random_weights(config, 12)
    model = write_gguf(name, config, state, lambda n: Q.Q8_0, 12, split=12)
    write_expected(name, model, 12)


def make_k_quants():
    """The mix of the default model: Q4_K and Q6_K where rows have a multiple of 256 elements,
    Q5_0 and Q8_0 where not, an embedding and a head of different types."""
    name = "qwen2-k-quants"
    config = make_config(256, 4, 1, 64, 131, layers=2, head_dim=16)
    types = {"token_embd": Q.Q5_0, "output": Q.Q8_0, "attn_q": Q.Q4_K, "attn_k": Q.Q4_K,
             "attn_v": Q.Q6_K, "attn_output": Q.Q8_0, "ffn_gate": Q.Q4_K, "ffn_up": Q.Q6_K,
             "ffn_down": Q.Q5_0}
    state = random_weights(config, 13)
    model = write_gguf(name, config, state, lambda n: types[n.split(".")[-2]], 13,
                       lambda writer: (writer.add_key_length(16), writer.add_value_length(16)))
    write_expected(name, model, 13)


def make_chat():
    """A folder and a GGUF with a tokenizer and a chat template, for whole runs."""
    name = "qwen2-chat"
    tokenizer = tiny_tokenizer.train()
    special = tiny_tokenizer.special_ids(tokenizer)
    rows = 320  # more than there are tokens, as in released Qwen models
    assert tokenizer.get_vocab_size() < rows
    config = make_config(32, 4, 1, 64, rows, layers=2, tied=True,
                         bos=special["<|endoftext|>"], eos=special["<|im_end|>"])
    seed = 14
    model = model_of(config, random_weights(config, seed)).train()
    tiny_tokenizer.teach(model, tokenizer)
    state = {k: v.numpy() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    state = {k: quants.dequantize(quants.quantize(v, Q.Q8_0), Q.Q8_0) if v.ndim == 2 else v
             for k, v in state.items()}
    model = write_folder(name, config, state, torch.float32)
    tiny_tokenizer.save(tokenizer, HERE / name, special)
    write_gguf(name, config, state, lambda n: Q.Q8_0, seed,
               lambda writer: tiny_tokenizer.add_keys(writer, tokenizer, special))
    write_expected(name, model, seed, limit=tokenizer.get_vocab_size(),
                   text=tiny_tokenizer.expectation(tokenizer, model, special))


ALL = {f.__name__[5:]: f for f in (
    make_f32, make_f16, make_bf16, make_yarn, make_yarn_keys, make_window, make_window_keys,
    make_sharded, make_quantised, make_split, make_k_quants, make_chat)}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or ALL:
        ALL[wanted]()
