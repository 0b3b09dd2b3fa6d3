"""Templates of our own that reach every construct of the language, for make_goldens.py."""

# name: template. Rendered with fuzz.VARIABLES and with the conversations of conversations.json's
# first entry as `messages`.
TEMPLATES = {
    "chatml": """{%- if tools %}
    {{- '<|sys|>\\n' }}
    {%- for tool in tools %}{{ "\\n" }}{{ tool | tojson }}{% endfor %}
{%- endif %}
{%- for message in messages %}
    {%- if loop.first and message.role != 'system' %}{{ '<|sys|>default' }}{% endif %}
    {{- '<|' + message.role + '|>' }}
    {%- if message.content is string %}{{ message.content | trim }}
    {%- elif message.content is iterable %}
        {%- for part in message.content %}{% if part.type == 'text' %}{{ part.text }}{% else %}[{{ part.type }}]{% endif %}{% endfor %}
    {%- endif %}
    {%- for call in message.tool_calls or [] %}
        {{- '\\n<call>' ~ call.function.name ~ '(' ~ (call.function.arguments | tojson(indent=2)) ~ ')' }}
    {%- endfor %}
{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}""",
    "whitespace": "a \n  {% if true %} \n b \n  {% endif %} \n c {%- if true -%} \n d \n {%- endif +%}\n e\n"
                  "  {%+ if true %}f{% endif %}\n\t{# note #}\n  {#- note -#}  g\n {{ 1 }} \n{{- 2 -}} \n h \n\n",
    "raw": "x {% raw %} {{ not }} {% if %} {% endraw %} y\n  {%- raw -%}  z {%- endraw -%}  w {% raw %}\n{% endraw %}\nq",
    "crlf": "a\r\nb\rc\n{% if t %}\r\nd{% endif %}\r\n",
    "last newline": "text\n\n",
    "scope of a loop": "{% set x = 1 %}{% for i in l %}{{ x }}{% set x = i %}{{ x }};{% endfor %}{{ x }}",
    "set after use": "{% for i in [1] %}[{{ n }}]{% endfor %}{% set n = 3 %}{{ n }}",
    "set in a branch": "{% if fa %}{% set n = 'set' %}{% endif %}{{ n }}{% if t %}{% set n = 'two' %}{% endif %}{{ n }}",
    "macro sees later set": "{% macro m() %}[{{ later }}]{% endmacro %}{{ m() }}{% set later = 2 %}{{ m() }}",
    "namespace": "{% set ns = namespace(a=1, found=false) %}{% for i in l %}{% set ns.a = ns.a + i %}{% if i == 1 %}{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.a }} {{ ns.found }} {{ ns }}",
    "macros": "{% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{{ varargs }}{{ kwargs }}{% endmacro %}"
              "{{ m(1) }}|{{ m(1, c=5) }}|{{ m(1, 2, 3, 4, 5, z=6) }}|{{ m() }}|{{ m(*[1, 2], **{'q': 3}) }}{{ m }}{{ m.arguments }}{{ m.name }}",
    "caller": "{% macro box(t) %}<{{ t }}>{{ caller(t, 'y') }}</{{ t }}>{% endmacro %}{% call(a, b='z') box('p') %}{{ a }}{{ b }}{{ n }}{% endcall %}",
    "no caller": "{% macro m() %}{{ caller is defined }}{{ caller() if caller }}{% endmacro %}{{ m() }}{% call m() %}in{% endcall %}",
    "recursive": "{% for x in [{'n': 1, 'c': [{'n': 2, 'c': []}, {'n': 3}]}, {'n': 4}] recursive %}{{ loop.depth }}{{ loop.depth0 }}:{{ x.n }}{% if x.c %}[{{ loop(x.c) }}]{% endif %}{{ ', ' if not loop.last }}{% else %}none{% endfor %}",
    "loop": "{% for x in 'abc' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('o', 'e') }}{{ loop.changed(x == 'b') }}{{ loop }}\n{% endfor %}",
    "loop over a generator": "{% for x in l|select('gt', 1) %}{{ x }}{{ loop.last }}{{ loop.length }}{{ loop.nextitem is defined }} {% endfor %}",
    "loop with a test": "{% for k, v in d.items() if v is not none %}{{ loop.index }}/{{ loop.length }} {{ k }}={{ v }} {{ loop.previtem }}{% else %}-{% endfor %}{% for x in l if x > 9 %}{% else %}empty{% endfor %}",
    "break and continue": "{% for x in range(9) %}{% if x == 2 %}{% continue %}{% elif x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}{% for x in l %}{% break %}{% else %}else after break{% endfor %}",
    "set block": "{% set a %}one {{ n }}{% endset %}{{ a|upper }}{% set b | trim | replace('o', '0') %}  foo {% endset %}[{{ b }}]",
    "filter block": "{% filter upper|replace('A', 'b') %}a {{ s }}{% endfilter %}",
    "with": "{% with a = 1, b = n %}{{ a }}{{ b }}{% set n = 0 %}{{ n }}{% endwith %}{{ n }}{{ a }}",
    "generation": "{% generation %}{% set gen = 1 %}x{{ n }}{% endgeneration %}{{ gen is defined }}",
    "blocks": "{% set v = 5 %}{% block one %}[{{ v }}{{ n }}]{% endblock %}{% for i in l %}{% block two scoped %}{{ i }}{% endblock %}{% endfor %}{{ self.one() }}{% block three %}{{ super is defined }}{% endblock three %}",
    "autoescape": "{% autoescape true %}{{ h }}{{ h|safe }}{{ '<' ~ h|safe }}{{ ['<', h|safe]|join('&') }}{% set x %}<{{ h }}{% endset %}{{ x }}{% endautoescape %}{{ h }}",
    "markup": "{{ ('<b>'|safe) + '<i>' }}{{ '<i>' + ('<b>'|safe) }}{{ '<%s>'|safe % '<' }}{{ ['a'|e] }}{{ ('<{}>'|safe).format('<') }}{{ ('&'|safe).join(['<', '<'|safe]) }}{{ ('<'|e) * 2 }}{{ ('a<b'|safe).replace('a', '<') }}",
    "reprs": "{{ [1, 1.0, 'a', \"it's\", '\"', none, true, {'k': (1,)}, {}, (), u] }}{{ ['\\n\\t\\\\\\x00\\x7f', un] }}{{ {1: 'i', none: 0, 2.5: [u]} }}{{ range(3) }}{{ d.keys() }}{{ d.values() }}{{ d.items() }}",
    "floats": "{{ [1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 0.1, 1/3, 2.5, 1e22, 1e308 * 10, -1e308 * 10, -0.0, 5e-324, 1.7976931348623157e308, 100.0, 1e100] }}",
    "integers": "{{ [7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3, 2 ** 10, 2 ** -1, -2 ** 2, 2 ** 3 ** 2, 7 / 2, 0x1F, 0b101, 0o17, 1_000, true + true, 7.5 // 2, -7.5 % 2, 9007199254740993] }}",
    "precedence": "{{ 'x' + 1 ~ 2 * 3 }}{{ not 1 == 2 }}{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ -1|abs }}{{ 'a' in 'abc' and 'd' not in 'abc' }}{{ 1 if 0 else 2 if 0 else 3 }}{{ (1, 2) + (3,) }}{{ 1 or u.x }}{{ [] or 0 or 'z' }}",
    "slices": "{% set q = 'a世b🎉c' %}{{ q[1:3] }}{{ q[::-1] }}{{ q[-2:] }}{{ q[3] }}{{ q[-1] }}{{ l[::-1] }}{{ l[:2] }}{{ l[5:] }}{{ (1, 2, 3)[::2] }}{{ range(10)[2:8:3] }}{{ l[-1] }}{{ q[none:2] }}{{ q[9] is undefined }}",
    "strings": "{{ un.upper() }}{{ un.lower() }}{{ un.title() }}{{ un.capitalize() }}{{ un.swapcase() }}{{ un.casefold() }}{{ un|length }}{{ 'ΑΣΣ ΑΣ. Σ'.lower() }}{{ \"they're bill's\".title() }}{{ 'ǆ ﬁ'.title() }}",
    "splits": "{{ '  a b  c '.split() }}{{ 'a,b,,c'.split(',') }}{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ ' a b '.split(none, 1) }}{{ 'a\\nb\\r\\nc\\x0bd'.splitlines() }}{{ 'a\\nb'.splitlines(true) }}{{ 'k=v=w'.partition('=') }}{{ 'k=v=w'.rpartition('=') }}{{ ''.split() }}{{ ''.split(',') }}",
    "strips": "[{{ w.strip() }}][{{ w.lstrip() }}][{{ w.rstrip() }}][{{ 'xxaxx'.strip('x') }}][{{ 'éaé'.strip('é') }}][{{ '<think>a'.removeprefix('<think>') }}][{{ 'a.b'.removesuffix('.b') }}]",
    "finds": "{{ [s.find('o'), s.rfind('o'), s.find('zz'), un.find('世'), s.count('l'), ''.count(''), s.index('W'), s.startswith('Hell'), s.startswith(('x', 'H')), s.endswith('ld'), s.startswith('e', 1), s.find('o', 5, -1)] }}",
    "pads": "[{{ 'ab'.center(5) }}][{{ 'abc'.center(6) }}][{{ 'ab'.ljust(4, '.') }}][{{ 'é'.rjust(3) }}][{{ '-5'.zfill(4) }}][{{ 'a\\tb'.expandtabs(4) }}][{{ 'x'|center(6) }}]",
    "is methods": "{{ ['A1'.isalnum(), 'a'.isalpha(), '٣'.isdigit(), '½'.isnumeric(), '½'.isdecimal(), ' '.isspace(), 'Ab'.istitle(), 'AB'.isupper(), 'ab1'.islower(), 'a_b'.isidentifier(), 'é'.isascii(), '\\x00'.isprintable(), ''.isalpha()] }}",
    "json": "{{ nest|tojson }}{{ nest|tojson(indent=4) }}{{ {'b': 1, 'a': [1.0, 1e-07, 9007199254740993, true, none, {}, []]}|tojson(sort_keys=true) }}{{ '<é\\u2028\"\\\\\\n>&\\'\\x7f'|tojson }}{{ 'é🎉'|tojson(ensure_ascii=true) }}{{ l|tojson(separators=(',', ':')) }}{{ {1: 2, none: 3, true: 4, 2.5: 5}|tojson }}{{ (1, 2)|tojson }}{{ l|tojson(indent=0) }}{{ [[], {}]|tojson(indent='--') }}",
    "percent": "{{ '%s %r %d %5.2f|%-5s|%05d|%x|%X|%o|%e|%g|%c|%%' % ('a', 'b', 3.9, 2.345, 'x', -42, 255, 255, 8, 12345.678, 1e-5, 'z') }}{{ '%(a)s-%(b)03d' % {'a': 1, 'b': 2} }}{{ '%s'|format('x') }}{{ '%*d' % (5, 3) }}{{ '%+d % d' % (1, 2) }}",
    "brace": "{{ '{} {}'.format(1, 'b') }}{{ '{1}{0}'.format('a', 'b') }}{{ '{x.k.x[0]} {x[get]}'.format(x=nest) }}{{ '{:>5}|{:<5}|{:^5}|{:*^5}'.format(1, 2, 3, 'd') }}{{ '{:.2f} {:,} {:05d} {:+} {:x} {:#o} {:%} {:e} {:g} {:b}'.format(1.005, 1234567, 42, 5, 255, 8, 0.25, 12345.6, 1e20, 5) }}{{ '{{}}{!r:>5}'.format('x') }}{{ '{:{}}'.format('a', 4) }}{{ '{:.3}'.format('abcdef') }}{{ '{:.3} {:.10} {:.1}'.format(1234.5, 0.1, 12.0) }}",
    "number filters": "{{ [' 42 '|int, '0x1A'|int(base=16), 'x'|int, 'x'|int(-1), '3.9'|int, 3.9|int, none|int, '1_000'|int, '1e3'|float, 'inf'|float, 'x'|float(0.5), 2.5|round, 3.5|round, 2.675|round(2), 1234|round(-2), 1.1|round(0, 'ceil'), 42.55|round(1, 'floor'), -3|abs, 1|filesizeformat, 1500|filesizeformat, 1500000|filesizeformat(true)] }}",
    "sequence filters": "{{ ls|sort }}{{ ls|sort(case_sensitive=true) }}{{ l|sort(reverse=true) }}{{ ls|unique|list }}{{ l|sum }}{{ l|min }}{{ ls|max }}{{ l|first }}{{ l|last }}{{ le|first is undefined }}{{ l|reverse|list }}{{ s|reverse }}{{ l|join('-') }}{{ msgs|join(',', attribute='role') }}{{ [1, 2, 3, 4, 5]|batch(2, 'x')|list }}{{ [1, 2, 3, 4, 5]|slice(3, 'x')|list }}{{ d|dictsort }}{{ d|items|list }}",
    "select filters": "{{ msgs|selectattr('role', 'in', ['user', 'tool'])|map(attribute='role')|list }}{{ msgs|rejectattr('content')|list|length }}{{ mix|select('string')|list }}{{ mix|reject('none')|map('string')|join('/') }}{{ msgs|map(attribute='tool_calls', default='-')|list }}{{ ls|map('upper')|list }}{{ ['a b', 'c']|map('replace', ' ', '_')|list }}{{ msgs|map(attribute='content.0.text', default='-')|list }}",
    "groupby": "{% for g in msgs|groupby('n', default=9) %}{{ g.grouper }}:{{ g.list|length }}{{ g[0] }}|{% endfor %}{% for role, items in msgs|groupby('role') %}{{ role }}{{ items|length }};{% endfor %}",
    "text filters": "{{ 'a-b (c) d_e'|title }}{{ h|striptags }}{{ 'a &lt;b&gt; &amp; &copy2 &#233;&#x4E16; &unknown; &notit; &'|striptags }}{{ h|e }}{{ s|truncate(8) }}{{ s|truncate(8, true, '…', 0) }}{{ 'one two three four'|wordwrap(9) }}{{ 'foo-bar-baz qux'|wordwrap(6) }}{{ s|wordcount }}{{ 'a\\n\\nb'|indent }}|{{ 'a\\nb'|indent(2, true) }}|{{ 'a\\n\\nb'|indent('> ', blank=true) }}{{ 'é/ a?'|urlencode }}{{ {'q': 'a b', 'z': 1}|urlencode }}{{ {'id': 'x', 'no': none, 'c': '\"'}|xmlattr }}{{ 'aXbX'|replace('X', '-', 1) }}{{ none|default('d') }}{{ none|default('d', true) }}{{ 5|string + 'x' }}",
    "tests": "{{ [n is number, n is integer, f is float, t is boolean, t is integer, s is string, l is sequence, d is sequence, d is mapping, l is mapping, u is defined, u is undefined, no is none, 4 is even, 4 is odd, 9 is divisibleby 3, 'a' is lower, 'A' is upper, l is iterable, n is iterable, 1 is in l, 'x' is in 'xyz', n is sameas n, t is sameas true, n is eq 7, n is gt 3, n is ne 7, range is callable, 'upper' is filter, 'odd' is test, u is iterable, u is sequence, s is escaped, t is true, fa is false, n is not none] }}",
    "attributes": "{{ nest.items is callable }}{{ nest.get('get') }}{{ nest['items'] is callable }}{{ nest.list }}{{ nest.nope is undefined }}{{ nest['k'].x|length }}{{ l.0 }}{{ d['a'] }}{{ nest['1'] }}{{ {1: 'one', true: 'yes'}[1] }}{{ {'a': {'b': [{'c': 7}]}}.a.b[0].c }}{{ d.get('zz', 'dflt') }}{{ d|attr('a') is undefined }}",
    "undefined": "[{{ u }}]{{ u is defined }}{% for x in u %}x{% endfor %}{{ u|length }}{{ u|default('d') }}{{ u == u2 }}{{ u == none }}{{ u ~ 'x' }}{{ [u] }}{{ 'a' in u }}{{ not u }}{{ u|list }}{{ (1 if fa) }}{{ (1 if fa) is undefined }}{{ u|join }}{{ u|upper }}",
    "globals": "{{ range(3)|list }}{{ range(5, 0, -2)|list }}{{ dict(a=1, **{'b': 2}) }}{{ dict([('x', 1)]) }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set j = joiner('|') %}{{ j() }}x{{ j() }}y{{ strftime_now('%Y-%m-%d %H:%M:%S %A %d %b %j %%') }}",
    "string literals": "{{ 'a' 'b' \"c\" }}{{ '\\u00e9\\x41\\101\\q\\'' }}{{ 'line\\\nnext' }}{{ '\\\\n' }}{{ '\\é' }}{{ \"it's\" }}",
    "comparisons": "{{ [1 == 1.0, true == 1, '1' == 1, [1, 2] < [1, 3], (1,) == [1], 'a' < 'b', none == none, {'a': 1} == {'a': 1.0}, 2 ** 53 == 9007199254740993.0, 1 in [true], none in [none], 'a' in {'a': 1}] }}",
    "dict order": "{% set m = {'z': 1, 'a': 2, 'z': 3} %}{{ m }}{% for k in m %}{{ k }}{% endfor %}{{ m|length }}{{ m.keys()|list }}{{ 'z' in m.keys() }}",
}

# name: template that fails.
ERRORS = {
    "raise": "{{ raise_exception('Roles must alternate: ' ~ s) }}",
    "attribute of undefined": "{{ u.x }}",
    "item of undefined": "a\n{{ u['x'] }}",
    "attribute of a missing key": "{{ d.zz.yy }}",
    "call of undefined": "{{ nope(1) }}",
    "add undefined": "{{ 'a' + u }}",
    "compare undefined": "{{ u < 1 }}",
    "add None": "{{ 'a' + none }}",
    "add list": "{{ 'a' + l }}",
    "add numbers and text": "{{ 1 + 'a' }}",
    "order of kinds": "{{ 1 < 'a' }}",
    "divide by zero": "{{ 1 / 0 }}",
    "modulo by zero": "{{ 1 % 0 }}",
    "iterate a number": "{% for x in 5 %}{% endfor %}",
    "length of a number": "{{ 5|length }}",
    "append": "{% set _ = l.append(1) %}",
    "pop": "{{ d.pop('a') }}",
    "update": "{{ d.update({'x': 1}) }}",
    "private namespace": "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "set on a dict": "{% set d.x = 1 %}",
    "unknown filter": "{{ 1|nope }}",
    "unknown filter in a condition": "{% if t %}{{ 1|nope }}{% endif %}",
    "unknown test": "{{ 1 is nope }}",
    "unknown tag": "a\n  {% nope %}",
    "unclosed": "{% if t %}x",
    "wrong end": "{% if t %}{% endfor %}",
    "unclosed print": "{{ 1 ",
    "unclosed comment": "{# x",
    "unclosed raw": "{% raw %}x",
    "empty print": "{{ }}",
    "bad bracket": "{{ (1] }}",
    "chained tests": "{{ 1 is string is string }}",
    "assign to a literal": "{% set 1 = 2 %}",
    "unpack": "{% for a, b in [[1]] %}{% endfor %}",
    "macro arguments": "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "macro keyword": "{% macro m(a) %}{% endmacro %}{{ m(z=2) }}",
    "json of undefined": "{{ u|tojson }}",
    "json of a generator": "{{ l|select|tojson }}",
    "int overflow of a filter": "{{ (1e400)|int }}",
    "range": "{{ range(100001) }}",
    "break outside": "{% break %}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "string index": "{{ s.index('zz') }}",
    "include": "{% include 'x' %}",
    "loop not recursive": "{% for x in l %}{{ loop(l) }}{% endfor %}",
}
