// Flags that neighbours made a habit and whose feature is not built yet. Each takes the values that
// change nothing and refuses the rest; none is ignored in silence.
#include "app/option_table.h"
#include "app/option_values.h"

namespace crane {
namespace {

using Flags = std::vector<Flag>;
using Words = std::vector<std::string>;

const char* const kNoGpu = "there is no GPU backend in this build";
const char* const kNoServer = "a flag of `crane serve`, which is not built yet";

void append_device_flags(Flags& flags) {
  const Flags rows = {
      {kAllVerbs, {"-ngl", "--gpu-layers", "--n-gpu-layers"}, "N", "", only({"0", "auto"}, kNoGpu)},
      {kAllVerbs, {"-dev", "--device"}, "NAME", "", only({"cpu", "auto", "none"}, kNoGpu)},
      {kAllVerbs, {"--cpu"}, "", "", no_effect()},
      {kAllVerbs, {"-sm", "--split-mode"}, "MODE", "", only({"none"}, kNoGpu)},
      {kAllVerbs, {"-mg", "--main-gpu"}, "N", "", only({"0"}, kNoGpu)},
      {kAllVerbs, {"-ts", "--tensor-split"}, "LIST", "", refuse(kNoGpu)},
      {kAllVerbs,
       {"--gpu-memory-utilization", "--mem-fraction-static", "--gpu-memory-limit"},
       "SHARE",
       "",
       refuse(kNoGpu)},
      {kAllVerbs,
       {"--tensor-parallel-size", "--tp", "--tp-size"},
       "N",
       "",
       only({"1"}, "the model runs on one device")},
      {kAllVerbs,
       {"-fa", "--flash-attn"},
       "MODE",
       "",
       only({"on", "auto"}, "attention never stores the score matrix; there is no other path")},
      {kAllVerbs,
       {"-tb", "--threads-batch"},
       "N",
       "",
       refuse("prompts and answers run on the same threads, see --threads")},
      {kAllVerbs, {"--mmap"}, "", "", no_effect()},
      {kAllVerbs, {"--no-mmap"}, "", "", refuse("files are always mapped")},
      {kAllVerbs, {"--mlock"}, "", "", refuse("locking memory is not built yet")},
      {kAllVerbs, {"--load-mode"}, "MODE", "", only({"auto"}, "other modes are not built yet")},
      {kAllVerbs,
       {"-cram", "--cache-ram"},
       "MIB",
       "",
       refuse("prompts are reused inside the K/V cache only")},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_model_part_flags(Flags& flags) {
  const char* const no_lora = "adapters are not built yet";
  const char* const no_draft = "speculative decoding is not built yet";
  const Flags rows = {
      {kAllVerbs,
       {"--model-type"},
       "NAME",
       "",
       only({"auto", "qwen2", "qwen25"}, "the family is read from the model's files")},
      {kAllVerbs, {"--quant", "--isq"}, "TYPE", "", refuse("quantising at load is not built yet")},
      {kAllVerbs, {"--lora"}, "FILE", "", refuse(no_lora)},
      {kAllVerbs, {"--lora-scaled"}, "FILE", "", refuse(no_lora)},
      {kAllVerbs, {"--lora-modules"}, "LIST", "", refuse(no_lora)},
      {kAllVerbs, {"--enable-lora"}, "", "", refuse(no_lora)},
      {kAllVerbs, {"-mm", "--mmproj"}, "FILE", "", refuse("pictures are not built yet")},
      {kAllVerbs, {"--image"}, "FILE", "", refuse("pictures are not built yet")},
      {kAllVerbs, {"--audio"}, "FILE", "", refuse("sound is not built yet")},
      {kAllVerbs, {"--no-mmproj", "--text-only"}, "", "", no_effect()},
      {kAllVerbs, {"-md", "--model-draft"}, "FILE", "", refuse(no_draft)},
      {kAllVerbs, {"--spec-type"}, "TYPE", "", only({"auto", "none"}, no_draft)},
      {kAllVerbs, {"--spec-draft-n-max"}, "N", "", only({"0"}, no_draft)},
      {kAllVerbs, {"--speculative-config", "--speculative-algorithm"}, "X", "", refuse(no_draft)},
      {kAllVerbs, {"--jinja"}, "", "", no_effect()},
      {kAllVerbs,
       {"--reasoning-format"},
       "FORM",
       "",
       only({"auto", "none"}, "reasoning is shown as the model writes it")},
      {kAllVerbs, {"--reasoning-budget"}, "N", "", only({"-1"}, "a budget is not built yet")},
      {kAllVerbs,
       {"--reasoning-effort"},
       "X",
       "",
       refuse("not built yet; a template's own variable is set by --chat-template-kwargs")},
      {kAllVerbs, {"--reasoning-parser"}, "NAME", "", only({"auto"}, "not built yet")},
      {kAllVerbs, {"--tool-call-parser"}, "NAME", "", refuse(kNoServer)},
      {kAllVerbs, {"--enable-auto-tool-choice"}, "", "", refuse(kNoServer)},
      {kAllVerbs, {"--offline"}, "", "", no_effect()},  // no verb opens a socket
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_log_flags(Flags& flags) {
  const char* const no_log = "log lines go to standard error only";
  const Flags rows = {
      {kAllVerbs, {"--log-file"}, "FILE", "", refuse(no_log)},
      {kAllVerbs, {"--log-jsonl"}, "FILE", "", refuse(no_log)},
      {kAllVerbs, {"--log-json"}, "", "", refuse("log lines are plain text")},
      {kAllVerbs, {"--log-prefix"}, "", "", refuse("log lines have no prefix")},
      {kAllVerbs, {"--log-timestamps"}, "", "", refuse("log lines have no time")},
      {kAllVerbs, {"--log-colors"}, "MODE", "", only({"off", "auto"}, "log lines have no colour")},
      {kAllVerbs, {"--format"}, "FORM", "", replaced("the format is read from the model's files")},
      {kAllVerbs,
       {"--decode-tokens-per-seq"},
       "N",
       "",
       replaced("the scheduler shares every step between all requests")},
  };
  flags.insert(flags.end(), rows.begin(), rows.end());
}

void append_server_flags(Flags& flags) {
  const Words switches = {"--metrics",
                          "--no-metrics",
                          "--slots",
                          "--no-slots",
                          "--embedding",
                          "--reranking",
                          "--no-models-autoload",
                          "--allow-remote-media",
                          "--strict-fields",
                          "--any-model",
                          "--ollama-api",
                          "--no-auth",
                          "--metrics-compat",
                          "--log-content",
                          "--llama-env"};
  const Words valued = {"-a",
                        "--alias",
                        "--served-model-name",
                        "--model-name",
                        "--host",
                        "--port",
                        "--api-key",
                        "--api-key-file",
                        "--admin-api-key",
                        "--ssl-key-file",
                        "--ssl-keyfile",
                        "--ssl-cert-file",
                        "--ssl-certfile",
                        "--cors-origins",
                        "--allowed-origins",
                        "--allowed-hosts",
                        "--api-prefix",
                        "--root-path",
                        "--models-dir",
                        "--models-max",
                        "--models-preset",
                        "--sleep-idle-seconds",
                        "--keep-alive",
                        "-to",
                        "--timeout",
                        "--request-timeout",
                        "--shutdown-timeout",
                        "--sse-ping-interval",
                        "--media-path",
                        "--allowed-local-media-path",
                        "--allowed-media-domains",
                        "--otlp-endpoint",
                        "--reasoning-field",
                        "--max-concurrent"};
  for (const std::string& name : switches)
    flags.push_back({kAllVerbs, {name}, "", "", refuse(kNoServer)});
  for (const std::string& name : valued)
    flags.push_back({kAllVerbs, {name}, "X", "", refuse(kNoServer)});
}

}  // namespace

void append_unbuilt_flags(Flags& flags) {
  append_device_flags(flags);
  append_model_part_flags(flags);
  append_log_flags(flags);
  append_server_flags(flags);
  // Streams of one verb make no sense in the others.
  flags.push_back({kRun | kPerplexity,
                   {"-np", "--parallel", "--max-num-seqs", "--max-running-requests"},
                   "N",
                   "",
                   only({"1", "auto"}, "this verb runs one request")});
}

}  // namespace crane
