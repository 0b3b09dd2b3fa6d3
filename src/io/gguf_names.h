// Brings a GGUF file to the form of a Hugging Face checkpoint: tensor names, and a config.json made
// from the metadata. One small table per architecture; a new one is a row and its differences.
// Reference: gguf-py (gguf/constants.py, tensor_mapping.py) and llama.cpp's conversion scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/metadata.h"
#include "io/gguf.h"

namespace crane {

struct GgufFamily;  // the tables of one architecture

// The family that `general.architecture` names. Throws Error(unsupported) that lists the known
// ones, Error(io) when the key is missing.
const GgufFamily& gguf_family(const Metadata& metadata, std::string_view where);

// "blk.3.attn_q.weight" to "model.layers.3.self_attn.q_proj.weight". A name outside the tables
// stays as it is, so that loading reports it as unused.
std::string hugging_face_name(const GgufFamily& family, std::string_view gguf_name);

// Keys as in config.json: model_type, architectures, sizes, rope_parameters, layer_types,
// bos_token_id, eos_token_id, tie_word_embeddings. Throws Error(io) for a missing or impossible
// value, Error(unsupported) for a key that would change the computation and that the family's
// tables do not know.
Json hugging_face_config(const GgufFamily& family, const Metadata& metadata,
                         const std::vector<GgufTensor>& tensors, std::string_view where);

}  // namespace crane
