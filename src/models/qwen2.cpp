// Qwen2 and Qwen2.5, dense: pre-norm, grouped-query attention with biased q/k/v, half-split rotary
// positions, SwiGLU, optional sliding-window layers. Reference: transformers, modeling_qwen2.py.
#include "models/config.h"
#include "models/registry.h"
#include "nn/nn.h"

namespace crane {
namespace {

struct Config {
  int vocab, dim, hidden, layers, heads, kv_heads, head_dim, positions;
  float eps;
  bool tied;
  Activation activation;
  Json rope;
  std::vector<int> windows;  // per layer, 0: full attention

  explicit Config(ConfigReader json)
      : vocab(json.size("vocab_size")),
        dim(json.size("hidden_size")),
        hidden(json.size("intermediate_size")),
        layers(json.size("num_hidden_layers")),
        heads(json.size("num_attention_heads")),
        kv_heads(json.size("num_key_value_heads", heads)),
        head_dim(json.size("head_dim", dim / heads)),
        positions(json.size("max_position_embeddings", 32768)),
        eps(json.get<float>("rms_norm_eps", 1e-6f)),
        tied(json.get<bool>("tie_word_embeddings", false)),
        activation(json.activation("hidden_act")),
        rope(json.rope_parameters(10000.0)),
        windows(json.layer_windows(layers, 28)) {
    check_heads(heads, kv_heads, head_dim);
    json.refuse_unread();
  }
};

struct Attention {
  int q_dim, kv_dim, head_dim, window;
  nn::Linear qkv, output;

  Attention(const Weights& w, const Config& c, int layer)
      : q_dim(c.heads * c.head_dim),
        kv_dim(c.kv_heads * c.head_dim),
        head_dim(c.head_dim),
        window(c.windows[static_cast<size_t>(layer)]),
        qkv(w, c.dim,
            {{"q_proj", q_dim, nn::Bias::yes},
             {"k_proj", kv_dim, nn::Bias::yes},
             {"v_proj", kv_dim, nn::Bias::yes}}),
        output(w / "o_proj", q_dim, c.dim) {}

  Tensor operator()(const Tensor& x, const Tensor& angles, KvCache::Layer& cache,
                    const Batch& batch) const {
    Tensor joined = qkv(x);
    Tensor q = ops::rope(joined.slice(1, 0, q_dim).heads(head_dim), angles);
    Tensor k = ops::rope(joined.slice(1, q_dim, kv_dim).heads(head_dim), angles);
    Tensor v = joined.slice(1, q_dim + kv_dim, kv_dim).heads(head_dim);
    return output(ops::attention(q, k, v, cache, batch, {.window = window}).flat());
  }
};

struct Block {
  nn::RmsNorm attention_norm;
  Attention attention;
  nn::RmsNorm mlp_norm;
  nn::GatedMlp mlp;

  Block(const Weights& w, const Config& c, int layer)
      : attention_norm(w / "input_layernorm", c.dim, c.eps),
        attention(w / "self_attn", c, layer),
        mlp_norm(w / "post_attention_layernorm", c.dim, c.eps),
        mlp(w / "mlp", c.dim, c.hidden, c.activation) {}
};

struct Qwen2 final : TextModel {
  Config c;
  nn::Embedding embed;
  std::vector<Block> blocks;
  nn::RmsNorm norm;
  nn::Linear head;
  nn::Rope rope;

  Qwen2(const Json& json, const Weights& w)
      : c(ConfigReader(json)),
        embed(w / "model.embed_tokens", c.vocab, c.dim),
        blocks(nn::stack<Block>(w / "model.layers", c.layers, c)),
        norm(w / "model.norm", c.dim, c.eps),
        head(c.tied ? embed.as_linear() : nn::Linear(w / "lm_head", c.dim, c.vocab)),
        rope(c.rope, c.head_dim, c.positions) {}

  int vocab_size() const override { return c.vocab; }
  int context_length() const override { return c.positions; }
  StateSpec state_spec() const override {
    return StateSpec::attention(c.layers, c.kv_heads, c.head_dim);
  }

  Tensor forward(const Batch& batch, KvCache& cache) const override {
    Tensor x = embed(batch);
    Tensor angles = rope(x.device(), batch);
    for (int i = 0; i < c.layers; ++i) {
      const Block& block = blocks[static_cast<size_t>(i)];
      x = x + block.attention(block.attention_norm(x), angles, cache.layer(i), batch);
      x = x + block.mlp(block.mlp_norm(x));
    }
    return head(norm(ops::rows(x, batch.logit_rows)));
  }
};

}  // namespace

TextModelPtr make_qwen2(const Json& config, const Weights& weights) {
  return std::make_unique<Qwen2>(config, weights);
}

}  // namespace crane
