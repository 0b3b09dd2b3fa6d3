// ModelBundle: what one load gives and one place owns: device, model, tokenizer, chat template,
// stop ids, sampling defaults.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/device.h"
#include "engine/request.h"
#include "io/checkpoint.h"
#include "models/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace crane {

struct LoadOptions {
  std::string path;            // a .gguf file (any shard) or a folder with config.json
  std::string dtype = "auto";  // auto | f32
  int threads = 0;             // 0: all usable CPUs
  std::string isa = "auto";
  std::string chat_template;  // overrides the model's when not empty
  // Called while weights load; done and total in bytes.
  std::function<void(int64_t done, int64_t total)> progress;
};

// Text side only: what tokenize, template and show need. A GGUF with only a vocabulary works.
struct TextBundle {
  Checkpoint checkpoint;
  std::shared_ptr<const Tokenizer> tokenizer;         // null when the model has none
  std::shared_ptr<const ChatTemplate> chat_template;  // null when the model has none
  std::string bos_text, eos_text;                     // for templates; empty when absent
  std::vector<int32_t> stop_ids;
  SamplingParams sampling;  // generation_config.json over the built-in values
};

struct ModelBundle {
  TextBundle text;
  std::unique_ptr<Device> device;
  TextModelPtr model;
  bool quantized = false;  // any weight is block-quantised
  double load_ms = 0;
};

// Throws Error naming file, key or tensor when something is wrong.
TextBundle load_text(const LoadOptions& options);
ModelBundle load_model(const LoadOptions& options);

}  // namespace crane
