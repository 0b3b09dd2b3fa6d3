#include "nn/rope.h"

#include <gtest/gtest.h>

#include <string>

#include "base/mapped_file.h"

namespace crane {
namespace {

Json golden() {
  std::string path = CRANE_SOURCE_DIR "/tests/golden/rope/rope.json";
  return Json::parse(read_text_file(path), path);
}

// Frequencies and magnitudes that transformers computes for the same parameters.
TEST(Rope, FrequenciesEqualTheReference) {
  Json data = golden();
  for (const Json& c : data["cases"].as_array()) {
    nn::Rope rope(c["parameters"], c.get<int>("head_dim"), c.get<int>("positions"));
    const JsonArray& expected = c["frequencies"].as_array();
    ASSERT_EQ(rope.frequencies().size(), expected.size()) << c["parameters"].dump();
    for (size_t i = 0; i < expected.size(); ++i) {
      float frequency = static_cast<float>(expected[i].as_number());
      EXPECT_NEAR(rope.frequencies()[i], frequency, 2e-6f * frequency)
          << c["parameters"].dump() << " at " << i;
    }
    EXPECT_NEAR(rope.magnitude(), c.get<float>("magnitude"), 1e-6f) << c["parameters"].dump();
  }
}

TEST(Rope, OlderSpellingOfTheType) {
  Json old = Json::parse(R"({"type": "linear", "factor": 2.0, "rope_theta": 100.0})", "test");
  nn::Rope rope(old, 4, 128);
  EXPECT_FLOAT_EQ(rope.frequencies()[0], 0.5f);
  EXPECT_FLOAT_EQ(rope.frequencies()[1], 0.05f);
}

std::string refusal(const char* parameters, int rotary_dim = 8) {
  try {
    nn::Rope rope(Json::parse(parameters, "test"), rotary_dim, 64);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Rope, RefusesWhatItCannotObey) {
  EXPECT_NE(refusal(R"({"rope_type": "dynamic", "factor": 2.0})").find("dynamic"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"rope_type": "yarn", "factor": 0})").find("factor"), std::string::npos);
  EXPECT_NE(refusal(R"({"rope_theta": -1})").find("rope_theta"), std::string::npos);
  EXPECT_NE(refusal(R"({})", 7).find("even"), std::string::npos);
}

}  // namespace
}  // namespace crane
