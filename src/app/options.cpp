// The only file that knows CLI11. CLI11 matches names and counts values; single-dash words
// ("-ngl"), which it refuses, are rewritten to their long names before, and values are read by the
// setters of the table, so that messages name flag, value and range.
#include "app/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <utility>

#include "app/option_table.h"
#include "app/option_values.h"
#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// "-ngl": one dash and several letters. "-t4" is not a word but -t with its value.
bool is_word(const std::string& name) {
  return name.size() > 2 && name[0] == '-' && name[1] != '-' && (name[2] < '0' || name[2] > '9');
}

// The name that CLI11 sees: long names and one-letter names as they are, words with two dashes. No
// word of the table collides with a long name ("-sys" and "--sys").
std::string parser_name(const std::string& name) { return is_word(name) ? "-" + name : name; }

class Parser {
 public:
  explicit Parser(Verb verb) {
    for (Flag& flag : flag_table())
      if (flag.verbs & verb) flags_.push_back(std::move(flag));
    for (const Flag& flag : flags_)
      for (const std::string& name : flag.names) by_name_[name] = &flag;
  }

  const std::vector<Flag>& flags() const { return flags_; }

  // Splits the arguments into what CLI11 parses and, after "--" or without a dash, bare words.
  void split_arguments(const std::vector<std::string>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      if (argument == "--") {
        words_.insert(words_.end(), arguments.begin() + static_cast<ptrdiff_t>(i) + 1,
                      arguments.end());
        return;
      }
      if (argument.size() < 2 || argument[0] != '-') {
        words_.push_back(argument);
        continue;
      }
      i += take_flag(argument, i + 1 < arguments.size() ? &arguments[i + 1] : nullptr);
    }
  }

  // Runs CLI11 and gives each flag's raw values, in the order of the table.
  std::vector<std::pair<const Flag*, std::vector<std::string>>> parse() {
    CLI::App app;
    app.set_help_flag("");
    app.allow_extras();
    std::vector<CLI::Option*> parsed;
    for (const Flag& flag : flags_) {
      std::string names;
      for (const std::string& name : flag.names)
        names += (names.empty() ? "" : ",") + parser_name(name);
      CLI::Option* option = flag.is_switch() ? app.add_flag(names) : app.add_option(names);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      parsed.push_back(option);
    }
    std::reverse(tokens_.begin(), tokens_.end());  // CLI11 takes them from the end
    try {
      app.parse(tokens_);
    } catch (const CLI::ParseError& error) {
      throw Error(ErrorCode::invalid_argument, error.what());
    }
    for (const std::string& rest : app.remaining()) refuse_unknown(rest);
    std::vector<std::pair<const Flag*, std::vector<std::string>>> values;
    for (size_t i = 0; i < parsed.size(); ++i)
      if (parsed[i]->count() > 0) values.emplace_back(&flags_[i], parsed[i]->results());
    return values;
  }

  // The spelling that the user typed last, for messages.
  const std::string& spelling(const Flag& flag) const {
    auto found = typed_.find(&flag);
    return found == typed_.end() ? flag.long_name() : found->second;
  }

  const std::vector<std::string>& words() const { return words_; }

 private:
  // Passes one flag on, with its value when it has one. Returns how many further arguments it took.
  size_t take_flag(const std::string& argument, const std::string* next) {
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      if (is_word(name) || starts_with(name, "--")) refuse_unknown(name);
      tokens_.push_back(argument);  // -t4, or an unknown letter
      return 0;
    }
    const Flag& flag = *found->second;
    typed_[&flag] = name;
    if (flag.is_switch()) {
      if (equals == std::string::npos || parse_boolean(name, argument.substr(equals + 1)))
        tokens_.push_back(parser_name(name));
      return 0;
    }
    tokens_.push_back(parser_name(name));
    if (equals != std::string::npos) {
      tokens_.push_back(argument.substr(equals + 1));
      return 0;
    }
    if (flag.long_name() == "--flash-attn" &&
        (!next || (*next != "on" && *next != "off" && *next != "auto"))) {
      tokens_.push_back("on");  // the one flag whose value may be left out
      return 0;
    }
    if (!next) throw Error(ErrorCode::invalid_argument, cat(name, ": expected a value after it"));
    tokens_.push_back(*next);
    return 1;
  }

  [[noreturn]] void refuse_unknown(const std::string& name) const {
    std::vector<std::string> candidates;
    for (const auto& entry : by_name_)  // a letter is near to every word
      if (entry.first.size() > 2) candidates.push_back(entry.first);
    std::string nearest = nearest_match(name, candidates);
    throw Error(
        ErrorCode::invalid_argument,
        cat("unknown flag ", name,
            nearest.empty() ? "; --help lists the flags" : cat("; did you mean ", nearest, "?")));
  }

  std::vector<Flag> flags_;
  std::map<std::string, const Flag*> by_name_;
  std::map<const Flag*, std::string> typed_;
  std::vector<std::string> tokens_, words_;
};

std::string variable_name(const std::string& flag) {
  std::string name = "CRANE_";
  for (char c : flag.substr(2)) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// Takes the variable of a flag that was not given. An empty variable counts as absent.
void apply_variable(const Flag& flag, const Environment& environment, Options& options) {
  for (const std::string& name : flag.names) {
    if (!starts_with(name, "--")) continue;
    std::string variable = variable_name(name);
    std::optional<std::string> value = environment(variable);
    if (!value || value->empty()) continue;
    if (!flag.is_switch()) {
      flag.set(options, variable, *value);
    } else if (parse_boolean(variable, *value)) {
      flag.set(options, variable, "");
    }
    return;
  }
}

void take_words(std::vector<std::string> words, Verb verb, Options& options) {
  if (options.model.empty() && !words.empty()) {
    options.model = words.front();
    words.erase(words.begin());
  }
  options.positional = std::move(words);
  size_t allowed = verb == kRun ? 1 : 0;
  if (options.positional.size() > allowed)
    throw Error(ErrorCode::invalid_argument,
                cat("unexpected argument '", options.positional[allowed], "'"));
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

Options parse_options(Verb verb, const std::vector<std::string>& arguments,
                      const Environment& environment) {
  Parser parser(verb);
  parser.split_arguments(arguments);
  auto values = parser.parse();
  Options options;
  for (const Flag& flag : parser.flags()) {
    auto given = std::find_if(values.begin(), values.end(),
                              [&](const auto& entry) { return entry.first == &flag; });
    if (given == values.end()) {
      // A bare word names the model too, and beats the variable.
      bool named = flag.long_name() == "--model" && !parser.words().empty();
      if (!named) apply_variable(flag, environment, options);
      continue;
    }
    if (flag.is_switch()) {
      flag.set(options, parser.spelling(flag), "");
      continue;
    }
    for (const std::string& value : given->second) flag.set(options, parser.spelling(flag), value);
  }
  take_words(parser.words(), verb, options);
  return options;
}

std::string describe_options(Verb verb) {
  std::string text;
  for (const Flag& flag : flag_table()) {
    if (!(flag.verbs & verb) || flag.help.empty()) continue;
    std::string names =
        "  " + join(flag.names, ", ") + (flag.value.empty() ? "" : " " + flag.value);
    text += names;
    text += names.size() < 30 ? std::string(30 - names.size(), ' ') : "\n" + std::string(30, ' ');
    text += flag.help + "\n";
  }
  return text;
}

}  // namespace crane
