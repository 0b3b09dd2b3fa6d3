// crane show: what a model is, from its header; no weight is read.
#include <utility>

#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/strings.h"

namespace crane {
namespace {

// A key of the configuration, also where multimodal ones keep it; null when absent.
Json config_value(const Json& config, const char* key) {
  const Json& value = config[key];
  return value.is_null() ? config["text_config"][key] : value;
}

Json gguf_text(const Checkpoint& checkpoint, const char* key) {
  if (!checkpoint.gguf_metadata()) return {};
  auto text = checkpoint.gguf_metadata()->find_string(key);
  return text ? Json(*text) : Json();
}

std::string stem(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  path.erase(0, path.rfind('/') + 1);
  if (path.size() > 5 && path.compare(path.size() - 5, 5, ".gguf") == 0)
    path.resize(path.size() - 5);
  return path;
}

Json architecture(const Checkpoint& checkpoint) {
  Json named = gguf_text(checkpoint, "general.architecture");
  if (!named.is_null()) return named;
  const Json& type = checkpoint.config()["model_type"];
  if (!type.is_null()) return type;
  const Json& list = checkpoint.config()["architectures"];
  return list.is_array() && !list.as_array().empty() ? list.as_array().front() : Json();
}

// Elements of all tensors, and count and bytes for each type.
struct TensorSummary {
  int64_t parameters = 0;
  JsonObject types;
};

TensorSummary summarize(const Checkpoint& checkpoint) {
  TensorSummary summary;
  for (const std::string& tensor_name : checkpoint.tensor_names()) {
    const CheckpointTensor* tensor = checkpoint.find(tensor_name);
    summary.parameters += tensor->shape.elements();
    Json& row = summary.types[name(tensor->dtype)];
    JsonObject counts;
    counts["count"] = row.get<int64_t>("count", 0) + 1;
    counts["bytes"] = row.get<int64_t>("bytes", 0) + tensor->bytes;
    row = std::move(counts);
  }
  return summary;
}

JsonObject describe(const TextBundle& text) {
  const Checkpoint& checkpoint = text.checkpoint;
  const Json& config = checkpoint.config();
  TensorSummary tensors = summarize(checkpoint);
  JsonObject result;
  result["architecture"] = architecture(checkpoint);
  Json model_name = gguf_text(checkpoint, "general.name");
  result["name"] = model_name.is_null() ? Json(stem(checkpoint.path())) : model_name;
  result["parameters"] = tensors.parameters;
  result["context_length"] = config_value(config, "max_position_embeddings");
  result["embedding_length"] = config_value(config, "hidden_size");
  result["layers"] = config_value(config, "num_hidden_layers");
  Json vocabulary = config_value(config, "vocab_size");
  if (vocabulary.is_null() && text.tokenizer) vocabulary = text.tokenizer->vocab_size();
  result["vocab_size"] = vocabulary;
  result["tensor_types"] = std::move(tensors.types);
  result["tokenizer"] = text.tokenizer ? Json(text.tokenizer->model_name()) : Json();
  result["pre_tokenizer"] = text.tokenizer ? Json(text.tokenizer->pre_tokenizer_name()) : Json();
  result["chat_template"] = text.chat_template != nullptr;
  result["license"] = gguf_text(checkpoint, "general.license");
  JsonArray files;
  for (const Checkpoint::File& file : checkpoint.files()) {
    JsonObject entry;
    entry["path"] = file.path;
    entry["bytes"] = file.bytes;
    files.push_back(std::move(entry));
  }
  result["files"] = std::move(files);
  return result;
}

std::string as_text(const JsonObject& description) {
  std::string out;
  for (const auto& [key, value] : description) {
    std::string label = cat(key, std::string(key.size() < 18 ? 18 - key.size() : 1, ' '));
    if (key == "tensor_types") {
      for (const auto& [type, counts] : value.as_object())
        out += cat("tensors           ", type, ": ", counts.get<int64_t>("count"), ", ",
                   format_bytes(counts.get<int64_t>("bytes")), "\n");
    } else if (key == "files") {
      for (const Json& file : value.as_array())
        out += cat("file              ", file.get<std::string>("path"), ", ",
                   format_bytes(file.get<int64_t>("bytes")), "\n");
    } else {
      out += cat(label,
                 value.is_string() ? value.as_string()
                 : value.is_null() ? "-"
                                   : value.dump(),
                 "\n");
    }
  }
  return out;
}

}  // namespace

int show_verb(const Invocation& invocation) {
  JsonObject description = describe(load_text_side(invocation));
  write_answer(invocation.options.json ? Json(std::move(description)).dump() + "\n"
                                       : as_text(description));
  return 0;
}

}  // namespace crane
