"""Compares our template engine with jinja2 on generated templates.

    python tests/golden/templates/fuzz.py DRIVER [--seed N] [--count N] [--seconds N] [--messages]

DRIVER is the program built from tests/text/support/render_template.cpp. Prints each difference and
exits with 1 if there is one. With --messages, differing error texts count as well. Skipped: what
the reference prints with a memory address, and errors of ours that name a documented limit.
"""

import argparse
import collections
import json
import random
import subprocess
import sys
import time
import warnings

import reference

warnings.filterwarnings("ignore")

VARIABLES = {
    "s": "Hello, World", "e": "", "w": "  two  words \n\n third\t", "h": "<b>\"T&C's\"</b> <!-- x -->y",
    "un": "Ünïcödé ßtraße ǆ ΑΣ ﬁ 世界 🎉 e\u0301", "num": " 42 ", "path": "a.b,c/d-e_f", "n": 7, "z": 0,
    "neg": -3, "big": 9007199254740993, "f": 2.5, "tiny": 1e-07, "huge": 1e16, "t": True, "fa": False,
    "no": None, "l": [3, 1, 2], "le": [], "ls": ["b", "A", "c", "a", "B"], "mix": [1, "a", None, 2.5, [1]],
    "ll": [[1, 2], [3, 4], []], "d": {"b": 1, "a": "x", "C": None}, "de": {},
    "nest": {"k": {"x": [1, {"y": "z"}], "items": 5}, "get": "g", "1": 2, "list": [0.1, -0.0]},
    "msgs": [{"role": "user", "content": "hi", "n": 2}, {"role": "assistant", "content": None, "n": 1},
             {"role": "tool", "content": [{"type": "text", "text": "T"}], "n": 2},
             {"role": "Assistant", "content": "bye\n", "tool_calls": [{"function": {"name": "f", "arguments": {"q": 1.0}}}]}],
}
STRINGS = ["s", "e", "w", "h", "un", "num", "path"]
NUMBERS = ["n", "z", "neg", "big", "f", "tiny", "huge", "t"]
LISTS = ["l", "le", "ls", "mix", "ll", "msgs"]
DICTS = ["d", "de", "nest", "msgs[0]", "msgs[3]"]
LITERALS = ["''", "'a'", '"it\'s"', "'\\n'", "' x '", "'<&>'", "'é'", "'Σ'", "'%s'", "'a,b'", "'\\\\'",
            "'{}'", "'\\x41\\u00df'", "'ab' 'cd'", "'l'", "'role'", "'o'", "' '", "','"]

CHOICES_1 = ['indent=2', 'indent=4', 'ensure_ascii=true', 'sort_keys=true', 'separators=(",", ":")', 'indent=0', 'true, 1', 'indent=none']
CHOICES_2 = ['5', '3, true', '8, false, ""', '6, leeway=0', '4, end="…"']
CHOICES_3 = ['', ', false', ', wrapstring="|"', ', break_on_hyphens=false']
CHOICES_4 = ['', '1', '2', '-1', '1, "floor"', '0, "ceil"', 'precision=3']
CHOICES_5 = ['list', 'sort', 'reverse|list', 'unique|list', 'sort(reverse=true)', 'sort(case_sensitive=true)', 'batch(2)|list', 'batch(2, 0)|list', 'slice(2)|list', 'slice(3, 9)|list', 'select|list', 'reject|list', 'select("string")|list', 'reject("none")|list', 'select("gt", 1)|list', 'map("string")|list', 'map("upper")|list', 'map("default", 4)|list', 'map(attribute="n")|list', 'map(attribute="n", default=3)|list']
CHOICES_6 = ['map(attribute="role")|list', 'selectattr("content")|list', 'rejectattr("tool_calls", "defined")|list', 'selectattr("role", "equalto", "user")|list', 'sort(attribute="role")|map(attribute="role")|list', 'groupby("role")', 'groupby("n", default=0)', 'groupby("role", case_sensitive=true)|map(attribute="grouper")|list', 'unique(attribute="role")|list', 'map(attribute="tool_calls.0.function.name")|list', 'sum(attribute="n")|string|list', 'sort(attribute="n,role")|list', 'max(attribute="role")|list']
CHOICES_7 = ['items|list', 'dictsort', 'dictsort(true)', 'dictsort(by="value")', 'dictsort(reverse=true)', 'list', 'length|string|list']
CHOICES_8 = ['nest.k.x[1].y', 'nest["k"].items', 'nest.get', 'nest.list[-1]', 'msgs[-1].tool_calls[0].function', 'msgs|length', 'd.C', 'd.missing', 'u.x', 'un[3:-2]', 's.__class__', 'd.pop']


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.locals = []
        self.macros = []
        self.in_loop = 0

    def pick(self, *options):
        choice = self.rng.choice(options)
        return choice() if callable(choice) else choice

    def expr(self, depth=3):
        if depth <= 0:
            return self.atom()
        kinds = [self.string, self.number, self.sequence, self.mapping, self.boolean, self.other]
        return self.rng.choice(kinds)(depth)

    def atom(self):
        pool = STRINGS + NUMBERS + LISTS + DICTS + ["no", "u", "fa"] + self.locals
        return self.rng.choice(pool + LITERALS[:6])

    def string(self, depth):
        r = self.rng
        if depth <= 0 or r.random() < 0.2:
            return r.choice(STRINGS + LITERALS)
        a, b, i = self.string, self.string, self.small
        d = depth - 1
        return r.choice([
            lambda: f"{a(d)} ~ {self.expr(d)}",
            lambda: f"({a(d)} + {b(d)})",
            lambda: f"{self.wrap(a(d))}{self.slice(d)}",
            lambda: f"{self.wrap(a(d))}.{r.choice(['upper', 'lower', 'title', 'capitalize', 'swapcase', 'casefold', 'strip', 'lstrip', 'rstrip'])}()",
            lambda: f"{self.wrap(a(d))}.{r.choice(['strip', 'lstrip', 'rstrip', 'removeprefix', 'removesuffix'])}({b(d)})",
            lambda: f"{self.wrap(a(d))}.replace({b(d)}, {b(d)}{r.choice(['', f', {i()}'])})",
            lambda: f"{self.wrap(a(d))}.{r.choice(['center', 'ljust', 'rjust'])}({i()}{r.choice(['', ', chr', ', 41'[:0]]) and ''})",
            lambda: f"{self.wrap(a(d))}.zfill({i()})",
            lambda: f"{self.wrap(a(d))}.expandtabs({i()})",
            lambda: f"{self.wrap(a(d))}.join({self.sequence(d)})",
            lambda: f"({a(d)} * {i()})",
            lambda: f"{self.wrap(self.expr(d))}|{r.choice(['string', 'upper', 'lower', 'title', 'capitalize', 'trim', 'tojson', 'escape', 'e', 'forceescape', 'safe', 'urlencode', 'striptags', 'join', 'reverse', 'indent', 'wordwrap'])}",
            lambda: f"{self.wrap(a(d))}|{r.choice(['trim', 'upper', 'title', 'capitalize', 'striptags', 'e', 'safe', 'reverse', 'urlencode'])}",
            lambda: f"{self.wrap(self.expr(d))}|tojson({r.choice(CHOICES_1)})",
            lambda: f"{self.wrap(a(d))}|replace({b(d)}, {b(d)})",
            lambda: f"{self.wrap(a(d))}|indent({r.choice(['2', '4, true', 'first=true', 'blank=true', repr('> ')])})",
            lambda: f"{self.wrap(a(d))}|truncate({r.choice(CHOICES_2)})",
            lambda: f"{self.wrap(a(d))}|wordwrap({i()}{r.choice(CHOICES_3)})",
            lambda: f"{self.wrap(a(d))}|center({i()})",
            lambda: f"{self.wrap(self.sequence(d))}|join({b(d)})",
            lambda: f"({self.percent(d)})",
            lambda: f"{self.brace(d)}",
            lambda: f"{self.wrap(a(d))}|default({b(d)}{r.choice(['', ', true'])})",
            lambda: f"{self.wrap(self.number(d))}|filesizeformat{r.choice(['', '(true)'])}",
            lambda: f"{self.mapping(d)}|xmlattr{r.choice(['', '(false)'])}",
            lambda: f"({a(d)} if {self.boolean(d)} else {b(d)})",
        ])()

    def percent(self, depth):
        spec = self.pick("%s", "%r", "%d", "%5d", "%-6s|", "%05d", "%+d", "%x", "%#X", "%o", "%.2f", "%8.3e",
                         "%g", "%c", "%%", "%5.1f", "%a", "%i", "%.3s", "% d", "%G")
        if self.rng.random() < 0.3:
            return f"'{spec} {self.pick('%s', '%r')}' % ({self.expr(depth)}, {self.expr(depth)})"
        value = self.expr(depth) if self.rng.random() < 0.5 else self.number(depth)
        if self.rng.random() < 0.3:
            return f"'{spec}'|format({value})"
        return f"'[{spec}]' % {self.wrap(value)}"

    def brace(self, depth):
        spec = self.pick("", ":>8", ":<5", ":^9", ":*^7", ":05", ":+", ":,", ":.2f", ":e", ":g", ":x", ":#b", ":_",
                         ":%", "!r", "!s:>4", "!a", ":.3", ":08.2f", ":c", ":o", ":d", ":+.1e", ": d", ":G", ":<06", ":,.1f")
        value = self.number(depth) if self.rng.random() < 0.7 else self.expr(depth)
        name = self.pick("", "0", "x", "x.a", "x[0]", "0[1]", "x[b]")
        keyword = "x=" if name.startswith("x") else ""
        return f"'<{{{name}{spec}}}>'.format({keyword}{value})"

    def small(self):
        return self.pick("0", "1", "2", "3", "-1", "5", "10", "n", "z", "-2", "20")

    def integer(self, depth):
        r = self.rng
        d = depth - 1
        if depth <= 0:
            return self.pick(self.small, "100", "0x1F", "1_000")
        return r.choice([
            self.small,
            lambda: f"{self.wrap(self.string(d))}|length",
            lambda: f"{self.wrap(self.sequence(d))}|length",
            lambda: f"{self.wrap(self.string(d))}.{r.choice(['find', 'rfind', 'count', 'index'])}({self.string(d)}{r.choice(['', ', 1', ', 0, 3', ', -2'])})",
            lambda: f"{self.wrap(self.expr(d))}|int{r.choice(['', '(5)', '(base=16)', '(none)'])}",
            lambda: f"{self.wrap(self.string(d))}|wordcount",
            lambda: f"({self.integer(d)} {r.choice(['+', '-', '*', '//', '%'])} {self.integer(d)})",
            lambda: f"({self.integer(d)} ** {self.small()})",
            lambda: f"{self.wrap(self.sequence(d))}.{r.choice(['index', 'count'])}({self.expr(d)})",
            lambda: f"-{self.wrap(self.integer(d))}",
        ])()

    def number(self, depth):
        r = self.rng
        d = depth - 1
        if depth <= 0 or r.random() < 0.2:
            return r.choice(NUMBERS + ["1.5", "1e3", "0.1", "1e-10", "123456.789", "3"])
        return r.choice([
            lambda: self.integer(depth),
            lambda: f"({self.number(d)} {r.choice(['+', '-', '*', '/', '//', '%'])} {self.number(d)})",
            lambda: f"({self.number(d)} ** {self.pick(self.small, '0.5', '-1.5')})",
            lambda: f"{self.wrap(self.number(d))}|round({r.choice(CHOICES_4)})",
            lambda: f"{self.wrap(self.number(d))}|abs",
            lambda: f"{self.wrap(self.expr(d))}|float{r.choice(['', '(1.5)', '(default=none)'])}",
            lambda: f"{self.wrap(self.sequence(d))}|{r.choice(['sum', 'min', 'max', 'first', 'last'])}",
            lambda: f"-{self.wrap(self.number(d))}",
            lambda: f"+{self.wrap(self.number(d))}",
        ])()

    def boolean(self, depth):
        r = self.rng
        d = depth - 1
        if depth <= 0:
            return self.pick("t", "fa", "true", "false", "n", "e", "no", "u")
        return r.choice([
            lambda: f"{self.wrap(self.expr(d))} is {r.choice(['', 'not '])}{r.choice(['defined', 'undefined', 'none', 'string', 'number', 'integer', 'float', 'mapping', 'sequence', 'iterable', 'boolean', 'true', 'false', 'callable', 'lower', 'upper', 'odd', 'even', 'escaped', 'filter', 'test'])}",
            lambda: f"{self.wrap(self.number(d))} is {r.choice(['odd', 'even', 'divisibleby 3', 'divisibleby(2)', 'eq 7', 'gt 2', 'lessthan 3', 'in l', '== 2'][:8])}",
            lambda: f"{self.wrap(self.expr(d))} {r.choice(['==', '!='])} {self.wrap(self.expr(d))}",
            lambda: f"{self.wrap(self.number(d))} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {self.wrap(self.number(d))}",
            lambda: f"{self.wrap(self.string(d))} {r.choice(['<', '<=', '>', '>=', 'in', 'not in'])} {self.wrap(self.string(d))}",
            lambda: f"{self.wrap(self.expr(d))} {r.choice(['in', 'not in'])} {self.wrap(self.sequence(d))}",
            lambda: f"{self.wrap(self.string(d))} in {self.wrap(self.mapping(d))}",
            lambda: f"0 {r.choice(['<', '<='])} {self.wrap(self.number(d))} {r.choice(['<', '<='])} 9",
            lambda: f"({self.boolean(d)} and {self.boolean(d)})",
            lambda: f"({self.boolean(d)} or {self.expr(d)})",
            lambda: f"not {self.boolean(d)}",
            lambda: f"{self.wrap(self.string(d))}.{r.choice(['startswith', 'endswith'])}({self.string(d)}{r.choice(['', ', 1'])})",
            lambda: f"{self.wrap(self.string(d))}.{r.choice(['isupper', 'islower', 'isalpha', 'isdigit', 'isspace', 'istitle', 'isalnum', 'isnumeric', 'isidentifier', 'isascii', 'isdecimal', 'isprintable'])}()",
        ])()

    def sequence(self, depth):
        r = self.rng
        d = depth - 1
        if depth <= 0 or r.random() < 0.25:
            return r.choice(LISTS + ["[]", "[1, 2]", "(1, 'a')", "()", "range(4)", "['x']", "(3,)"])
        items = lambda: ", ".join(self.expr(d) for _ in range(r.randint(1, 3)))
        return r.choice([
            lambda: f"[{items()}]",
            lambda: f"({items()},)",
            lambda: f"range({self.small()}{r.choice(['', ', 9', ', 9, 2', ', -5, -2'])})",
            lambda: f"{self.wrap(self.sequence(d))}{self.slice(d)}",
            lambda: f"({self.sequence(d)} + {self.sequence(d)})",
            lambda: f"{self.wrap(self.string(d))}.split({r.choice(['', self.string(0), 'none', 'none, 1'])})",
            lambda: f"{self.wrap(self.string(d))}.{r.choice(['rsplit', 'split'])}({self.string(0)}, {self.small()})",
            lambda: f"{self.wrap(self.string(d))}.splitlines({r.choice(['', 'true'])})",
            lambda: f"{self.wrap(self.string(d))}.{r.choice(['partition', 'rpartition'])}({self.string(0)})",
            lambda: f"{self.wrap(self.sequence(d))}|{r.choice(CHOICES_5)}",
            lambda: f"msgs|{r.choice(CHOICES_6)}",
            lambda: f"{self.wrap(self.mapping(d))}|{r.choice(CHOICES_7)}",
            lambda: f"{self.wrap(self.mapping(d))}.{r.choice(['items()|list', 'keys()|list', 'values()|list', 'keys()', 'items()', 'values()'])}",
            lambda: f"({self.sequence(d)} * {self.small()})",
        ])()

    def mapping(self, depth):
        r = self.rng
        d = depth - 1
        if depth <= 0 or r.random() < 0.3:
            return r.choice(DICTS + ["{}", "{'a': 1}", "{1: 'x', none: 2, true: 3}"])
        return r.choice([
            lambda: "{" + ", ".join(f"{self.string(0)}: {self.expr(d)}" for _ in range(r.randint(1, 3))) + "}",
            lambda: f"dict(a={self.expr(d)}, b=2)",
            lambda: f"dict({self.mapping(d)}, z={self.expr(d)})",
            lambda: f"{{{self.number(0)}: {self.expr(d)}, (1, 2): {self.expr(0)}}}",
            lambda: f"{self.wrap(self.mapping(d))}.copy()",
            lambda: f"dict([('a', {self.expr(d)})])",
        ])()

    def other(self, depth):
        r = self.rng
        d = depth - 1
        return r.choice([
            lambda: f"{self.wrap(self.expr(d))}.{r.choice(['a', 'b', 'x', 'k', 'role', 'content', 'items', 'foo', '0', '1'])}",
            lambda: f"{self.wrap(self.expr(d))}[{self.expr(d)}]",
            lambda: f"{self.wrap(self.mapping(d))}.get({self.string(d)}{r.choice(['', ', 5'])})",
            lambda: f"{self.wrap(self.sequence(d))}[{self.small()}]",
            lambda: f"{self.wrap(self.sequence(d))}|{r.choice(['first', 'last', 'max', 'min', 'random'][:4])}",
            lambda: f"({self.expr(d)} if {self.boolean(d)}{r.choice(['', ' else ' + self.expr(d)])})",
            lambda: f"({self.expr(d)} {r.choice(['+', '-', '*', '/', '%', '//'])} {self.expr(d)})",
            lambda: f"{self.wrap(self.expr(d))}{self.slice(d)}",
            lambda: f"{self.wrap(self.expr(d))}|attr('{r.choice(['upper', 'a', 'foo', 'real', '__class__'])}')",
            lambda: f"{self.wrap(self.expr(d))}|{r.choice(['default(1)', 'd(2, true)', 'length', 'list', 'count'])}",
            lambda: f"{r.choice(CHOICES_8)}",
            lambda: (f"{r.choice(self.macros)}({', '.join(self.expr(d) for _ in range(r.randint(0, 3)))})"
                     if self.macros else "none"),
        ])()

    def wrap(self, text):
        return text if text.isidentifier() else f"({text})"

    def slice(self, depth):
        bound = lambda: self.pick("", "", "0", "1", "2", "-1", "-2", "5")
        step = self.pick("", "", ":2", ":-1", ":-2", ":")
        return f"[{bound()}:{bound()}{step}]"

    # --- statements

    def tag(self, text):
        return "{%" + self.pick("", "", "-", "+") + f" {text} " + self.pick("", "", "-", "+") + "%}"

    def text(self):
        return self.pick("", " ", "\n", "x", "  \n", "a\n  ", "\n\n", "<p> ", "\t", "{# c #}", "{#- c -#}\n",
                         "\r\n", "{% raw %} {{ x }} {% endraw %}", "é")

    def output(self, depth):
        return "{{" + self.pick("", "", "-") + f" {self.expr(depth)} " + self.pick("", "", "-") + "}}"

    def body(self, depth):
        return "".join(self.text() + self.statement(depth) for _ in range(self.rng.randint(1, 3))) + self.text()

    def statement(self, depth):
        r = self.rng
        if depth <= 0 or r.random() < 0.3:
            return self.output(r.randint(1, 3))
        return r.choice([self.s_if, self.s_for, self.s_for, self.s_set, self.s_set, self.s_macro, self.s_with,
                         self.s_filter, self.s_set_block, self.s_namespace, self.s_call, self.s_loop_control,
                         self.s_recursive, self.s_misc])(depth - 1)

    def s_if(self, depth):
        out = self.tag(f"if {self.boolean(2)}") + self.body(depth)
        if self.rng.random() < 0.3:
            out += self.tag(f"elif {self.boolean(2)}") + self.body(depth)
        if self.rng.random() < 0.5:
            out += self.tag("else") + self.body(depth)
        return out + self.tag("endif")

    def s_for(self, depth):
        r = self.rng
        name = r.choice(["i", "x", "m", "s"])
        if r.random() < 0.3:
            head = f"for k, v in {self.wrap(self.mapping(1))}.items()"
            names = ["k", "v"]
        else:
            head = f"for {name} in {self.sequence(2)}"
            names = [name]
        if r.random() < 0.25:
            head += f" if {self.boolean(1) if r.random() < 0.5 else names[0] + self.pick(' is string', ' != 1', '')}"
        saved = list(self.locals)
        self.locals += names
        self.in_loop += 1
        inside = self.body(depth)
        if r.random() < 0.6:
            inside += "{{ loop." + self.pick("index", "index0", "revindex", "revindex0", "first", "last", "length",
                                              "previtem", "nextitem", "depth", "cycle('a', 'b')",
                                              "changed(" + names[0] + ")") + " }}"
        self.in_loop -= 1
        self.locals = saved
        out = self.tag(head) + inside
        if r.random() < 0.25:
            out += self.tag("else") + self.body(depth)
        return out + self.tag("endfor")

    def s_set(self, depth):
        name = self.pick("a", "b", "s", "i", "x", "_p")
        value = self.expr(2)
        self.locals.append(name)
        if self.rng.random() < 0.15:
            return self.tag(f"set {name}, y = {self.expr(1)}, {self.expr(1)}")
        return self.tag(f"set {name} = {value}")

    def s_set_block(self, depth):
        name = self.pick("a", "b", "s")
        out = self.tag(f"set {name}{self.pick('', '', ' | upper', ' | trim | length')}") + self.body(depth) + self.tag("endset")
        self.locals.append(name)
        return out

    def s_macro(self, depth):
        name = self.pick("mac", "helper", "_m")
        saved, loop = list(self.locals), self.in_loop
        self.locals += ["p", "q"]
        self.in_loop = 0
        signature = self.pick("p", "p, q", "p, q=1", "p=s, q=p", "", "p, q=none")
        extra = self.pick("", "", "{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller else 'none' }}")
        out = self.tag(f"macro {name}({signature})") + self.body(depth) + extra + self.tag("endmacro")
        self.locals, self.in_loop = saved, loop
        self.macros.append(name)
        return out + "{{ " + f"{name}({self.pick('', '1', 's, n', 'p=2', 'q=l', '1, 2, 3', 'z=1', '*l', '**d')})" + " }}"

    def s_call(self, depth):
        if not self.macros:
            return self.output(2)
        saved, loop = list(self.locals), self.in_loop
        self.in_loop = 0
        out = self.tag(f"call{self.pick('', '(c)', '(c=1)')} {self.rng.choice(self.macros)}({self.pick('', '1', 's, 2')})")
        out += self.body(depth) + self.tag("endcall")
        self.locals, self.in_loop = saved, loop
        return out

    def s_with(self, depth):
        saved = list(self.locals)
        head = self.tag(f"with a = {self.expr(2)}{self.pick('', ', q = ' + self.expr(1))}")
        self.locals.append("a")
        out = head + self.body(depth) + self.tag("endwith")
        self.locals = saved
        return out

    def s_filter(self, depth):
        name = self.pick("upper", "trim", "replace('a', 'b')", "indent(2)", "title", "e", "length", "wordcount", "trim|lower")
        return self.tag(f"filter {name}") + self.body(depth) + self.tag("endfilter")

    def s_namespace(self, depth):
        return (self.tag(f"set ns = namespace(v={self.expr(1)}, l=[])") +
                self.tag(f"for i in {self.sequence(1)}") + self.tag(f"set ns.v = {self.pick('i', 'ns.v', '[ns.v, i]', 'ns.l + [i]')}") +
                self.text() + self.tag("endfor") + "{{ ns.v }}{{ ns." + self.pick("l", "missing", "v") + " }}")

    def s_loop_control(self, depth):
        if not self.in_loop:
            return self.output(2)
        return self.tag(f"if {self.boolean(1)}") + self.tag(self.pick("break", "continue")) + self.tag("endif")

    def s_recursive(self, depth):
        return (self.tag("for item in [[1, [2, [3]]], [], 'ab']" + self.pick("", " if item") + " recursive") + "(" +
                self.tag("if item is iterable and item is not string") + "{{ loop(item) }}" + self.tag("else") +
                "{{ item }}:{{ loop.depth }}" + self.pick("", "{{ loop.last }}") + self.tag("endif") + ")" +
                self.tag("endfor"))

    def s_misc(self, depth):
        saved, loop = list(self.locals), self.in_loop
        kind = self.pick("generation", "autoescape", "print", "block", "joiner", "cycler")
        out = ""
        if kind == "generation":
            self.in_loop = 0
            out = self.tag("generation") + self.body(depth) + self.tag("endgeneration")
        elif kind == "autoescape":
            out = self.tag(f"autoescape {self.pick('true', 'false')}") + self.body(depth) + self.tag("endautoescape")
        elif kind == "print":
            out = self.tag(f"print {self.expr(1)}, {self.expr(1)}")
        elif kind == "block":
            self.in_loop = 0
            self.locals = []
            out = self.tag(f"block b{self.rng.randint(0, 10**6)}{self.pick('', ' scoped')}") + self.body(depth) + self.tag("endblock")
        elif kind == "joiner":
            out = self.tag("set j = joiner(', ')") + "{% for x in l %}{{ j() }}{{ x }}{% endfor %}"
        else:
            out = self.tag("set c = cycler(1, 'b')") + "{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}"
        self.locals, self.in_loop = saved, loop
        return out


class Driver:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        encoding="utf-8", bufsize=1)

    def render(self, template, variables):
        self.process.stdin.write(json.dumps({"template": template, "variables": variables}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the driver died on {template!r}")
        return json.loads(line)


LIMITS = ("not supported", "64 bits", "too long", "more than", "nested", "Exceeds", "too big", "is too large")


def verdict(expected, got):
    """None where both agree; otherwise what differs: "skip", "message" or "output"."""
    kind, text = expected
    if "error" in got and any(word in got["error"] for word in LIMITS):
        return "skip"
    if kind == "text":
        if " at 0x" in text:
            return "skip"
        return None if got.get("text") == text else "output"
    if "error" not in got or (kind == "raised") != ("raised" in got):
        return "output"
    if " at 0x" in text:
        return "skip"
    ours = got["error"].split(": ", 2)[-1]
    theirs = text.split(": ", 1)[-1]
    if theirs.startswith("sequence item") and ours.startswith("sequence item"):
        return None  # jinja2 counts the pieces of text it had made before
    return None if theirs == ours else "message"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--messages", action="store_true")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    driver = Driver(options.driver)
    tally = collections.Counter()
    messages = collections.Counter()
    shown = 0
    end = time.time() + options.seconds
    for index in range(options.count):
        if time.time() > end:
            break
        rng = random.Random(options.seed * 1_000_003 + index)
        generator = Generator(rng)
        template = generator.body(rng.randint(0, 3)) if rng.random() < 0.7 else "{{ " + generator.expr(3) + " }}"
        expected = reference.render(template, VARIABLES)
        got = driver.render(template, VARIABLES)
        result = verdict(expected, got)
        tally[result or ("text" if expected[0] == "text" else "error")] += 1
        if result == "message":
            messages[(expected[1][:110], got["error"].split(": ", 2)[-1][:110])] += 1
        if result == "output" or (result == "message" and options.messages and shown < options.show):
            shown += 1
            if shown <= options.show:
                print(f"--- seed {options.seed} index {index}: {result}\n{template!r}\n  jinja2: {expected}\n  ours:   {got}")
    for (theirs, ours), count in messages.most_common(25 if options.messages else 0):
        print(count, repr(theirs), "|", repr(ours))
    print(dict(tally))
    return 1 if tally["output"] or (options.messages and tally["message"]) else 0


if __name__ == "__main__":
    sys.exit(main())
