// Which files a path given by the user means.
#pragma once

#include <string>

namespace crane {

struct CheckpointPath {
  enum class Format { gguf, safetensors };
  Format format = Format::gguf;
  std::string folder;  // safetensors: where the JSON files stand
  std::string file;    // gguf: path; safetensors: name in `folder`, of weights or of an index
};

// Throws Error(not_found) when nothing is there, Error(unsupported) for formats that are not read
// (.bin, .pt, .ckpt, …), Error(invalid_argument) when the path could mean several models.
CheckpointPath find_checkpoint(const std::string& path);

}  // namespace crane
