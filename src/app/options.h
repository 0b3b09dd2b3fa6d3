// Options: what the flags and environment variables of every verb say, checked and typed.
//
// The spellings are in option_table.cpp, one row a flag. Order of force: flag, then variable
// (--some-flag has CRANE_SOME_FLAG), then the model's generation_config.json, then the built-in
// value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "engine/request.h"

namespace crane {

// Bits, so that a row of the table can belong to several verbs.
enum Verb : unsigned {
  kRun = 1,
  kScore = 2,
  kTokenize = 4,
  kTemplate = 8,
  kShow = 16,
  kBench = 32,
  kPerplexity = 64,
  kEngineVerbs = kRun | kScore | kBench | kPerplexity,  // those that run the model
  kAllVerbs = 127
};

struct Options {
  // The model and the machine.
  std::string model;
  std::string dtype = "auto", isa = "auto", kv_type = "auto", kv_type_v = "auto";
  int threads = 0;         // 0: all usable CPUs
  int context_length = 0;  // 0: the model's
  int batch_tokens = 2048, chunk_tokens = 512;
  std::vector<int> streams;  // -np
  bool prefix_cache = true;
  std::string chat_template, chat_template_file;
  Json chat_template_kwargs;  // an object, or null

  // Text in. An absent optional is a flag that was not given; an empty text is one that was.
  std::optional<std::string> prompt, file, text, lines_json, input, template_file, system_prompt;
  std::vector<std::vector<int32_t>> ids;  // one entry for each --ids
  std::vector<std::string> positional;    // without the model
  bool raw = false, no_bos = false, no_special = false, decode = false;
  bool chat = false, single_turn = false;

  // Sampling: changes to the model's defaults, in the order of the table.
  std::vector<std::function<void(SamplingParams&)>> sampling;
  int max_tokens = -1;
  bool ignore_eos = false;
  std::vector<std::string> stop_strings;

  // Output.
  bool json = false, verbose = false, quiet = false, help = false;
  int log_level = 1;  // 0 errors, 1 warnings, 2 information, 3 everything
  int top = 0;

  // bench
  std::vector<int> prompt_lengths, generation_lengths, depths;
  int repetitions = 5;
  std::string compare, output_format = "md";

  std::vector<std::string> notices;  // lines for stderr: renamed flags and the like
};

// The value of an environment variable, or nothing. A function, so that tests bring their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// `arguments` are those after the verb. Throws Error(invalid_argument) naming the flag: unknown
// (with the nearest spelling), without a value, or with a value outside its range; and
// Error(unsupported) for a flag whose feature is not built.
Options parse_options(Verb verb, const std::vector<std::string>& arguments,
                      const Environment& environment);

// The flags of a verb, one line each, for --help.
std::string describe_options(Verb verb);

}  // namespace crane
