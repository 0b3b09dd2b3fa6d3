#include "io/gguf_names.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/strings.h"
#include "io/foreign_text.h"

namespace crane {
namespace {

struct NameRow {
  std::string_view gguf, hugging_face;
};

enum class KeyKind { size, number };

struct KeyRow {
  std::string_view gguf;  // without the architecture in front
  std::string_view hugging_face;
  KeyKind kind = KeyKind::size;
  bool required = true;
};

}  // namespace

struct GgufFamily {
  std::string_view architecture, model_type, class_name;
  std::span<const NameRow> outer, layer;  // names without ".weight" and ".bias"
  std::span<const KeyRow> keys;
  std::string_view activation;
  bool sliding_window = false;  // the family's code can limit attention to a window
};

namespace {

constexpr NameRow kOuterNames[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
};

constexpr NameRow kLlamaLayerNames[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

constexpr KeyRow kDenseKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads", KeyKind::size, false},
    {"attention.key_length", "head_dim", KeyKind::size, false},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", KeyKind::number},
};

constexpr GgufFamily kFamilies[] = {
    {"qwen2", "qwen2", "Qwen2ForCausalLM", kOuterNames, kLlamaLayerNames, kDenseKeys, "silu", true},
};

// Keys that change what a model computes. One that no table above has translated is refused,
// unless it holds the value at which it does nothing.
struct ComputingKey {
  std::string_view gguf;
  double neutral = 0.0;
};
constexpr ComputingKey kComputingKeys[] = {
    {"attention.causal", 1},
    {"attention.clamp_kqv"},
    {"attention.max_alibi_bias"},
    {"attention.scale"},
    {"attention.output_scale"},
    {"attention.layer_norm_epsilon"},
    {"attention.temperature_length"},
    {"attention.temperature_scale", 1},
    {"attention.q_lora_rank"},
    {"attention.kv_lora_rank"},
    {"attention.shared_kv_layers"},
    {"attn_logit_softcapping"},
    {"final_logit_softcapping"},
    {"expert_count"},
    {"embedding_scale", 1},
    {"residual_scale", 1},
    {"logit_scale", 1},
    {"nextn_predict_layers"},
    {"embedding_length_per_layer_input"},
    {"use_parallel_residual"},
    {"rope.scaling.alpha"},
    {"rope.scaling.yarn_log_multiplier"},
    {"rope.freq_base_swa"},
    {"full_attention_interval"},
    {"ssm.state_size"},
};

constexpr int64_t kMostLayers = 65536;

// Typed access to the keys of one architecture. Messages name key and value; the public functions
// put the file in front.
class Keys {
 public:
  Keys(const Metadata& metadata, std::string_view architecture)
      : metadata_(metadata), prefix_(cat(architecture, ".")) {}

  std::string full(std::string_view key) const { return prefix_ + std::string(key); }
  bool contains(std::string_view key) const { return metadata_.contains(full(key)); }

  [[noreturn]] void fail(ErrorCode code, std::string_view key, std::string_view what) const {
    throw Error(code, cat("key ", full(key), ": ", what));
  }

  const MetadataValue* value(std::string_view key) const {
    auto at = metadata_.values.find(full(key));
    return at == metadata_.values.end() ? nullptr : &at->second;
  }

  // A positive size. An array of one value per layer is accepted when all are the same.
  std::optional<int64_t> size(std::string_view key) const {
    const MetadataValue* found = value(key);
    const auto* array = found ? std::get_if<std::vector<int64_t>>(found) : nullptr;
    std::optional<int64_t> number =
        array ? common_item(key, *array) : metadata_.find_integer(full(key));
    if (number && (*number < 1 || *number > std::numeric_limits<int32_t>::max()))
      fail(ErrorCode::io, key, cat("got ", *number, ", expected 1 to 2147483647"));
    return number;
  }

  // A finite number, not below 0.
  std::optional<double> number(std::string_view key) const {
    std::optional<double> number = metadata_.find_number(full(key));
    if (number && !(std::isfinite(*number) && *number >= 0))
      fail(ErrorCode::io, key, cat("got ", *number, ", expected a finite number >= 0"));
    return number;
  }

  std::optional<std::string_view> text(std::string_view key) const {
    return metadata_.find_string(full(key));
  }

 private:
  int64_t common_item(std::string_view key, const std::vector<int64_t>& array) const {
    if (array.empty()) fail(ErrorCode::io, key, "empty array");
    for (int64_t item : array)
      if (item != array.front()) fail(ErrorCode::unsupported, key, "differs from layer to layer");
    return array.front();
  }

  const Metadata& metadata_;
  std::string prefix_;
};

// Runs `read` and puts the file's name before its messages.
template <class Read>
auto naming_file(std::string_view where, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.code(), cat(where, ": ", error.what()));
  }
}

void refuse_untranslated(const Keys& keys, const GgufFamily& family) {
  for (const ComputingKey& row : kComputingKeys) {
    const MetadataValue* value = keys.value(row.gguf);
    if (!value) continue;
    bool known = std::any_of(family.keys.begin(), family.keys.end(),
                             [&](const KeyRow& key) { return key.gguf == row.gguf; });
    if (known) continue;
    if (const bool* flag = std::get_if<bool>(value); flag && (*flag ? 1.0 : 0.0) == row.neutral)
      continue;
    if (const int64_t* number = std::get_if<int64_t>(value);
        number && static_cast<double>(*number) == row.neutral)
      continue;
    if (const double* number = std::get_if<double>(value); number && *number == row.neutral)
      continue;
    keys.fail(ErrorCode::unsupported, row.gguf,
              cat("not built for architecture ", family.architecture));
  }
}

void add_dimensions(JsonObject& config, const Keys& keys, const GgufFamily& family) {
  for (const KeyRow& row : family.keys) {
    Json value;
    if (row.kind == KeyKind::size) {
      if (auto size = keys.size(row.gguf)) value = Json(*size);
    } else {
      if (auto number = keys.number(row.gguf)) value = Json(*number);
    }
    if (!value.is_null()) {
      config.push_back(std::string(row.hugging_face), value);
    } else if (row.required) {
      keys.fail(ErrorCode::io, row.gguf, "missing");
    }
  }
  if (int64_t layers = config.find("num_hidden_layers")->as_integer(); layers > kMostLayers)
    keys.fail(ErrorCode::io, "block_count",
              cat("got ", layers, ", expected at most ", kMostLayers));
}

void check_head_sizes(const JsonObject& config, const Keys& keys) {
  const Json* head_dim = config.find("head_dim");
  int64_t expected = head_dim ? head_dim->as_integer()
                              : config.find("hidden_size")->as_integer() /
                                    config.find("num_attention_heads")->as_integer();
  for (std::string_view key : {"attention.value_length", "rope.dimension_count"})
    if (auto size = keys.size(key); size && *size != expected)
      keys.fail(ErrorCode::unsupported, key,
                cat("got ", *size, ", expected the head size ", expected));
}

// YaRN as transformers reads it. `yarn_attn_factor` is its attention_factor, `attn_factor` a
// multiplier on the default 0.1 ln(factor) + 1.
void add_yarn(JsonObject& rope, const Keys& keys, double factor) {
  if (auto length = keys.size("rope.scaling.original_context_length"))
    rope.push_back("original_max_position_embeddings", Json(*length));
  if (auto extrapolation = keys.number("rope.scaling.yarn_ext_factor");
      extrapolation && *extrapolation != 1.0)
    keys.fail(ErrorCode::unsupported, "rope.scaling.yarn_ext_factor",
              cat("got ", *extrapolation, ", expected 1"));
  auto attention = keys.number("rope.scaling.yarn_attn_factor");
  auto multiplier = keys.number("rope.scaling.attn_factor");
  if (multiplier && *multiplier != 1.0)
    attention = attention.value_or(0.1 * std::log(factor) + 1.0) * *multiplier;
  if (attention) rope.push_back("attention_factor", Json(*attention));
  if (auto beta = keys.number("rope.scaling.yarn_beta_fast"))
    rope.push_back("beta_fast", Json(*beta));
  if (auto beta = keys.number("rope.scaling.yarn_beta_slow"))
    rope.push_back("beta_slow", Json(*beta));
}

Json rope_parameters(const Keys& keys) {
  JsonObject rope;
  double base = keys.number("rope.freq_base").value_or(10000.0);
  if (base < 1.0) keys.fail(ErrorCode::io, "rope.freq_base", cat("got ", base, ", expected >= 1"));
  rope.push_back("rope_theta", Json(base));

  std::string_view type = keys.text("rope.scaling.type").value_or("");
  std::string_view factor_key = "rope.scaling.factor";
  if (type.empty() && keys.contains("rope.scale_linear")) {  // the key of older files
    type = "linear";
    factor_key = "rope.scale_linear";
  }
  double factor = keys.number(factor_key).value_or(1.0);
  if (type.empty() || type == "none") {
    if (factor != 1.0 && factor != 0.0 && type.empty())
      keys.fail(ErrorCode::unsupported, factor_key, cat("got ", factor, " without a scaling type"));
    rope.push_back("rope_type", "default");
    return rope;
  }
  if (type != "linear" && type != "yarn")
    keys.fail(ErrorCode::unsupported, "rope.scaling.type",
              cat("got ", printable(type), ", expected none, linear or yarn"));
  if (factor < 1.0) keys.fail(ErrorCode::io, factor_key, cat("got ", factor, ", expected >= 1"));
  rope.push_back("rope_type", Json(type));
  rope.push_back("factor", Json(factor));
  if (type == "yarn") add_yarn(rope, keys, factor);
  return rope;
}

// Which layers slide: one flag per layer, a period (its last layer is full), or all of them.
JsonArray layer_types(const Keys& keys, int64_t layers) {
  constexpr std::string_view kKey = "attention.sliding_window_pattern";
  std::vector<int64_t> slides(static_cast<size_t>(layers), 1);
  if (const MetadataValue* value = keys.value(kKey)) {
    const auto* flags = std::get_if<std::vector<int64_t>>(value);
    if (flags && flags->size() == slides.size()) {
      slides = *flags;
    } else if (flags) {
      keys.fail(ErrorCode::io, kKey, cat("got ", flags->size(), " layers, expected ", layers));
    } else {
      int64_t period = keys.size(kKey).value_or(1);
      for (int64_t i = 0; i < layers; ++i)
        slides[static_cast<size_t>(i)] = period != 1 && i % period < period - 1;
    }
  }
  JsonArray types;
  for (int64_t slide : slides) types.push_back(slide ? "sliding_attention" : "full_attention");
  return types;
}

void add_window(JsonObject& config, const Keys& keys, const GgufFamily& family) {
  constexpr std::string_view kKey = "attention.sliding_window";
  const MetadataValue* value = keys.value(kKey);
  const int64_t* number = value ? std::get_if<int64_t>(value) : nullptr;
  if (!value || (number && *number == 0)) return;
  if (!family.sliding_window)
    keys.fail(ErrorCode::unsupported, kKey, cat("not built for ", family.architecture));
  config.push_back("use_sliding_window", true);
  config.push_back("sliding_window", Json(*keys.size(kKey)));
  config.push_back("layer_types",
                   layer_types(keys, config.find("num_hidden_layers")->as_integer()));
}

void add_vocabulary(JsonObject& config, const Metadata& metadata, const Keys& keys,
                    const std::vector<GgufTensor>& tensors) {
  const auto* tokens = metadata.find_strings("tokenizer.ggml.tokens");
  int64_t rows =
      tokens ? static_cast<int64_t>(tokens->size()) : keys.size("vocab_size").value_or(0);
  bool has_output = false;
  for (const GgufTensor& tensor : tensors) {
    // The rows of the embedding are the truth: it may have spare ones.
    if (tensor.name == "token_embd.weight" && tensor.shape.rank == 2) rows = tensor.shape[0];
    has_output = has_output || tensor.name == "output.weight";
  }
  config.push_back("vocab_size", Json(rows));
  config.push_back("tie_word_embeddings", Json(!has_output));
  for (std::string_view name : {"bos_token_id", "eos_token_id"})
    if (auto id = metadata.find_integer(cat("tokenizer.ggml.", name)))
      config.push_back(std::string(name), Json(*id));
}

}  // namespace

const GgufFamily& gguf_family(const Metadata& metadata, std::string_view where) {
  return *naming_file(where, [&]() -> const GgufFamily* {
    std::optional<std::string_view> name = metadata.find_string("general.architecture");
    if (!name) throw Error(ErrorCode::io, "key general.architecture: missing");
    std::vector<std::string> known;
    for (const GgufFamily& family : kFamilies) {
      if (family.architecture == *name) return &family;
      known.emplace_back(family.architecture);
    }
    throw Error(ErrorCode::unsupported, cat("GGUF architecture ", printable(*name),
                                            " is not built, known: ", join(known, ", ")));
  });
}

std::string hugging_face_name(const GgufFamily& family, std::string_view gguf_name) {
  size_t dot = gguf_name.rfind('.');
  std::string_view suffix = dot == std::string_view::npos ? "" : gguf_name.substr(dot);
  if (suffix != ".weight" && suffix != ".bias") return std::string(gguf_name);
  std::string_view base = gguf_name.substr(0, dot);

  std::string prefix;
  std::span<const NameRow> rows = family.outer;
  if (base.starts_with("blk.")) {
    size_t end = base.find('.', 4);
    if (end == std::string_view::npos) return std::string(gguf_name);
    prefix = cat("model.layers.", base.substr(4, end - 4), ".");
    base.remove_prefix(end + 1);
    rows = family.layer;
  }
  for (const NameRow& row : rows)
    if (row.gguf == base) return cat(prefix, row.hugging_face, suffix);
  return std::string(gguf_name);
}

Json hugging_face_config(const GgufFamily& family, const Metadata& metadata,
                         const std::vector<GgufTensor>& tensors, std::string_view where) {
  return naming_file(where, [&]() -> Json {
    Keys keys(metadata, family.architecture);
    refuse_untranslated(keys, family);
    JsonObject config;
    config.push_back("model_type", Json(family.model_type));
    config.push_back("architectures", JsonArray{Json(family.class_name)});
    config.push_back("hidden_act", Json(family.activation));
    add_dimensions(config, keys, family);
    check_head_sizes(config, keys);
    config.push_back("rope_parameters", rope_parameters(keys));
    add_window(config, keys, family);
    add_vocabulary(config, metadata, keys, tensors);
    return config;
  });
}

}  // namespace crane
