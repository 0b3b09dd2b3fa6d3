#include "app/program.h"

#include <algorithm>
#include <exception>
#include <new>

#include "app/interrupts.h"
#include "app/model_path.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "app/version.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"

namespace crane {
namespace {

struct VerbRow {
  const char* name;
  std::vector<std::string> aliases;
  Verb verb;
  int (*function)(const Invocation&);
  const char* usage;
  const char* help;
};

std::vector<VerbRow> verb_table() {
  return {
      {"run",
       {"chat", "generate"},
       kRun,
       run_verb,
       "MODEL [PROMPT]",
       "chat, or one answer to a prompt"},
      {"score",
       {},
       kScore,
       score_verb,
       "MODEL (--ids 1,2,3 | --text T | --file F)",
       "log-probs of given tokens"},
      {"perplexity",
       {},
       kPerplexity,
       perplexity_verb,
       "MODEL --file F",
       "perplexity of a text, in llama.cpp's chunking"},
      {"tokenize",
       {},
       kTokenize,
       tokenize_verb,
       "MODEL (--text T | --file F | --lines-json F | --decode --ids 1,2,3)",
       "text to ids, and back"},
      {"template",
       {},
       kTemplate,
       template_verb,
       "(MODEL | --template F) --input conv.json",
       "a conversation through a chat template"},
      {"show", {"inspect"}, kShow, show_verb, "MODEL", "what a model is"},
      {"bench", {}, kBench, bench_verb, "MODEL", "speed, and its share of the machine's peak"},
  };
}

// Verbs that are planned; naming them gets a clear answer.
constexpr const char* kUnbuiltVerbs[] = {
    "serve",  "pull",     "list",  "ls",         "ps",         "stop",    "rm",  "cp",
    "create", "cache",    "login", "doctor",     "tune",       "embed",   "ocr", "music",
    "vad",    "quantize", "speak", "completion", "transcribe", "features"};

std::string built_verbs() {
  std::vector<std::string> names;
  for (const VerbRow& row : verb_table()) names.push_back(row.name);
  return join(names, ", ");
}

std::string help_text() {
  std::string text =
      "crane runs language models on this machine.\n\nUsage: crane VERB MODEL [FLAGS]\n\n";
  for (const VerbRow& row : verb_table())
    text += cat("  ", row.name, std::string(12 - std::string_view(row.name).size(), ' '), row.help,
                row.aliases.empty() ? "" : cat(" (also ", join(row.aliases, ", "), ")"), "\n");
  text +=
      "\nMODEL is a .gguf file, a folder with config.json and safetensors, or a name of "
      "--list-models.\n"
      "crane VERB --help lists the flags of a verb; each flag --some-flag has CRANE_SOME_FLAG.\n\n"
      "  --version        version, commit, compiler, instruction set\n"
      "  --list-devices   devices and instruction sets of this machine\n"
      "  --list-models    names in the models folder\n";
  return text;
}

int print(const std::string& text) {
  write_answer(text);
  return 0;
}

std::string list_devices() {
  return cat("cpu: instruction sets ", join(available_isa_levels(), ", "), "\n");
}

std::string list_models(const Environment& environment) {
  std::string text;
  for (const std::string& name : models_in_folder(models_folder(environment))) text += name + "\n";
  return text;
}

// The answer to a call without a verb, or nothing.
std::optional<std::string> information(const std::string& word, const Environment& environment) {
  if (word == "--help" || word == "-h" || word == "help") return help_text();
  if (word == "--version" || word == "version") return version_line() + "\n";
  if (word == "--list-devices") return list_devices();
  if (word == "--list-models") return list_models(environment);
  return std::nullopt;
}

[[noreturn]] void refuse_verb(const std::string& word) {
  bool unbuilt = std::find(std::begin(kUnbuiltVerbs), std::end(kUnbuiltVerbs), word) !=
                 std::end(kUnbuiltVerbs);
  if (unbuilt)
    throw Error(ErrorCode::unsupported,
                cat("crane ", word, ": not built yet; the verbs are ", built_verbs()));
  if (!word.empty() && word[0] == '-')
    throw Error(ErrorCode::unsupported,
                cat(word,
                    ": expected a verb first; without one crane would serve, which is not "
                    "built yet; the verbs are ",
                    built_verbs()));
  std::vector<std::string> names;
  for (const VerbRow& row : verb_table()) names.push_back(row.name);
  std::string nearest = nearest_match(word, names);
  throw Error(
      ErrorCode::invalid_argument,
      cat("unknown verb ", word, nearest.empty() ? "" : cat("; did you mean ", nearest, "?"),
          " The verbs are ", built_verbs()));
}

void set_log(const Options& options) {
  constexpr LogLevel kLevels[] = {LogLevel::error, LogLevel::warning, LogLevel::info,
                                  LogLevel::debug};
  set_log_sink([](LogLevel, std::string_view message) { write_notice(message); },
               kLevels[options.log_level]);
}

int run_row(const VerbRow& row, std::vector<std::string> rest, const Environment& environment) {
  Invocation invocation{parse_options(row.verb, rest, environment), environment};
  if (invocation.options.help)
    return print(cat("Usage: crane ", row.name, " ", row.usage, "\n\n", row.help, "\n\n",
                     describe_options(row.verb)));
  for (const std::string& notice : invocation.options.notices) write_notice(notice);
  set_log(invocation.options);
  return row.function(invocation);
}

int choose(const std::vector<std::string>& arguments, const Environment& environment) {
  if (arguments.empty()) {
    write_notice(help_text());
    throw Error(ErrorCode::invalid_argument, "expected a verb");
  }
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  for (const VerbRow& row : verb_table()) {
    bool named = row.name == arguments[0] || std::find(row.aliases.begin(), row.aliases.end(),
                                                       arguments[0]) != row.aliases.end();
    if (named) return run_row(row, std::move(rest), environment);
  }
  if (auto text = information(arguments[0], environment)) return print(*text);
  refuse_verb(arguments[0]);
}

int fail(const std::string& message) {
  write_notice(cat("crane: ", message));
  return 1;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const Environment& environment) {
  ignore_broken_pipes();
  try {
    return choose(arguments, environment);
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace crane
