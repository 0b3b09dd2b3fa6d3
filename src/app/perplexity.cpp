// crane perplexity: in llama.cpp's chunking, so that figures compare.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/error.h"
#include "base/strings.h"
#include "pipelines/text_generation.h"

namespace crane {
namespace {

// The ids of the whole text, and the BOS that the tokenizer put before it, if any.
struct Encoded {
  std::vector<int32_t> ids;
  std::optional<int32_t> bos;
};

Encoded encode_text(const Options& options, const Tokenizer& tokenizer) {
  if (!options.file) throw Error(ErrorCode::invalid_argument, "perplexity: expected --file FILE");
  std::string text = read_text_argument(*options.file);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  Encoded encoded{tokenizer.encode(text, {}), std::nullopt};
  std::optional<int32_t> bos = tokenizer.bos();
  std::vector<int32_t> plain = tokenizer.encode(text, {.add_special = false});
  if (bos && !encoded.ids.empty() && encoded.ids.front() == *bos && encoded.ids != plain)
    encoded.bos = bos;
  return encoded;
}

// Sum of -log p over the second half of a chunk, without its last id's successor.
double chunk_nll(const ScoreResult& result) {
  double nll = 0;
  for (size_t i = result.ids.size() / 2 + 1; i < result.ids.size(); ++i)
    nll -= double{result.logprobs.at(i)};
  return nll;
}

}  // namespace

int perplexity_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  size_t length = static_cast<size_t>(options.context_length > 0 ? options.context_length : 512);
  if (length < 4)
    throw Error(ErrorCode::invalid_argument,
                cat("--ctx-size: got ", length, ", expected 4 or more"));
  EngineOptions engine = engine_options(options);
  ModelBundle bundle = load_whole_model(invocation);
  Encoded encoded = encode_text(options, require_tokenizer(bundle.text));
  if (encoded.ids.size() < 2 * length)
    throw Error(ErrorCode::invalid_argument, cat("perplexity: the text has ", encoded.ids.size(),
                                                 " ids, expected at least ", 2 * length));
  engine.context_length = static_cast<int>(length);
  TextGeneration generation(bundle, engine);
  size_t chunks = encoded.ids.size() / length;
  size_t scored = length - length / 2 - 1;
  double total = 0;
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    auto begin = encoded.ids.begin() + static_cast<ptrdiff_t>(chunk * length);
    std::vector<int32_t> ids(begin, begin + static_cast<ptrdiff_t>(length));
    if (encoded.bos) ids.front() = *encoded.bos;
    total += chunk_nll(generation.score({ids}, 0).front());
    double mean = total / static_cast<double>((chunk + 1) * scored);
    if (!std::isfinite(mean))
      throw Error(ErrorCode::internal, cat("perplexity: chunk ", chunk, " gave ", mean));
    if (!options.quiet && stderr_is_terminal())
      write_notice(cat("[", chunk + 1, "/", chunks, "] ", format_fixed(std::exp(mean), 4)));
  }
  double nll = total / static_cast<double>(chunks * scored);
  JsonObject result;
  result["perplexity"] = std::exp(nll);
  result["nll"] = nll;
  result["tokens"] = chunks * scored;
  result["chunks"] = chunks;
  write_answer(options.json ? Json(std::move(result)).dump() + "\n"
                            : cat("perplexity ", format_fixed(std::exp(nll), 4), " over ", chunks,
                                  " chunks of ", length, " ids\n"));
  return 0;
}

}  // namespace crane
