"""Writes own.json, conversations.json and public.json with jinja2 in transformers' environment.

    python tests/golden/templates/make_goldens.py [folder of public templates]

own.json: templates of our own (own_cases.py and 250 from fuzz.py's generator) with their texts.
public.json: what each public template makes of each conversation; long texts as length and FNV-1a
hash. The public templates are not in this repository; without the folder that file is left alone.
"""

import json
import pathlib
import random
import sys

import fuzz
import own_cases
import reference

HERE = pathlib.Path(__file__).parent
TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Weather > now & \"then\", für 世界's <cities>",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "The city", "enum": ["Paris", "Zürich"]},
            "days": {"type": "integer", "minimum": 1, "default": 3},
            "unit": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
                      "required": ["lat"]}},
            "required": ["city"]}}},
    {"type": "function", "function": {"name": "now", "description": "The time",
                                      "parameters": {"type": "object", "properties": {}}}},
]
CALL = {"id": "abcdef123", "type": "function",
        "function": {"name": "get_weather", "arguments": {"city": "Paris", "days": 2, "tags": ["a", "b"], "where": {"lat": 48.85, "lon": -1e-07}}}}
CALL_TEXT = {"id": "abcdef123", "type": "function",
             "function": {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}}
USER = {"role": "user", "content": "What is the weather in Paris?"}
RESULT = {"role": "tool", "name": "get_weather", "tool_call_id": "abcdef123", "content": "{\"temp\": 21.5, \"sky\": \"<clear>\"}"}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
CONVERSATIONS = {
    "plain": {"messages": [{"role": "user", "content": " Hello there \n"}], "add_generation_prompt": True, **TOKENS},
    "system and turns": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
                                      {"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "Bye"}],
                         "add_generation_prompt": True, **TOKENS},
    "no prompt": {"messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}], **TOKENS},
    "unicode": {"messages": [{"role": "system", "content": "Ünïcode 世界 🎉"}, {"role": "user", "content": "e\u0301 \u2028 <|im_end|> &amp; '\"\\"}],
                "add_generation_prompt": True, **TOKENS},
    "tools": {"messages": [{"role": "system", "content": "Use tools."}, USER], "tools": TOOLS, "add_generation_prompt": True, **TOKENS},
    "tool result": {"messages": [USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}, RESULT,
                                 {"role": "assistant", "content": "21.5 degrees"}, {"role": "user", "content": "Thanks"}],
                    "tools": TOOLS, "add_generation_prompt": True, **TOKENS},
    "null content": {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT],
                     "tools": TOOLS, "add_generation_prompt": True, **TOKENS},
    "arguments as text": {"messages": [USER, {"role": "assistant", "content": "I look.", "tool_calls": [CALL_TEXT]}, RESULT],
                          "tools": TOOLS, "add_generation_prompt": True, **TOKENS},
    "two calls": {"messages": [USER, {"role": "assistant", "content": "", "tool_calls": [CALL, dict(CALL, id="xyz123456")]},
                               RESULT, dict(RESULT, tool_call_id="xyz123456", content="n/a")], "tools": TOOLS, **TOKENS},
    "reasoning": {"messages": [{"role": "user", "content": "2+2?"},
                               {"role": "assistant", "reasoning_content": "Add them.\n", "content": "4"},
                               {"role": "user", "content": "3+3?"}], "add_generation_prompt": True, **TOKENS},
    "reasoning and tools": {"messages": [USER, {"role": "assistant", "reasoning_content": "I need a tool.", "content": "", "tool_calls": [CALL]},
                                         RESULT], "tools": TOOLS, "add_generation_prompt": True,
                            "chat_template_kwargs": {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"}, **TOKENS},
    "think tags": {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nanswer"},
                                {"role": "user", "content": "r"}], "add_generation_prompt": True,
                   "chat_template_kwargs": {"enable_thinking": False, "thinking": False}, **TOKENS},
    "parts": {"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is this?"}]},
                           {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]},
                           {"role": "user", "content": [{"type": "text", "text": "Sure?"}]}], "add_generation_prompt": True, **TOKENS},
    "missing content": {"messages": [{"role": "user"}], "add_generation_prompt": True, **TOKENS},
    "empty contents": {"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": []}], **TOKENS},
    "odd roles": {"messages": [{"role": "assistant", "content": "first"}, {"role": "assistant", "content": "second"},
                               {"role": "developer", "content": "dev"}, {"role": "wizard", "content": "?"}], **TOKENS},
    "documents": {"messages": [{"role": "user", "content": "Read."}], "documents": [{"title": "T1", "text": "One."}, {"title": "T2", "text": "Two."}],
                  "add_generation_prompt": True, **TOKENS},
    "no tokens": {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}], "add_generation_prompt": True},
}


BEYOND_64_BITS = {78}  # generated templates whose integers our engine refuses


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def compact(outcome):
    kind, text = outcome
    data = text.encode()
    if kind == "text" and len(data) > 700:
        return {"bytes": len(data), "hash": fnv1a(data)}
    return {kind: text}


def write(name, value):
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
    (HERE / name).write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def own():
    for name, template in {**own_cases.TEMPLATES, **own_cases.ERRORS}.items():
        variables = dict(fuzz.VARIABLES)
        if name == "chatml":
            variables = {**reference.prepare(CONVERSATIONS["null content"])}
            variables["messages"] = variables.pop("conversations")[0]
        kind, text = reference.render(template, variables)
        if (kind == "text") != (name in own_cases.TEMPLATES):
            print(f"{name}: {kind} {text}", file=sys.stderr)
        yield {"name": name, "template": template, kind: text, **({"variables": variables} if name == "chatml" else {})}
    count = 0
    for index in range(10**6):
        if index in BEYOND_64_BITS:
            continue
        rng = random.Random(7_000_000 + index)
        template = fuzz.Generator(rng).body(2)
        if len(template) > 600:
            continue
        kind, text = reference.render(template, fuzz.VARIABLES)
        if " at 0x" in text or len(text) > 900 or (kind != "text" and index % 4):
            continue
        yield {"name": f"generated {index}", "template": template, kind: text}
        count += 1
        if count == 250:
            return


def main():
    write("own.json", [{"name": "variables", "variables": fuzz.VARIABLES}, *own()])
    write("conversations.json", [{"name": name, "conversation": value} for name, value in CONVERSATIONS.items()])
    if len(sys.argv) > 1:
        rows = []
        for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja")):
            template = path.read_text(encoding="utf-8", errors="strict")
            results = [compact(reference.render_conversation(template, value)) for value in CONVERSATIONS.values()]
            rows.append({"template": path.name, "results": results})
        write("public.json", rows)


main()
