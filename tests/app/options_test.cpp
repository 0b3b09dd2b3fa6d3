#include "app/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/option_table.h"
#include "app/option_values.h"
#include "base/error.h"

namespace crane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Environment variables(std::map<std::string, std::string> values = {}) {
  return [values](const std::string& name) -> std::optional<std::string> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

Options parse(Verb verb, const std::vector<std::string>& arguments) {
  return parse_options(verb, arguments, variables());
}

std::string message_of(Verb verb, const std::vector<std::string>& arguments,
                       const Environment& environment = variables()) {
  try {
    parse_options(verb, arguments, environment);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

SamplingParams sampling(const Options& options) {
  SamplingParams params;
  for (const auto& change : options.sampling) change(params);
  return params;
}

TEST(Options, EverySpellingOfARowMeansTheSame) {
  for (const char* name : {"-m", "--model", "--model-path", "-hf", "--hf-repo"})
    EXPECT_EQ(parse(kScore, {name, "x.gguf"}).model, "x.gguf") << name;
  EXPECT_EQ(parse(kScore, {"x.gguf"}).model, "x.gguf");
  EXPECT_EQ(parse(kScore, {"--model=x.gguf"}).model, "x.gguf");
  for (const char* name :
       {"-c", "--ctx-size", "--max-model-len", "--context-length", "--max-seq-len"})
    EXPECT_EQ(parse(kRun, {name, "4096"}).context_length, 4096) << name;
  for (const char* name : {"-n", "--predict", "--max-new-tokens"})
    EXPECT_EQ(parse(kRun, {name, "7"}).max_tokens, 7) << name;
  EXPECT_EQ(parse(kRun, {"-t4"}).threads, 4);
  EXPECT_EQ(parse(kRun, {"-sys", "Be brief."}).system_prompt, "Be brief.");
  EXPECT_TRUE(parse(kRun, {"-cnv"}).chat);
  EXPECT_TRUE(parse(kRun, {"-no-cnv"}).raw);
  EXPECT_TRUE(parse(kRun, {"-st"}).single_turn);
}

TEST(Options, NoVerbHasASpellingTwice) {
  for (unsigned verb = 1; verb <= kPerplexity; verb <<= 1) {
    std::set<std::string> seen;
    for (const Flag& flag : flag_table()) {
      if (!(flag.verbs & verb)) continue;
      for (const std::string& name : flag.names)
        EXPECT_TRUE(seen.insert(name).second) << name << " in verb " << verb;
    }
    EXPECT_NO_THROW(parse(static_cast<Verb>(verb), {})) << verb;
  }
}

TEST(Options, ValuesAreTakenAsTheyStand) {
  for (const char* text :
       {"", "-ngl", "--json", "{}", "[a,b]", "a=b", "two\nlines", " x ", "\\n", "--", "-"})
    EXPECT_EQ(parse(kScore, {"m", "--text", text}).text, text);
  EXPECT_EQ(parse(kScore, {"m", "--text="}).text, "");
  EXPECT_EQ(parse(kScore, {"m", "--text=--json"}).text, "--json");
}

TEST(Options, RepeatedScalarsTakeTheLastAndListsAll) {
  EXPECT_EQ(parse(kRun, {"-n", "1", "-n", "2"}).max_tokens, 2);
  EXPECT_THAT(parse(kScore, {"m", "--ids", "1,2", "--ids", "3"}).ids,
              ElementsAre(ElementsAre(1, 2), ElementsAre(3)));
  EXPECT_THAT(parse(kRun, {"-r", "a", "--stop", "b"}).stop_strings, ElementsAre("a", "b"));
  EXPECT_THAT(parse(kBench, {"-d", "0,4096", "-np", "1,4,16"}).depths, ElementsAre(0, 4096));
}

TEST(Options, BareWords) {
  Options options = parse(kRun, {"model", "a prompt", "--temp", "0"});
  EXPECT_EQ(options.model, "model");
  EXPECT_THAT(options.positional, ElementsAre("a prompt"));
  EXPECT_THAT(parse(kRun, {"-m", "model", "--", "-x"}).positional, ElementsAre("-x"));
  EXPECT_THAT(message_of(kScore, {"model", "more"}), HasSubstr("unexpected argument 'more'"));
}

TEST(Options, UnknownFlagsOfferTheNearest) {
  EXPECT_EQ(message_of(kRun, {"--tempp", "1"}), "unknown flag --tempp; did you mean --temp?");
  EXPECT_THAT(message_of(kRun, {"--top-q=3"}), AllOf(HasSubstr("--top-q"), HasSubstr("--top-")));
  EXPECT_THAT(message_of(kRun, {"-nglx", "1"}), AllOf(HasSubstr("-nglx"), HasSubstr("mean -ngl?")));
  EXPECT_THAT(message_of(kRun, {"-Z"}), HasSubstr("unknown flag -Z"));
  EXPECT_THAT(message_of(kRun, {"--zzzzzzzzzzzz"}), HasSubstr("--help"));
}

TEST(Options, BadValuesNameFlagValueAndRange) {
  EXPECT_EQ(message_of(kRun, {"--temp", "warm"}),
            "--temp: got 'warm', expected a number from 0 to 1000");
  EXPECT_EQ(message_of(kRun, {"--top-p", "1.5"}),
            "--top-p: got '1.5', expected a number from 0 to 1");
  EXPECT_EQ(message_of(kRun, {"-t", "2x"}), "-t: got '2x', expected a whole number from 0 to 4096");
  EXPECT_THAT(message_of(kRun, {"-n", "-2"}), HasSubstr("-n: got '-2'"));
  EXPECT_THAT(message_of(kRun, {"--temp", "nan"}), HasSubstr("got 'nan'"));
  EXPECT_THAT(message_of(kRun, {"--dtype", "int8"}), HasSubstr("auto, f32, f16, bf16"));
  EXPECT_THAT(message_of(kRun, {"--temp"}), HasSubstr("expected a value"));
  for (const char* ids : {"", "1,,2", "a", "1,-2", "1.5", "99999999999", ","})
    EXPECT_THAT(message_of(kScore, {"m", "--ids", ids}), HasSubstr("--ids: got")) << ids;
}

TEST(Options, UnbuiltFlagsAreRefusedAndNeutralValuesTaken) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--jinja"},
                                                                     {"-fa", "auto"},
                                                                     {"-fa"},
                                                                     {"-fa", "on"},
                                                                     {"-ngl", "0"},
                                                                     {"-ngl", "auto"},
                                                                     {"--device", "cpu"},
                                                                     {"--cpu"},
                                                                     {"--tp", "1"},
                                                                     {"--no-mmproj"},
                                                                     {"--mmap"},
                                                                     {"--offline"},
                                                                     {"--spec-type", "none"},
                                                                     {"--log-colors", "off"},
                                                                     {"-np", "1"}})
    EXPECT_EQ(message_of(kRun, arguments), "") << arguments.front();
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"-ngl", "5"},
                                                                     {"-ngl", "all"},
                                                                     {"-fa", "off"},
                                                                     {"--device", "cuda"},
                                                                     {"--lora", "x"},
                                                                     {"--quant", "q4k"},
                                                                     {"-md", "x"},
                                                                     {"--mlock"},
                                                                     {"--no-mmap"},
                                                                     {"--host", "0.0.0.0"},
                                                                     {"-tb", "4"},
                                                                     {"--log-file", "x"},
                                                                     {"--port", "1"},
                                                                     {"--image", "x"}})
    EXPECT_THAT(message_of(kRun, arguments), HasSubstr(arguments.front())) << arguments.front();
  EXPECT_EQ(parse(kRun, {"-fa", "model.gguf"}).model, "model.gguf");  // the value may be left out
  EXPECT_EQ(parse(kRun, {"--format", "gguf"}).notices.size(), 1u);
}

TEST(Options, SamplingChangesOnlyWhatIsGiven) {
  SamplingParams defaults;
  defaults.top_k = 20;
  Options options =
      parse(kRun, {"--temperature", "0.5", "--seed", "7", "--min-p", "0", "--repeat-penalty", "1.1",
                   "--logit-bias", "5-inf", "-l", "6+1.5"});
  for (const auto& change : options.sampling) change(defaults);
  EXPECT_EQ(defaults.temperature, 0.5f);
  EXPECT_EQ(defaults.top_k, 20);
  EXPECT_EQ(defaults.min_p, 0.0f);
  EXPECT_EQ(defaults.repeat_penalty, 1.1f);
  EXPECT_EQ(defaults.seed, 7u);
  ASSERT_EQ(defaults.logit_bias.size(), 2u);
  EXPECT_EQ(defaults.logit_bias[1], (std::pair<int32_t, float>(6, 1.5f)));
  EXPECT_FALSE(sampling(parse(kRun, {"--seed", "-1"})).seed.has_value());
}

TEST(Options, VariablesStandInForFlags) {
  Environment environment = variables({{"CRANE_TEMP", "0.25"},
                                       {"CRANE_THREADS", "3"},
                                       {"CRANE_JSON", "on"},
                                       {"CRANE_RAW", "off"},
                                       {"CRANE_MODEL", "of-variable"},
                                       {"CRANE_CTX_SIZE", ""}});
  Options options = parse_options(kRun, {}, environment);
  EXPECT_EQ(sampling(options).temperature, 0.25f);
  EXPECT_EQ(options.threads, 3);
  EXPECT_TRUE(options.json);
  EXPECT_FALSE(options.raw);
  EXPECT_EQ(options.model, "of-variable");
  EXPECT_EQ(parse_options(kRun, {"-t", "1"}, environment).threads, 1);
  EXPECT_EQ(parse_options(kRun, {"word"}, environment).model, "word");
  EXPECT_THAT(message_of(kRun, {}, variables({{"CRANE_JSON", "perhaps"}})),
              HasSubstr("CRANE_JSON: got 'perhaps'"));
  EXPECT_THAT(message_of(kRun, {}, variables({{"CRANE_LORA", "x"}})), HasSubstr("CRANE_LORA"));
}

TEST(Options, HelpListsWhatTheVerbTakes) {
  std::string help = describe_options(kTokenize);
  EXPECT_THAT(help, HasSubstr("--lines-json"));
  EXPECT_THAT(help, ::testing::Not(HasSubstr("--temp")));
  EXPECT_THAT(help, ::testing::Not(HasSubstr("--lora")));
}

TEST(OptionValues, Booleans) {
  for (const char* word : {"1", "true", "on", "yes", "enabled", "ON"})
    EXPECT_TRUE(parse_boolean("f", word)) << word;
  for (const char* word : {"0", "false", "off", "no", "disabled"})
    EXPECT_FALSE(parse_boolean("f", word)) << word;
  EXPECT_THROW(parse_boolean("f", "2"), Error);
}

}  // namespace
}  // namespace crane
