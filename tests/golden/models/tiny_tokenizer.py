"""A byte-level BPE tokenizer of about 300 tokens in the manner of Qwen2, trained on the text below."""
import json

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast
import gguf

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
TEXT = """The crane stands in the shallow water and waits. The water is cold, and the wind is in the
reeds. Then the crane lifts one foot, and then the other, and stands again. In the morning there are
more cranes than one can count; in the evening there are none. The user asks and the assistant answers.
The system sets the rule: the assistant is the one that answers, the user is the one that asks."""

TEMPLATE = """{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou are a crane.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or message.role == 'assistant' %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

CASES = ["", "The crane stands", " and the water", "caf\u00e9, na\u00efve", "e\u0301", "\u9db4\u3068\U0001f426",
         "12345", "it's  the\n\n\nend ", "<|im_start|>user\nhi<|im_end|>\n", "<|im_start", "a\tb\r\nc"]
CHATS = [
    [{"role": "user", "content": "What is in the water?"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"},
     {"role": "assistant", "content": "The crane."}, {"role": "user", "content": "And then?"}],
]
# What the chat model is trained to answer; one with characters of several tokens.
ANSWERS = ["The crane stands in the water and waits. \u9db4 \U0001f426", "Then it lifts one foot."]


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), behavior="isolated", invert=False),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=[], show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator([TEXT], trainer)
    # After the vocabulary, as in Qwen2: special tokens extend it.
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIAL])
    return tokenizer


def special_ids(tokenizer):
    return {t: tokenizer.token_to_id(t) for t in SPECIAL}


def teach(model, tokenizer):
    """Trains the model on CHATS with ANSWERS, so that a run gives text and ends by itself."""
    import torch
    torch.manual_seed(0)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=TEMPLATE)
    samples = []
    for messages, answer in zip(CHATS, ANSWERS):
        text = fast.apply_chat_template(messages + [{"role": "assistant", "content": answer}],
                                        tokenize=False)
        samples.append(torch.tensor([tokenizer.encode(text, add_special_tokens=False).ids]))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(300):
        ids = samples[step % len(samples)]
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.2, loss.item()


def save(tokenizer, folder, special):
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {"tokenizer_class": "Qwen2Tokenizer", "add_bos_token": False, "add_prefix_space": False,
              "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
              "model_max_length": 512, "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    generation = {"bos_token_id": special["<|endoftext|>"], "do_sample": True,
                  "eos_token_id": [special["<|im_end|>"], special["<|endoftext|>"]],
                  "pad_token_id": special["<|endoftext|>"], "repetition_penalty": 1.1,
                  "temperature": 0.7, "top_k": 20, "top_p": 0.8}
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=1) + "\n")


def add_keys(writer, tokenizer, special):
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    # Rows of the embedding without a token, as converters write them.
    tokens += [f"[PAD{i}]" for i in range(len(tokens), 320)]
    types = [gguf.TokenType.CONTROL if t in special
             else gguf.TokenType.UNUSED if t.startswith("[PAD") else gguf.TokenType.NORMAL
             for t in tokens]
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(special["<|im_end|>"])
    writer.add_bos_token_id(special["<|endoftext|>"])
    writer.add_pad_token_id(special["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def expectation(tokenizer, model, special):
    """Ids of texts, rendered chats, and the greedy answer of the reference to each chat."""
    import torch
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=TEMPLATE)
    chats = []
    for messages in CHATS:
        prompt = fast.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = tokenizer.encode(prompt, add_special_tokens=False).ids
        answer, margin = [], 1e9
        stops = {special["<|im_end|>"], special["<|endoftext|>"]}
        while len(answer) < 48:
            with torch.no_grad():
                logits = model(torch.tensor([ids + answer])).logits[0, -1]
            best = torch.topk(logits, 2)
            margin = min(margin, (best.values[0] - best.values[1]).item())
            token = int(best.indices[0])
            answer.append(token)
            if token in stops:
                break
        chats.append({"messages": messages, "prompt": prompt, "prompt_ids": ids, "greedy_ids": answer,
                      "greedy_text": tokenizer.decode(answer, skip_special_tokens=True),
                      "smallest_margin": round(margin, 5)})
    return {"texts": [{"text": t, "ids": tokenizer.encode(t, add_special_tokens=False).ids} for t in CASES],
            "chats": chats}
