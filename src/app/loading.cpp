#include "app/loading.h"

#include <functional>
#include <utility>

#include "app/model_path.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace crane {
namespace {

LoadOptions load_options(const Invocation& invocation) {
  const Options& options = invocation.options;
  LoadOptions load;
  load.path = resolve_model(options.model, invocation.environment);
  load.dtype = options.dtype;
  load.threads = options.threads;
  load.isa = options.isa;
  load.chat_template = options.chat_template;
  if (!options.chat_template_file.empty()) {
    if (!options.chat_template.empty())
      throw Error(ErrorCode::invalid_argument,
                  "--chat-template and --chat-template-file: expected only one of them");
    load.chat_template = read_text_file(options.chat_template_file);
  }
  return load;
}

}  // namespace

TextBundle load_text_side(const Invocation& invocation) {
  return load_text(load_options(invocation));
}

ModelBundle load_whole_model(const Invocation& invocation, const std::function<bool()>& stop) {
  LoadOptions load = load_options(invocation);
  Progress progress("load", invocation.options.quiet);
  load.progress = [&](int64_t done, int64_t total) {
    if (stop && stop()) throw Error(ErrorCode::invalid_argument, "interrupted while loading");
    progress.update(done, total);
  };
  return load_model(load);
}

EngineOptions engine_options(const Options& options) {
  EngineOptions engine;
  if (!options.streams.empty()) engine.max_running = options.streams.front();
  engine.batch_tokens = options.batch_tokens;
  engine.chunk_tokens = options.chunk_tokens;
  engine.context_length = options.context_length;
  engine.prefix_cache = options.prefix_cache;
  const std::string& type = options.kv_type == "auto" ? options.kv_type_v : options.kv_type;
  if (options.kv_type_v != "auto" && options.kv_type_v != type)
    throw Error(ErrorCode::unsupported, cat("--cache-type-v ", options.kv_type_v,
                                            ": keys and values of different types are "
                                            "not built, the keys are ",
                                            type));
  if (type == "f32") engine.kv_type = DType::f32;
  if (type == "f16") engine.kv_type = DType::f16;
  if (type != "auto" && !engine.kv_type)
    throw Error(ErrorCode::unsupported,
                cat("--kv-cache-dtype ", type, ": not built yet; accepted: auto, f32, f16"));
  return engine;
}

const Tokenizer& require_tokenizer(const TextBundle& text) {
  if (!text.tokenizer)
    throw Error(ErrorCode::unsupported,
                cat(text.checkpoint.path(), ": the model has no tokenizer; give --ids"));
  return *text.tokenizer;
}

std::string read_given_text(const Options& options) {
  if (options.text.has_value() == options.file.has_value())
    throw Error(ErrorCode::invalid_argument, "expected one of --text and --file");
  return options.text ? *options.text : read_text_argument(*options.file);
}

Json ids_to_json(const std::vector<int32_t>& ids) {
  JsonArray array;
  array.reserve(ids.size());
  for (int32_t id : ids) array.emplace_back(int64_t{id});
  return array;
}

}  // namespace crane
