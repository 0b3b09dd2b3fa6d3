#include "app/option_table.h"

#include <limits>

#include "app/option_values.h"

namespace crane {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr unsigned kText = kRun | kScore | kTokenize | kPerplexity;  // verbs that read a text

using Flags = std::vector<Flag>;

void append_model_flags(Flags& flags) {
  const Flags rows = {
      {kAllVerbs,
       {"-m", "--model", "--model-path", "-hf", "--hf-repo", "--llm-gguf"},
       "MODEL",
       "a .gguf file, a folder, or a name in the models folder; also the first bare word",
       set_text(&Options::model)},
      {kEngineVerbs,
       {"-t", "--threads"},
       "N",
       "threads; 0: all usable CPUs (default)",
       set_integer(&Options::threads, 0, 4096)},
      {kEngineVerbs & ~kPerplexity,
       {"-c", "--ctx-size", "--max-model-len", "--context-length", "--max-seq-len"},
       "N",
       "context in tokens; 0: the model's (default)",
       set_integer(&Options::context_length, 0, kMost)},
      {kEngineVerbs,
       {"-b", "--batch-size", "--max-num-batched-tokens"},
       "N",
       "most tokens in a step (2048)",
       set_integer(&Options::batch_tokens, 1, 1 << 20)},
      {kEngineVerbs,
       {"-ub", "--ubatch-size", "--chunked-prefill-size"},
       "N",
       "most prompt tokens of one request in a step (512)",
       set_integer(&Options::chunk_tokens, 1, 1 << 20)},
      {kEngineVerbs,
       {"-ctk", "--cache-type-k", "--kv-cache-dtype"},
       "TYPE",
       "type of the K/V cache: auto, f32, f16 (auto)",
       set_choice(&Options::kv_type, {"auto", "f32", "f16", "bf16", "q8_0", "q4_0"})},
      {kEngineVerbs,
       {"-ctv", "--cache-type-v"},
       "TYPE",
       "the same for values; both must agree",
       set_choice(&Options::kv_type_v, {"auto", "f32", "f16", "bf16", "q8_0", "q4_0"})},
      {kEngineVerbs,
       {"--dtype"},
       "TYPE",
       "auto: fast and near the reference (default); f32: the reference mode",
       set_choice(&Options::dtype, {"auto", "f32", "f16", "bf16"})},
      {kEngineVerbs,
       {"--isa"},
       "LEVEL",
       "instruction set: auto (default), or a level that --list-devices prints",
       set_text(&Options::isa)},
      {kEngineVerbs,
       {"--enable-prefix-caching"},
       "",
       "reuse prompts seen before (default)",
       set_switch(&Options::prefix_cache, true)},
      {kEngineVerbs,
       {"--no-enable-prefix-caching", "--disable-radix-cache"},
       "",
       "do not",
       set_switch(&Options::prefix_cache, false)},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_run_flags(Flags& flags) {
  const Flags rows = {
      {kRun,
       {"-p", "--prompt"},
       "TEXT",
       "the prompt; also the second bare word, or standard input",
       set_optional_text(&Options::prompt)},
      {kRun,
       {"--raw", "-no-cnv", "--no-conversation"},
       "",
       "the prompt as it stands, without the chat template",
       set_switch(&Options::raw, true)},
      {kRun,
       {"-sys", "--system-prompt"},
       "TEXT",
       "a system message",
       set_optional_text(&Options::system_prompt)},
      {kRun,
       {"-cnv", "--conversation", "-i", "--interactive"},
       "",
       "chat, with the prompt as the first message",
       set_switch(&Options::chat, true)},
      {kRun,
       {"-st", "--single-turn"},
       "",
       "leave the chat after one answer",
       set_switch(&Options::single_turn, true)},
      {kRun,
       {"-r", "--reverse-prompt", "--stop"},
       "TEXT",
       "a text that ends the answer; may be given several times",
       append_text(&Options::stop_strings)},
      {kRun,
       {"-n", "--predict", "--n-predict", "--max-new-tokens"},
       "N",
       "most tokens of the answer; -1: until a stop or the context is full (default)",
       set_integer(&Options::max_tokens, -1, kMost)},
      {kRun,
       {"--ignore-eos"},
       "",
       "go on after the model's own stop tokens",
       set_switch(&Options::ignore_eos, true)},
      {kRun | kTemplate,
       {"--chat-template"},
       "TEXT",
       "a chat template instead of the model's",
       set_text(&Options::chat_template)},
      {kRun | kTemplate,
       {"--chat-template-file"},
       "FILE",
       "the same from a file",
       set_text(&Options::chat_template_file)},
      {kRun | kTemplate,
       {"--chat-template-kwargs"},
       "JSON",
       "variables for the template",
       set_kwargs()},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_sampling_flags(Flags& flags) {
  using S = SamplingParams;
  const Flags rows = {
      {kRun,
       {"--temp", "--temperature"},
       "X",
       "0: always the likeliest token",
       set_sampling(&S::temperature, 0, 1000)},
      {kRun, {"-s", "--seed"}, "N", "-1: from the system's entropy (default)", set_seed()},
      {kRun, {"--top-k"}, "N", "0: off", set_sampling(&S::top_k, 0, kMost)},
      {kRun, {"--top-p"}, "X", "1: off", set_sampling(&S::top_p, 0, 1)},
      {kRun, {"--min-p"}, "X", "0: off", set_sampling(&S::min_p, 0, 1)},
      {kRun, {"--typical", "--typical-p"}, "X", "1: off", set_sampling(&S::typical_p, 0, 1)},
      {kRun,
       {"--top-n-sigma", "--top-nsigma"},
       "X",
       "-1: off",
       set_sampling(&S::top_n_sigma, -1, 1000)},
      {kRun,
       {"--repeat-penalty", "--repetition-penalty"},
       "X",
       "1: off",
       set_sampling(&S::repeat_penalty, 0.01, 100)},
      {kRun,
       {"--repeat-last-n"},
       "N",
       "tokens that penalties look back on; -1: all",
       set_sampling(&S::penalty_last_n, -1, kMost)},
      {kRun, {"--presence-penalty"}, "X", "0: off", set_sampling(&S::presence_penalty, -2, 2)},
      {kRun, {"--frequency-penalty"}, "X", "0: off", set_sampling(&S::frequency_penalty, -2, 2)},
      {kRun, {"--xtc-probability"}, "X", "0: off", set_sampling(&S::xtc_probability, 0, 1)},
      {kRun, {"--xtc-threshold"}, "X", "", set_sampling(&S::xtc_threshold, 0, 1)},
      {kRun, {"--dry-multiplier"}, "X", "0: off", set_sampling(&S::dry_multiplier, 0, 1000)},
      {kRun, {"--dry-base"}, "X", "", set_sampling(&S::dry_base, 0, 1000)},
      {kRun, {"--dry-allowed-length"}, "N", "", set_sampling(&S::dry_allowed_length, 0, kMost)},
      {kRun, {"--dry-penalty-last-n"}, "N", "", set_sampling(&S::dry_penalty_last_n, -1, kMost)},
      {kRun,
       {"--dynatemp-range"},
       "X",
       "0: off",
       set_sampling(&S::dynamic_temperature_range, 0, 1000)},
      {kRun, {"--dynatemp-exp"}, "X", "", set_sampling(&S::dynamic_temperature_exponent, 0, 1000)},
      {kRun, {"--mirostat"}, "N", "0: off, 1 or 2", set_sampling(&S::mirostat, 0, 2)},
      {kRun, {"--mirostat-ent"}, "X", "", set_sampling(&S::mirostat_tau, 0, kLargest)},
      {kRun, {"--mirostat-lr"}, "X", "", set_sampling(&S::mirostat_eta, 0, kLargest)},
      {kRun,
       {"-l", "--logit-bias"},
       "ID+X",
       "adds X to the logit of a token; may be repeated",
       add_logit_bias()},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_text_flags(Flags& flags) {
  const Flags rows = {
      {kText,
       {"-f", "--file"},
       "FILE",
       "the text from a file; -: standard input",
       set_optional_text(&Options::file)},
      {kScore | kTokenize, {"--text"}, "TEXT", "the text", set_optional_text(&Options::text)},
      {kRun | kScore | kTokenize, {"--ids"}, "1,2,3", "token ids, taken as they are", append_ids()},
      {kScore | kTokenize | kRun,
       {"--no-special"},
       "",
       "text of special tokens is plain text (with --decode: left out)",
       set_switch(&Options::no_special, true)},
      {kScore | kTokenize | kRun,
       {"--no-bos"},
       "",
       "no BOS, EOS or [CLS] … [SEP] is added",
       set_switch(&Options::no_bos, true)},
      {kTokenize,
       {"--lines-json"},
       "FILE",
       "a JSON array of texts; -: standard input",
       set_optional_text(&Options::lines_json)},
      {kTokenize, {"--decode"}, "", "ids to text", set_switch(&Options::decode, true)},
      {kScore,
       {"--top"},
       "N",
       "the N likeliest tokens at every position",
       set_integer(&Options::top, 0, 1 << 20)},
      {kScore,
       {"-np", "--parallel", "--max-num-seqs", "--max-running-requests"},
       "N",
       "most sequences in a step (16)",
       set_integers(&Options::streams, 1, 4096)},
      {kTemplate,
       {"--template"},
       "FILE",
       "a chat template in a file",
       set_optional_text(&Options::template_file)},
      {kTemplate,
       {"--input"},
       "FILE",
       "the conversation: messages, tools, documents, add_generation_prompt, "
       "chat_template_kwargs; -: standard input",
       set_optional_text(&Options::input)},
      {kPerplexity,
       {"-c", "--ctx-size", "--context-length"},
       "N",
       "ids in a chunk (512)",
       set_integer(&Options::context_length, 0, kMost)},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_bench_flags(Flags& flags) {
  const Flags rows = {
      {kBench,
       {"-p", "--n-prompt"},
       "N,N",
       "prompt lengths (512); 0: no prefill",
       set_integers(&Options::prompt_lengths, 0, 1 << 24)},
      {kBench,
       {"-n", "--n-gen"},
       "N,N",
       "answer lengths (64); 0: no decode",
       set_integers(&Options::generation_lengths, 0, 1 << 24)},
      {kBench,
       {"-d", "--n-depth"},
       "N,N",
       "tokens already in the context (0)",
       set_integers(&Options::depths, 0, 1 << 24)},
      {kBench,
       {"-np", "--parallel", "--max-num-seqs", "--max-running-requests"},
       "N,N",
       "streams that decode at once (1)",
       set_integers(&Options::streams, 1, 4096)},
      {kBench,
       {"-r", "--repetitions"},
       "N",
       "counted runs of each row (5)",
       set_integer(&Options::repetitions, 1, 1000)},
      {kBench,
       {"-o", "--output"},
       "FORM",
       "md (default) or csv",
       set_choice(&Options::output_format, {"md", "csv"})},
      {kBench,
       {"--compare"},
       "FILE",
       "rows of an earlier --json run; exit 2 where one is slower beyond noise",
       set_text(&Options::compare)},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

FlagSetter set_log_level() {
  return [](Options& options, const std::string& flag, const std::string& value) {
    static const char* const kNames[] = {"error", "warn", "info", "debug"};
    for (int level = 0; level < 4; ++level)
      if (value == kNames[level]) return void(options.log_level = level);
    options.log_level = static_cast<int>(parse_integer(flag, value, 0, 3));
  };
}

void append_output_flags(Flags& flags) {
  const Flags rows = {
      {kAllVerbs & ~kTemplate,
       {"--json"},
       "",
       "JSON on standard output",
       set_switch(&Options::json, true)},
      {kAllVerbs,
       {"-v", "--verbose"},
       "",
       "load time and rates after the answer, and log lines",
       [](Options& options, const std::string&, const std::string&) {
         options.verbose = true;
         options.log_level = 2;
       }},
      {kAllVerbs,
       {"-q", "--quiet"},
       "",
       "no progress bars and no rates",
       set_switch(&Options::quiet, true)},
      {kAllVerbs,
       {"-lv", "--verbosity", "--log-level"},
       "LEVEL",
       "error, warn (default), info or debug",
       set_log_level()},
      {kAllVerbs,
       {"--log-disable"},
       "",
       "no log lines",
       [](Options& options, const std::string&, const std::string&) { options.log_level = 0; }},
      {kAllVerbs, {"-h", "--help"}, "", "this text", set_switch(&Options::help, true)},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

}  // namespace

const std::string& Flag::long_name() const {
  for (const std::string& name : names)
    if (name.compare(0, 2, "--") == 0) return name;
  return names.front();
}

std::vector<Flag> flag_table() {
  std::vector<Flag> flags;
  append_run_flags(flags);
  append_text_flags(flags);
  append_bench_flags(flags);
  append_model_flags(flags);
  append_sampling_flags(flags);
  append_output_flags(flags);
  append_unbuilt_flags(flags);
  return flags;
}

}  // namespace crane
