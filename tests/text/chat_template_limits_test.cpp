// A template is a stranger's code: what it cannot reach, how much it may use, and what is said.
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "base/strings.h"
#include "text/chat_template.h"
#include "text/template_runtime.h"

// GCC and clang say it in different ways.
#if defined(__SANITIZE_ADDRESS__)
#define CRANE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CRANE_ADDRESS_SANITIZER
#endif
#endif

namespace crane {
namespace {

std::string error_of(const std::string& source, const JsonObject& variables = {}) {
  try {
    std::string text = ChatTemplate(source).render(variables);
    return "rendered: " + text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
}

// Of this thread, so that a busy machine does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t pages = 0;
  file >> pages >> pages;
  return pages * 4096;
}

// J1: ways out of a sandbox that worked on somebody's engine. All give an error or nothing.
TEST(ChatTemplateSandbox, EscapesReachNothing) {
  const char* const escapes[] = {
      "''.__class__.__mro__[1].__subclasses__()",
      "().__class__.__bases__[0].__subclasses__()[59].__init__.__globals__",
      "[].__class__.__base__.__subclasses__()",
      "{}.__class__.__mro__[-1].__subclasses__()",
      "''['__class__']['__mro__']",
      "''|attr('__class__')|attr('__mro__')",
      "''|attr('_' ~ '_class_' ~ '_')|attr('__base__')",
      "''.__class__.mro()",
      "range.__globals__['os'].system('id')",
      "cycler.__init__.__globals__.os.popen('id').read()",
      "joiner.__init__.__globals__.os.popen('id').read()",
      "namespace.__init__.__globals__.os.popen('id').read()",
      "lipsum.__globals__['os'].popen('id').read()",
      "lipsum.__globals__.__builtins__.eval('1')",
      "self.__init__.__globals__.__builtins__.__import__('os')",
      "self._TemplateReference__context.cycler.__init__.__globals__.os",
      "raise_exception.__globals__['sys'].modules",
      "strftime_now.__closure__[0].cell_contents",
      "strftime_now.__func__.__globals__",
      "dict.__init__.__globals__",
      "dict.mro()",
      "'{0.__class__.__mro__}'.format('').__len__()",
      "'{0.__class__.__init__.__globals__[os]}'.format(range)",
      "'%(x)s'.__mod__({'x': 1})",
      "''.format.__self__.__class__.__base__.x",
      "''.format_map({'a': 1}.__class__)",
      "messages.append(1)",
      "x.__setattr__('y', 1)",
      "namespace(__class__=1)",
      "namespace(_x=1)",
      "config.items()",
      "request.application.__globals__",
      "url_for.__globals__",
      "get_flashed_messages.__globals__",
      "open('/etc/passwd').read()",
      "eval('1+1')",
      "__import__('os').system('id')",
      "exec('1')",
      "globals()",
      "getattr('', 'x')",
      "''.join.__call__.__self__.y",
      "loop.__init__.z",
      "(1).__class__.__base__.x",
      "(1.5).__class__.fromhex('1').x",
      "''.encode('utf8')",
      "''.maketrans('a', 'b')",
      "caller.__globals__",
  };
  for (const char* escape : escapes) {
    std::string answer = error_of(cat("{{ ", escape, " }}"));
    EXPECT_EQ(answer.substr(0, 20), "chat template: line ") << escape << ": " << answer;
  }
  for (const char* harmless : {"''.__class__", "[].__class__", "range.__globals__",
                               "''|attr('__class__')", "''['__class__']", "{}.pop"})
    EXPECT_EQ(error_of(cat("{{ ", harmless, " }}")), "rendered: ") << harmless;
}

// J1: nobody adds a function without this list being changed.
TEST(ChatTemplateSandbox, CallablesAreFrozen) {
  auto joined = [](std::vector<std::string_view> names) {
    std::sort(names.begin(), names.end());
    std::string out;
    for (std::string_view name : names) out += cat(out.empty() ? "" : " ", name);
    return out;
  };
  EXPECT_EQ(joined(jinja::global_names()),
            "cycler dict joiner lipsum namespace raise_exception range strftime_now");
  EXPECT_EQ(joined(jinja::filter_names()),
            "abs attr batch capitalize center count d default dictsort e escape filesizeformat "
            "first float forceescape format groupby indent int items join last length list lower "
            "map max min reject rejectattr replace reverse round safe select selectattr slice "
            "sort string striptags sum title tojson trim truncate unique upper urlencode "
            "wordcount wordwrap xmlattr");
  EXPECT_EQ(joined(jinja::test_names()),
            "!= < <= == > >= boolean callable defined divisibleby eq equalto escaped even false "
            "filter float ge greaterthan gt in integer iterable le lessthan lower lt mapping ne "
            "none number odd sameas sequence string test true undefined upper");
}

// J2: each input ends in an error, soon and without filling the memory.
TEST(ChatTemplateBudgets, StopGreedyTemplates) {
  const char* const greedy[] = {
      "{{ range(1000000000) }}",
      "{{ range(10**9)|list }}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% for a in range(99999) %}{% for b in range(99999) %}xxxxxxxxxxxxxxxx{% endfor %}{% endfor "
      "%}",
      "{{ 'a' * 1000000000 }}",
      "{{ [1] * 1000000000 }}",
      "{{ 'a' * 10**17 }}",
      "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% "
      "endfor %}",
      "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s.replace('', "
      "ns.s) %}{% endfor %}",
      "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = [ns.s, "
      "ns.s]|join(ns.s) %}{% endfor %}",
      "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s.join(ns.s) %}{% "
      "endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% "
      "endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(500) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor %}{{ ns.l }}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(150) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor %}{{ ns.l }}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(150) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor %}{{ ns.l|tojson }}",
      "{% set ns = namespace(l=[1], m=[1]) %}{% for i in range(150) %}{% set ns.l = [ns.l, ns.l] "
      "%}{% set ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}",
      "{% set ns = namespace(l=(1,)) %}{% for i in range(150) %}{% set ns.l = (ns.l, ns.l) %}{% "
      "endfor %}{{ {ns.l: 1}[ns.l] == {ns.l: 2} }}{{ ns.l }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
      "{% macro m(n) %}{% if n < 60 %}{{ m(n + 1) }}{{ m(n + 1) }}{% endif %}{% endmacro %}{{ m(0) "
      "}}",
      "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}",
      "{{ 'x'.center(1000000000) }}",
      "{{ 'x'|center(1000000000) }}",
      "{{ '%1000000000d' % 1 }}",
      "{{ '%.1000000000f' % 1 }}",
      "{{ '{:1000000000}'.format(1) }}",
      "{{ '{:.1000000000f}'.format(1.0) }}",
      "{{ 'x'.zfill(1000000000) }}",
      "{{ '\\t'.expandtabs(1000000000) }}",
      "{{ 'x'|indent(1000000000) }}",
      "{{ [1]|batch(1000000000, 0)|list }}",
      "{{ [1]|slice(1000000000)|list }}",
      "{{ [[[1]]]|tojson(indent=1000000000) }}",
      "{% set s = 'a' * 9999999 %}{% for i in range(99999) %}{% set x = s ~ i %}{% endfor %}",
      "{% set s = 'a' * 9999999 %}{% for i in range(99999) %}{% set x = s.find('b') %}{% endfor %}",
      "{% set s = 'a' * 5000000 %}{{ s.rsplit('a' * 2500000 ~ 'b', 3) }}{{ s.rfind('a' * 99 ~ 'b') "
      "}}{% for i in range(9999) %}{{ s.replace('a', 'b') }}{% endfor %}",
      "{% set s = 'é' * 900000 %}{% for i in range(99999) %}{{ s[450000] }}{% endfor %}",
      "{% set ns = namespace() %}{% set ns.n = ns %}{{ ns }}",
      "{% set ns = namespace(g=[1]) %}{% for i in range(99999) %}{% set ns.g = ns.g|map('string') "
      "%}{% endfor %}{{ ns.g|list }}",
      "{% set ns = namespace(g=1) %}{% for i in range(99999) %}{% set ns.g = namespace(g=ns.g) "
      "%}{% endfor %}{{ ns }}",
      "{{ range(99999)|map('string')|map('list')|list|string|list|string|list }}",
      "{{ 2 ** 64 }}",
      "{{ 9223372036854775807 + 1 }}",
      "{{ 10 ** 10 ** 10 }}",
      "{% macro a() %}{{ caller() }}{% endmacro %}{% macro b() %}{% call a() %}{{ b() }}{% endcall "
      "%}{% endmacro %}{{ b() }}",
      "{% block x %}{{ self.x() }}{% endblock %}",
      "{{ ('a ' * 2000000)|wordwrap(1) }}{{ ('ab-' * 1000000)|wordwrap(2) }}",
  };
  for (const char* source : greedy) {
    size_t before = resident_bytes();
    double start = processor_seconds();
    std::string answer = error_of(source);
    double seconds = processor_seconds() - start;
    EXPECT_EQ(answer.substr(0, 20), "chat template: line ") << source << ": " << answer;
#if !defined(CRANE_ADDRESS_SANITIZER)
    if (std::getenv("CRANE_PRINT_TIMES") != nullptr) std::printf("%.2f %s\n", seconds, source);
    EXPECT_LT(seconds, 1.0) << source;
    EXPECT_LT(static_cast<double>(resident_bytes()) - static_cast<double>(before), 64e6) << source;
#else
    static_cast<void>(before);
    EXPECT_LT(seconds, 60.0) << source;
#endif
  }
}

TEST(ChatTemplateBudgets, LongConversationsFit) {
  JsonArray messages;
  for (int i = 0; i < 2000; ++i) {
    JsonObject message;
    message.push_back("role", i % 2 == 0 ? "user" : "assistant");
    message.push_back("content", std::string(1000, 'x'));
    messages.push_back(std::move(message));
  }
  JsonObject variables;
  variables.push_back("messages", std::move(messages));
  std::string text =
      ChatTemplate(
          "{% for m in messages %}<|{{ m.role }}|>{{ m.content.split('</think>')[-1]|trim "
          "}}\n{% endfor %}")
          .render(variables);
  EXPECT_GT(text.size(), 2000000u);
}

// Runs on a thread with the 256 KB stack that the engine's limits are made for.
void on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
#if defined(CRANE_ADDRESS_SANITIZER)
  pthread_attr_setstacksize(&attributes, 2048 * 1024);
#else
  pthread_attr_setstacksize(&attributes, 256 * 1024);
#endif
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(
      pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&work))),
      0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string times(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// J6
TEST(ChatTemplateBudgets, DeepSourcesAreRefusedOnASmallStack) {
  const std::pair<std::string, std::string> deep[] = {{"{{ ", "("},
                                                      {"{{ ", "["},
                                                      {"{{ ", "{1:"},
                                                      {"{{ ", "f("},
                                                      {"{{ ", "not "},
                                                      {"{{ ", "-"},
                                                      {"{{ ", "a["},
                                                      {"{{ x", "|a(1)"},
                                                      {"{{ x", ".a"},
                                                      {"{{ 1", "+1"},
                                                      {"{{ 1", " if 1 else 1"},
                                                      {"{{ 1", " and 1"},
                                                      {"{{ x", "|trim"},
                                                      {"{{ x", "[0]"},
                                                      {"", "{% if a %}"},
                                                      {"", "{% for a in b %}"},
                                                      {"", "{% macro m() %}"},
                                                      {"", "{% set x %}"},
                                                      {"", "{% filter upper %}"},
                                                      {"", "{% with %}"},
                                                      {"", "{% call x() %}"},
                                                      {"", "{% generation %}"},
                                                      {"{% set ", "("}};
  on_small_stack([&] {
    for (const auto& [head, part] : deep) {
      std::string answer = error_of(head + times(part, 100000));
      EXPECT_EQ(answer.substr(0, 20), "chat template: line ") << part << ": " << answer;
    }
  });
}

TEST(ChatTemplateBudgets, NestingBelowTheLimitWorks) {
  std::string open = times("(", 100);
  std::string close = times(")", 100);
  EXPECT_EQ(ChatTemplate("{{ " + open + "1" + close + " }}").render({}), "1");
  EXPECT_EQ(ChatTemplate("{{ 1" + times("+1", 150) + " }}").render({}), "151");
  EXPECT_EQ(ChatTemplate(times("{% if 1 %}", 100) + "x" + times("{% endif %}", 100)).render({}),
            "x");
  std::string macro =
      "{% macro m(n) %}{{ n }}{% if n < 60 %}{{ m(n + 1) }}{% endif %}{% endmacro %}{{ m(1) }}";
  EXPECT_GT(ChatTemplate(macro).render({}).size(), 100u);
}

// J7
TEST(ChatTemplateErrors, RaiseExceptionKeepsItsText) {
  ChatTemplate chat("\n  {{ raise_exception('Only user & <assistant>: é') }}");
  try {
    chat.render({});
    FAIL() << "did not throw";
  } catch (const ChatTemplateException& error) {
    EXPECT_EQ(error.text(), "Only user & <assistant>: é");
    EXPECT_STREQ(error.what(), "chat template: line 2, column 21: Only user & <assistant>: é");
  }
}

// J8
TEST(ChatTemplateErrors, NameLineAndColumn) {
  const std::pair<const char*, const char*> rows[] = {
      {"a\n {{ x|nope }}", "line 2, column 7: No filter named 'nope'."},
      {"{{ x is nope }}", "line 1, column 9: No test named 'nope'."},
      {"é {% nope %}", "line 1, column 6: Encountered unknown tag 'nope'."},
      {"{{ x|urlize }}", "line 1, column 6: the filter 'urlize' is not supported"},
      {"{{ x|pprint }}", "line 1, column 6: the filter 'pprint' is not supported"},
      {"{{ x|random }}", "line 1, column 6: the filter 'random' is not supported"},
      {"{{ nope() }}", "line 1, column 8: 'nope' is undefined"},
      {"x\r\ny {{ 1 + }}", "line 2, column 10: unexpected 'end of print statement'"},
      {"{% if a %}", "Unexpected end of template."},
      {"{{ 'abc }}", "line 1, column 4: unexpected char"},
      {"{{ a ? b }}", "line 1, column 6: unexpected char '?'"},
      {"{% macro m(a=1, b) %}{% endmacro %}", "non-default argument follows default argument"},
      {"{{ f(a=1, 2) }}", "invalid syntax for function call expression"},
      {"{% set loop = 1 %}{% for x in y %}{% set loop = 2 %}{% endfor %}",
       "Can't assign to special loop variable in for-loop target"},
      {"{{ 99999999999999999999 }}", "is outside of 64 bits"},
      {"{{ '\\ud800' }}", "surrogate"},
  };
  for (const auto& [source, wanted] : rows) {
    std::string answer = error_of(source);
    EXPECT_NE(answer.find(wanted), std::string::npos) << source << ": " << answer;
    EXPECT_EQ(answer.substr(0, 20), "chat template: line ") << answer;
  }
}

TEST(ChatTemplateErrors, IllFormedTextIsRefusedOrReplaced) {
  EXPECT_THROW(ChatTemplate("a\xff"), Error);
  JsonObject variables;
  variables.push_back("x", "a\xff\xc3");
  EXPECT_EQ(ChatTemplate("{{ x }}{{ x|length }}{{ x[::-1] }}").render(variables),
            "a\ufffd\ufffd3\ufffd\ufffda");
}

}  // namespace
}  // namespace crane
