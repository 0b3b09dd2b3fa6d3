#include "engine/sampling_params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "base/error.h"

namespace crane {
namespace {

const float kInfinity = std::numeric_limits<float>::infinity();

std::string refusal(const std::function<void(SamplingParams&)>& change) {
  SamplingParams params;
  change(params);
  try {
    validate(params, 100);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(SamplingParams, DefaultsAndEdgesAreLegal) {
  EXPECT_EQ(refusal([](SamplingParams&) {}), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.temperature = 0; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.top_p = 0; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.top_k = -1; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.frequency_penalty = -2; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.min_p = 1; }), "");
  EXPECT_EQ(refusal([](SamplingParams& p) { p.logit_bias = {{99, -kInfinity}}; }), "");
}

TEST(SamplingParams, EachRangeIsChecked) {
  using Change = std::function<void(SamplingParams&)>;
  const std::pair<const char*, Change> cases[] = {
      {"temperature", [](SamplingParams& p) { p.temperature = -1; }},
      {"temperature", [](SamplingParams& p) { p.temperature = NAN; }},
      {"temperature", [](SamplingParams& p) { p.temperature = kInfinity; }},
      {"dynatemp_range", [](SamplingParams& p) { p.dynamic_temperature_range = -0.1f; }},
      {"dynatemp_exponent", [](SamplingParams& p) { p.dynamic_temperature_exponent = NAN; }},
      {"top_k", [](SamplingParams& p) { p.top_k = -2; }},
      {"top_p", [](SamplingParams& p) { p.top_p = 1.1f; }},
      {"top_p", [](SamplingParams& p) { p.top_p = -0.1f; }},
      {"min_p", [](SamplingParams& p) { p.min_p = 2; }},
      {"typical_p", [](SamplingParams& p) { p.typical_p = NAN; }},
      {"top_n_sigma", [](SamplingParams& p) { p.top_n_sigma = NAN; }},
      {"xtc_probability", [](SamplingParams& p) { p.xtc_probability = 1.5f; }},
      {"xtc_threshold", [](SamplingParams& p) { p.xtc_threshold = -1; }},
      {"repeat_penalty", [](SamplingParams& p) { p.repeat_penalty = 0; }},
      {"frequency_penalty", [](SamplingParams& p) { p.frequency_penalty = 2.1f; }},
      {"presence_penalty", [](SamplingParams& p) { p.presence_penalty = -2.1f; }},
      {"repeat_last_n", [](SamplingParams& p) { p.penalty_last_n = -2; }},
      {"dry_multiplier", [](SamplingParams& p) { p.dry_multiplier = -1; }},
      {"dry_base", [](SamplingParams& p) { p.dry_base = kInfinity; }},
      {"dry_allowed_length", [](SamplingParams& p) { p.dry_allowed_length = -1; }},
      {"dry_penalty_last_n", [](SamplingParams& p) { p.dry_penalty_last_n = -2; }},
      {"dry_sequence_breakers", [](SamplingParams& p) { p.dry_sequence_breakers = {{100}}; }},
      {"mirostat", [](SamplingParams& p) { p.mirostat = 3; }},
      {"mirostat_tau", [](SamplingParams& p) { p.mirostat_tau = -1; }},
      {"mirostat_eta", [](SamplingParams& p) { p.mirostat_eta = NAN; }},
      {"min_keep", [](SamplingParams& p) { p.min_keep = -1; }},
      {"logit_bias",
       [](SamplingParams& p) {
         p.logit_bias = {{100, 0.0f}};
       }},
      {"logit_bias",
       [](SamplingParams& p) {
         p.logit_bias = {{-1, 0.0f}};
       }},
      {"logit_bias",
       [](SamplingParams& p) {
         p.logit_bias = {{1, kInfinity}};
       }},
      {"logit_bias",
       [](SamplingParams& p) {
         p.logit_bias = {{1, NAN}};
       }},
  };
  for (const auto& c : cases) {
    std::string message = refusal(c.second);
    EXPECT_NE(message.find(c.first), std::string::npos) << c.first << ": " << message;
    EXPECT_NE(message.find("expected"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace crane
