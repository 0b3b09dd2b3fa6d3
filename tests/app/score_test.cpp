// crane score and crane perplexity on the tiny checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "app/subprocess.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace crane::test {
namespace {

using ::testing::HasSubstr;

std::string ids_argument(const Json& ids) {
  std::string text = ids.dump();
  return text.substr(1, text.size() - 2);
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line, "line"));
  return lines;
}

void expect_near_reference(const Json& result, const Json& sequence, double tolerance) {
  EXPECT_EQ(result["ids"], sequence["ids"]);
  const JsonArray& logprobs = result["logprobs"].as_array();
  const JsonArray& next = sequence["next"].as_array();
  ASSERT_EQ(logprobs.size(), next.size() + 1);
  EXPECT_TRUE(logprobs[0].is_null());
  for (size_t i = 0; i < next.size(); ++i)
    EXPECT_NEAR(logprobs[i + 1].as_number(), next[i].as_number(), tolerance) << i;
  const JsonArray& top = result["top"].as_array();
  ASSERT_EQ(top.size(), logprobs.size());
  for (size_t i = 0; i < sequence["top"].as_array().size(); ++i)
    for (size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(top[i].as_array()[k].as_array()[1].as_number(),
                  sequence["top"].as_array()[i].as_array()[k].as_number(), tolerance);
}

TEST(ScoreVerb, EqualsTheReferenceForAllIdsOfOneCall) {
  for (const char* name : {"qwen2-f32-tied", "qwen2-chat"}) {
    Json expected =
        Json::parse(read_text_file(golden(std::string(name) + ".expected.json")), "expected");
    const JsonArray& sequences = expected["sequences"].as_array();
    for (const char* dtype : {"f32", "auto"}) {
      std::vector<std::string> call = {"score", "--model", golden(name), "--dtype",
                                       dtype,   "--top",   "3",          "--json"};
      for (const Json& sequence : sequences) {
        call.push_back("--ids");
        call.push_back(ids_argument(sequence["ids"]));
      }
      Outcome outcome = run_crane(call);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      std::vector<Json> results = lines_of(outcome.out);
      ASSERT_EQ(results.size(), sequences.size());
      for (size_t i = 0; i < results.size(); ++i)
        expect_near_reference(results[i], sequences[i], dtype[0] == 'f' ? 1e-3 : 0.05);
    }
  }
}

TEST(ScoreVerb, AloneAndTogetherAreTheSameText) {
  const std::string model = golden("qwen2-f32-tied");
  std::string first = run_crane({"score", model, "--ids", "80,107,2", "--json"}).out;
  std::string second = run_crane({"score", model, "--ids", "2,66,24,9", "--json"}).out;
  EXPECT_EQ(run_crane({"score", model, "--ids", "80,107,2", "--ids", "2,66,24,9", "--json", "-t",
                       "1", "--ubatch-size", "2"})
                .out,
            first + second);
}

TEST(ScoreVerb, TextIsTokenizedAsTokenizeDoes) {
  const std::string model = golden("qwen2-chat");
  Json scored =
      Json::parse(run_crane({"score", model, "--text", "The crane stands", "--json"}).out, "score");
  Json tokens = Json::parse(
      run_crane({"tokenize", model, "--text", "The crane stands", "--json"}).out, "ids");
  EXPECT_EQ(scored["ids"], tokens["ids"]);
  EXPECT_EQ(scored.as_object().find("top"), nullptr);
}

TEST(ScoreVerb, RefusesWhatItCannotScore) {
  const std::string model = golden("qwen2-f32-tied");  // no tokenizer
  EXPECT_THAT(run_crane({"score", model, "--ids", "1,999999", "--json"}).err, HasSubstr("999999"));
  EXPECT_THAT(run_crane({"score", model, "--text", "x", "--json"}).err, HasSubstr("--ids"));
  EXPECT_EQ(run_crane({"score", model, "--ids", "1", "--text", "x"}).code, 1);
  std::string many = "1";
  for (int i = 0; i < 600; ++i) many += ",1";
  Outcome outcome = run_crane({"score", golden("qwen2-chat"), "--ids", many, "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.last_error_line(), HasSubstr("601"));
  EXPECT_THAT(outcome.last_error_line(), HasSubstr("512"));
}

TEST(PerplexityVerb, IsTheMeanOverTheSecondHalvesOfItsChunks) {
  const std::string model = golden("qwen2-chat");
  std::string text;
  for (int i = 0; i < 12; ++i) text += "The crane stands in the water and waits. ";
  TemporaryFile file(text + "\n");
  Outcome outcome =
      run_crane({"perplexity", model, "-f", file.path(), "-c", "32", "--dtype", "f32", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Json result = Json::parse(outcome.out, "perplexity");

  Json ids =
      Json::parse(run_crane({"tokenize", model, "--text", text, "--json"}).out, "ids")["ids"];
  size_t chunks = ids.as_array().size() / 32;
  ASSERT_GE(chunks, 2u);
  double nll = 0;
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    JsonArray part(ids.as_array().begin() + static_cast<ptrdiff_t>(chunk * 32),
                   ids.as_array().begin() + static_cast<ptrdiff_t>(chunk * 32 + 32));
    Json scored = Json::parse(
        run_crane({"score", model, "--ids", ids_argument(part), "--dtype", "f32", "--json"}).out,
        "s");
    for (size_t i = 17; i < 32; ++i) nll -= scored["logprobs"].as_array()[i].as_number();
  }
  nll /= static_cast<double>(chunks * 15);
  EXPECT_EQ(result["chunks"].as_integer(), static_cast<int64_t>(chunks));
  EXPECT_EQ(result["tokens"].as_integer(), static_cast<int64_t>(chunks * 15));
  EXPECT_NEAR(result["nll"].as_number(), nll, 1e-5);
  EXPECT_NEAR(result["perplexity"].as_number(), std::exp(nll), 1e-4);
}

TEST(PerplexityVerb, ShortTextIsRefusedWithBothNumbers) {
  TemporaryFile file("The crane stands");
  Outcome outcome = run_crane({"perplexity", golden("qwen2-chat"), "-f", file.path()});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.last_error_line(), ::testing::AllOf(HasSubstr("5 ids"), HasSubstr("1024")));
}

}  // namespace
}  // namespace crane::test
