// Every tiny checkpoint of tests/golden/models, in both formats, against the log-probs that the
// reference implementation computed for it, and against itself: alone = batched = chunked, one
// thread = several, prefill = token by token, safetensors = GGUF, bit for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/mapped_file.h"
#include "base/strings.h"
#include "pipelines/text_generation.h"

namespace crane {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(CRANE_SOURCE_DIR) / "tests/golden/models";

std::vector<std::string> checkpoint_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    std::string file = entry.path().filename().string();
    size_t suffix = file.find(".expected.json");
    if (suffix != std::string::npos) names.push_back(file.substr(0, suffix));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> files_of(const std::string& name) {
  std::vector<std::string> files;
  // A split GGUF is opened by any of its parts.
  for (const char* suffix : {"", ".gguf", "-00002-of-00004.gguf"})
    if (fs::exists(kFolder / (name + suffix)))
      files.push_back((kFolder / (name + suffix)).string());
  return files;
}

std::vector<int32_t> ids_of(const Json& array) {
  std::vector<int32_t> ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_integer()));
  return ids;
}

struct RunSetup {
  std::string dtype = "auto";
  int threads = 2;
  int chunk = 512;
};

std::vector<ScoreResult> score(const std::string& file, const RunSetup& setup,
                               const std::vector<std::vector<int32_t>>& prompts, int top) {
  LoadOptions options;
  options.path = file;
  options.dtype = setup.dtype;
  options.threads = setup.threads;
  ModelBundle bundle = load_model(options);
  EngineOptions engine;
  engine.chunk_tokens = setup.chunk;
  engine.context_length = 512;  // some were made for less than the sequences reach
  return TextGeneration(bundle, engine).score(prompts, top);
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  GoldenTest() {
    std::string path = (kFolder / (GetParam() + ".expected.json")).string();
    expected_ = Json::parse(read_text_file(path), path);
    for (const Json& sequence : expected_["sequences"].as_array())
      prompts_.push_back(ids_of(sequence["ids"]));
  }

  // Differences of all log-probs that the golden names, one list over all sequences.
  std::vector<double> differences(const std::string& file, const std::string& dtype) {
    size_t vocab = expected_["sequences"].as_array()[0]["last"].as_array().size();
    std::vector<ScoreResult> results =
        score(file, {.dtype = dtype}, prompts_, static_cast<int>(vocab));
    std::vector<double> differences;
    for (size_t s = 0; s < results.size(); ++s) {
      const Json& sequence = expected_["sequences"].as_array()[s];
      const ScoreResult& result = results[s];
      const JsonArray& next = sequence["next"].as_array();
      for (size_t i = 0; i < next.size(); ++i)
        differences.push_back(result.logprobs[i + 1] - next[i].as_number());
      const JsonArray& last = sequence["last"].as_array();
      for (const TokenLogprob& token : result.top.back())
        differences.push_back(token.logprob - last[static_cast<size_t>(token.id)].as_number());
      add_top_differences(sequence, result, differences);
    }
    return differences;
  }

  Json expected_;
  std::vector<std::vector<int32_t>> prompts_;

 private:
  static void add_top_differences(const Json& sequence, const ScoreResult& result,
                                  std::vector<double>& differences) {
    const JsonArray& ids = sequence["top_ids"].as_array();
    for (size_t i = 0; i < ids.size(); ++i)
      for (size_t k = 0; k < ids[i].as_array().size(); ++k) {
        int64_t id = ids[i].as_array()[k].as_integer();
        auto at = std::find_if(result.top[i].begin(), result.top[i].end(),
                               [id](const TokenLogprob& token) { return token.id == id; });
        ASSERT_NE(at, result.top[i].end());
        differences.push_back(at->logprob -
                              sequence["top"].as_array()[i].as_array()[k].as_number());
      }
  }
};

bool is_quantized(const std::string& file) {
  Checkpoint checkpoint = Checkpoint::open(file);
  for (const std::string& tensor : checkpoint.tensor_names())
    if (is_block_type(checkpoint.find(tensor)->dtype)) return true;
  return false;
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (double value : values) result = std::max(result, std::fabs(value));
  return result;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += std::fabs(value);
  return sum / static_cast<double>(values.size());
}

TEST_P(GoldenTest, ReferenceModeEqualsTheReference) {
  ASSERT_FALSE(files_of(GetParam()).empty());
  for (const std::string& file : files_of(GetParam()))
    EXPECT_LT(largest(differences(file, "f32")), 1e-3) << file;
}

TEST_P(GoldenTest, EverydayModeIsNear) {
  for (const std::string& file : files_of(GetParam())) {
    std::vector<double> found = differences(file, "auto");
    if (is_quantized(file)) {
      // Activations are rounded to 8 bits, which these random layers amplify.
      EXPECT_LT(mean(found), 0.06) << file;
    } else {
      EXPECT_LT(largest(found), 0.05) << file;
    }
  }
}

TEST_P(GoldenTest, ChunksBatchesAndThreadsChangeNoBit) {
  for (const char* dtype : {"f32", "auto"}) {
    std::string file = files_of(GetParam()).front();
    std::vector<ScoreResult> together = score(file, {.dtype = dtype}, prompts_, 3);
    for (const RunSetup& setup :
         {RunSetup{dtype, 1, 512}, RunSetup{dtype, 2, 1}, RunSetup{dtype, 3, 7}}) {
      for (size_t i = 0; i < prompts_.size(); ++i) {
        ScoreResult alone = score(file, setup, {prompts_[i]}, 3).front();
        ASSERT_EQ(alone.logprobs.size(), together[i].logprobs.size());
        for (size_t t = 1; t < alone.logprobs.size(); ++t)
          ASSERT_EQ(alone.logprobs[t], together[i].logprobs[t])
              << dtype << ", chunks of " << setup.chunk << ", token " << t;
      }
    }
  }
}

TEST_P(GoldenTest, BothFormatsGiveTheSameBits) {
  std::vector<std::string> files = files_of(GetParam());
  if (files.size() < 2) GTEST_SKIP() << "one format only";
  std::vector<ScoreResult> first = score(files[0], {.dtype = "f32"}, prompts_, 0);
  std::vector<ScoreResult> second = score(files[1], {.dtype = "f32"}, prompts_, 0);
  for (size_t i = 0; i < first.size(); ++i)
    for (size_t t = 1; t < first[i].logprobs.size(); ++t)
      ASSERT_EQ(first[i].logprobs[t], second[i].logprobs[t]);
}

// Runs a request and gives its generated tokens with their log-probs.
std::vector<TokenEvent> generate(Engine& engine, const std::vector<int32_t>& prompt, int count) {
  std::vector<TokenEvent> tokens;
  bool finished = false;
  Request request;
  request.prompt = prompt;
  request.sampling.temperature = 0;
  request.max_tokens = count;
  request.logprobs = true;
  request.on_token = [&](const TokenEvent& token) { tokens.push_back(token); };
  request.on_finish = [&](const FinishEvent& event) {
    EXPECT_EQ(event.reason, FinishReason::length);
    finished = true;
  };
  engine.submit(std::move(request));
  while (!finished && engine.step()) {
  }
  return tokens;
}

TEST_P(GoldenTest, PrefillEqualsTokenByToken) {
  LoadOptions options;
  options.path = files_of(GetParam()).front();
  options.threads = 2;
  ModelBundle bundle = load_model(options);
  if (bundle.device->backend().modes_differ()) GTEST_SKIP() << "two modes of arithmetic";
  std::vector<TokenEvent> generated;
  {
    Engine engine(*bundle.device, *bundle.model, {.context_length = 512});
    generated = generate(engine, prompts_[1], 90);  // over a block border
  }
  ASSERT_EQ(generated.size(), 90u);
  std::vector<int32_t> all = prompts_[1];
  for (const TokenEvent& token : generated) all.push_back(token.id);
  ScoreResult scored = TextGeneration(bundle, {.context_length = 512}).score({all}, 1).front();
  for (size_t i = 0; i < generated.size(); ++i) {
    ASSERT_EQ(scored.logprobs[prompts_[1].size() + i], generated[i].logprob) << "token " << i;
    ASSERT_EQ(scored.top[prompts_[1].size() + i - 1][0].id, generated[i].id) << "token " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GoldenTest, testing::ValuesIn(checkpoint_names()),
                         [](const auto& name) {
                           std::string text = name.param;
                           for (char& c : text)
                             if (c == '-') c = '_';
                           return text;
                         });

}  // namespace
}  // namespace crane
