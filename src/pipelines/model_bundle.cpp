#include "pipelines/model_bundle.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "backends/registry.h"
#include "base/log.h"
#include "base/strings.h"
#include "models/registry.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_json.h"

namespace crane {
namespace {

// Tokens that end a turn, by name, in every family (docs/architecture.md, "Stop ids").
constexpr const char* kStopTokens[] = {"<|im_end|>",    "<|endoftext|>", "<|eot_id|>", "<|eom_id|>",
                                       "<end_of_turn>", "<turn|>",       "</s>"};

void add_ids(std::vector<int32_t>& ids, const Json& value) {
  if (value.is_number()) ids.push_back(static_cast<int32_t>(value.as_integer()));
  if (value.is_array())
    for (const Json& item : value.as_array()) add_ids(ids, item);
}

std::vector<int32_t> find_stop_ids(const TextBundle& text) {
  std::vector<int32_t> ids;
  const Checkpoint& checkpoint = text.checkpoint;
  add_ids(ids, checkpoint.generation_config()["eos_token_id"]);
  add_ids(ids, checkpoint.config()["eos_token_id"]);
  add_ids(ids, checkpoint.config()["text_config"]["eos_token_id"]);
  if (const Metadata* gguf = checkpoint.gguf_metadata()) {
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                            "tokenizer.ggml.eom_token_id"})
      if (auto id = gguf->find_integer(key)) ids.push_back(static_cast<int32_t>(*id));
  }
  if (text.tokenizer) {
    for (const char* name : kStopTokens) {
      auto id = text.tokenizer->find_token(name);
      if (id && text.tokenizer->is_special(*id)) ids.push_back(*id);
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// generation_config.json over the built-in values; do_sample false means greedy.
SamplingParams sampling_defaults(const Json& config) {
  SamplingParams params;
  params.temperature = config.get<float>("temperature", params.temperature);
  params.top_k = config.get<int>("top_k", params.top_k);
  params.top_p = config.get<float>("top_p", params.top_p);
  params.min_p = config.get<float>("min_p", params.min_p);
  params.typical_p = config.get<float>("typical_p", params.typical_p);
  params.repeat_penalty = config.get<float>("repetition_penalty", params.repeat_penalty);
  if (!config.get<bool>("do_sample", true)) params.temperature = 0.0f;
  const Json& suppressed = config["suppress_tokens"];
  if (suppressed.is_array())
    for (const Json& id : suppressed.as_array())
      params.logit_bias.emplace_back(static_cast<int32_t>(id.as_integer()),
                                     -std::numeric_limits<float>::infinity());
  return params;
}

std::shared_ptr<const Tokenizer> load_tokenizer(const Checkpoint& checkpoint) {
  if (checkpoint.gguf_metadata()) {
    if (!checkpoint.gguf_metadata()->contains("tokenizer.ggml.model")) return nullptr;
    return make_tokenizer(*checkpoint.gguf_metadata());
  }
  if (checkpoint.tokenizer_json().is_null()) return nullptr;
  return make_tokenizer(checkpoint.tokenizer_json(), checkpoint.tokenizer_config());
}

// bos_token and eos_token are strings or objects with `content`.
std::string special_text(const Json& value) {
  if (value.is_string()) return value.as_string();
  if (value["content"].is_string()) return value["content"].as_string();
  return "";
}

void find_special_texts(TextBundle& text) {
  const Json& config = text.checkpoint.tokenizer_config();
  text.bos_text = special_text(config["bos_token"]);
  text.eos_text = special_text(config["eos_token"]);
  if (!text.tokenizer || !text.checkpoint.gguf_metadata()) return;
  if (auto id = text.tokenizer->bos()) text.bos_text = text.tokenizer->token_bytes(*id);
  if (auto id = text.tokenizer->eos()) text.eos_text = text.tokenizer->token_bytes(*id);
}

bool has_quantized_weights(const Checkpoint& checkpoint) {
  for (const std::string& tensor : checkpoint.tensor_names())
    if (is_block_type(checkpoint.find(tensor)->dtype)) return true;
  return false;
}

}  // namespace

TextBundle load_text(const LoadOptions& options) {
  TextBundle text{Checkpoint::open(options.path), nullptr, nullptr, "", "", {}, {}};
  text.tokenizer = load_tokenizer(text.checkpoint);
  find_special_texts(text);
  std::string source =
      options.chat_template.empty() ? text.checkpoint.chat_template_text() : options.chat_template;
  if (!source.empty()) text.chat_template = std::make_shared<const ChatTemplate>(source);
  text.stop_ids = find_stop_ids(text);
  text.sampling = sampling_defaults(text.checkpoint.generation_config());
  return text;
}

ModelBundle load_model(const LoadOptions& options) {
  auto start = std::chrono::steady_clock::now();
  ModelBundle bundle{load_text(options), nullptr, nullptr, false, 0};
  DeviceOptions device;
  device.dtype = options.dtype;
  device.isa = options.isa;
  device.threads = options.threads;
  bundle.device = make_device(device);
  const Checkpoint& checkpoint = bundle.text.checkpoint;
  ProgressCallback progress;
  if (options.progress)
    progress = [&](const LoadProgress& now) { options.progress(now.bytes, now.total); };
  Weights weights(checkpoint, *bundle.device, progress);
  bundle.model = make_text_model(checkpoint.config(), weights);
  // Files suppress ids that their vocabulary does not have; the engine would refuse each request.
  std::erase_if(bundle.text.sampling.logit_bias, [&](const auto& bias) {
    return bias.first < 0 || bias.first >= bundle.model->vocab_size();
  });
  bundle.quantized = has_quantized_weights(checkpoint);
  for (const std::string& tensor : weights.unused())
    log(LogLevel::warning,
        cat("tensor ", tensor, " is in the file, but the model has no use for it"));
  bundle.load_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return bundle;
}

}  // namespace crane
