#include "models/config.h"

#include <array>

#include "base/strings.h"

namespace crane {
namespace {

constexpr int kLargestSize = 1 << 24;

// Options that change what a reference implementation computes, with the value that means "off".
struct Option {
  const char* key;
  Json neutral;
};

const std::vector<Option>& known_options() {
  static const std::vector<Option> options = {
      {"attention_bias", false},
      {"mlp_bias", false},
      {"use_bias", false},
      {"use_sliding_window", false},
      {"layer_types", nullptr},
      {"head_dim", nullptr},
      {"partial_rotary_factor", 1.0},
      {"rope_scaling", nullptr},
      {"rope_parameters", nullptr},
      {"rope_local_base_freq", nullptr},
      {"attn_logit_softcapping", nullptr},
      {"final_logit_softcapping", nullptr},
      {"query_pre_attn_scalar", nullptr},
      {"attention_multiplier", nullptr},
      {"residual_multiplier", 1.0},
      {"embedding_multiplier", 1.0},
      {"logits_scaling", 1.0},
      {"logit_scale", 1.0},
      {"scale_emb", 1.0},
      {"scale_depth", nullptr},
      {"dim_model_base", nullptr},
      {"no_rope_layers", nullptr},
      {"clip_qkv", nullptr},
      {"qk_layernorm", false},
      {"use_qk_norm", false},
      {"parallel_attn", false},
      {"alibi", false},
      {"num_experts", 0},
      {"num_local_experts", 0},
      {"n_routed_experts", 0},
      {"quantization_config", nullptr},
      {"is_decoder", true},
      {"add_cross_attention", false},
      {"use_cla", false},
      {"pretraining_tp", 1},
  };
  return options;
}

}  // namespace

int ConfigReader::size(std::string_view key) {
  int value = get<int>(key);
  if (value < 1 || value > kLargestSize)
    throw Error(ErrorCode::invalid_argument,
                cat("config: ", key, " is ", value, ", expected 1 to ", kLargestSize));
  return value;
}

int ConfigReader::size(std::string_view key, int fallback) {
  obeyed_.emplace(key);
  return config_.contains(key) ? size(key) : fallback;
}

Json ConfigReader::rope_parameters(double default_theta) {
  for (const char* key : {"rope_parameters", "rope_scaling", "rope_theta"}) obeyed_.emplace(key);
  JsonObject merged;
  const Json& newer = config_["rope_parameters"];
  const Json& older = config_["rope_scaling"];
  const Json& source = newer.is_null() ? older : newer;
  if (!source.is_null()) merged = source.as_object();
  if (!Json(merged).contains("rope_theta"))
    merged["rope_theta"] = config_.get<double>("rope_theta", default_theta);
  const Json* partial = merged.find("partial_rotary_factor");
  if (partial && !partial->is_null() && partial->as_number() != 1.0)
    throw Error(ErrorCode::unsupported,
                "config: partial_rotary_factor is not built for this model");
  return merged;
}

std::vector<int> ConfigReader::layer_windows(int layers, int default_max_window_layers) {
  bool use = get<bool>("use_sliding_window", false);
  int first = get<int>("max_window_layers", default_max_window_layers);
  int window = use && config_.contains("sliding_window") ? size("sliding_window") : 0;
  obeyed_.emplace("sliding_window");
  obeyed_.emplace("layer_types");
  std::vector<int> windows(static_cast<size_t>(layers));
  const Json& types = config_["layer_types"];
  if (types.is_null()) {
    for (int i = 0; i < layers; ++i) windows[static_cast<size_t>(i)] = i >= first ? window : 0;
    return windows;
  }
  if (types.as_array().size() != windows.size())
    throw Error(
        ErrorCode::invalid_argument,
        cat("config: layer_types has ", types.as_array().size(), " entries, expected ", layers));
  for (size_t i = 0; i < windows.size(); ++i) {
    const std::string& type = types.as_array()[i].as_string();
    if (type == "full_attention") continue;
    if (type != "sliding_attention")
      throw Error(ErrorCode::unsupported, cat("config: layer type ", type, " is not built"));
    if (window == 0)
      throw Error(ErrorCode::invalid_argument,
                  "config: layer_types has sliding_attention, but no sliding_window is in force");
    windows[i] = window;
  }
  return windows;
}

Activation ConfigReader::activation(std::string_view key) {
  std::string name = get<std::string>(key, "silu");
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  throw Error(ErrorCode::unsupported, cat("config: ", key, " ", name, " is not built"));
}

void check_heads(int heads, int kv_heads, int head_dim) {
  if (kv_heads > heads || heads % kv_heads != 0)
    throw Error(ErrorCode::invalid_argument,
                cat("config: ", heads, " attention heads are no multiple of ", kv_heads,
                    " key/value heads"));
  if (head_dim < 2 || head_dim > 1024 || head_dim % 2 != 0)
    throw Error(ErrorCode::invalid_argument,
                cat("config: head size is ", head_dim, ", expected an even number up to 1024"));
}

void ConfigReader::refuse_unread() const {
  for (const Option& option : known_options()) {
    const Json& value = config_[option.key];
    if (value.is_null() || obeyed_.contains(option.key) || value == option.neutral) continue;
    throw Error(ErrorCode::unsupported,
                cat("config: ", option.key, " = ", value.dump(), " is not built for this model"));
  }
}

}  // namespace crane
