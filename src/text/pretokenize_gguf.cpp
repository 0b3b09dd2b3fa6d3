#include <algorithm>
#include <array>

#include "text/pretokenize.h"

// The patterns are those of the models' own tokenizer.json files, as llama.cpp's
// src/llama-vocab.cpp records them beside each name. Where llama.cpp only approximates one because
// std::regex cannot express it (tekken, gpt-4o, kimi-k2, tiny_aya), the original stands here.

namespace crane {
namespace {

// clang-format off
constexpr std::string_view kGpt2 =
    R"re('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kNumbers = R"re(\p{N}+)re";
constexpr std::string_view kThreeDigits = R"re([0-9][0-9][0-9])re";
constexpr std::string_view kLlama3 =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
    R"re(\s+(?!\S)|\s+)re";
constexpr std::string_view kJais2 =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
    R"re(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|)re"
    R"re(\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})re";
constexpr std::string_view kLineEnd = "[\r\n]";
constexpr std::string_view kDeepSeekLlmPart2 =
    R"re(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-)re"
    R"re(ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮ)re"
    R"re(ⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)re";
constexpr std::string_view kCjkHangul = R"re([一-龥ࠀ-一가-퟿]+)re";
constexpr std::string_view kUpToThreeNumbers = R"re(\p{N}{1,3})re";
constexpr std::string_view kCjk = R"re([一-龥぀-ゟ゠-ヿ]+)re";
constexpr std::string_view kDeepSeek3Words =
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)re"
    R"re([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|)re"
    R"re(\s+(?!\S)|\s+)re";
constexpr std::string_view kSparkPart3 =
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)re"
    R"re([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)re";
constexpr std::string_view kNumber = R"re(\p{N})re";
constexpr std::string_view kYoutuPart1 =
    R"re([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|)re"
    R"re([一-龥぀-ゟ゠-ヿ]+)re";
constexpr std::string_view kYoutuWords =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sS])re"
    R"re(|)re"
    R"re('[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'[sS])re"
    R"re(|)re"
    R"re('[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kQwen2 =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|)re"
    R"re(\s+)re";
constexpr std::string_view kQwen35 =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kBloom = R"re( ?[^(\s|.,!?…。，、।۔،)]+)re";
constexpr std::string_view kTekken =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)re"
    R"re(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kChameleonPart2 = R"re((IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z)re";
constexpr std::string_view kGpt4o =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sS])re"
    R"re(|)re"
    R"re('[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'[sS])re"
    R"re(|)re"
    R"re('[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\p{N}{1,3}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kKimi =
    R"re([\p{Han}]+|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{)re"
    R"re(M}&&[^\p{Han}]]+(?:'[sS]|)re"
    R"re('[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{)re"
    R"re(M}&&[^\p{Han}]]*(?:'[sS]|)re"
    R"re('[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\p{N}{1,3}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kBailing =
    R"re('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)re";
constexpr std::string_view kSeedCoder =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|)re"
    R"re(\s+)re";
constexpr std::string_view kUfakzeka =
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|)re"
    R"re(\s+)re";
constexpr std::string_view kAfmoePart2 =
    R"re([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)re";
constexpr std::string_view kLines = R"re([^\n]+|[\n]+)re";
constexpr std::string_view kExaoneMoe =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)re";
constexpr std::string_view kMiniCpm5Words =
    R"re((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)re"
    R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
    R"re(\s+(?!\S)|\s+)re";

struct Row {
  std::vector<std::string_view> names;
  GgufPreTokenizer pre_tokenizer;
};

const std::vector<Row> kRows = {
      {{"default"},
       {.patterns = {R"re([\p{P}\$\+<=>\^~\|]+)re", kGpt2, kNumbers, kThreeDigits}}},
      {{"minicpm5"},
       {.patterns = {kUpToThreeNumbers, kMiniCpm5Words}, .ignore_merges = true}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
        "jina-v5-nano"},
       {.patterns = {kLlama3}, .ignore_merges = true, .add_bos = true}},
      {{"deepseek-llm"},
       {.patterns = {kLineEnd, kDeepSeekLlmPart2, R"re(\s?[!-/:-~！-／：-～‘-‟　-。]+)re", R"re(\s+$)re", kCjkHangul, kNumbers}}},
      {{"deepseek-coder"},
       {.patterns = {kLineEnd, R"re(\s?\p{L}+)re", R"re(\s?\p{P}+)re", kCjkHangul, kNumber}}},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
       {.patterns = {kUpToThreeNumbers, kCjk, kDeepSeek3Words}}},
      {{"spark2_5"},
       {.patterns = {kUpToThreeNumbers, kCjk, kSparkPart3, kNumber}}},
      {{"youtu"},
       {.patterns = {kYoutuPart1, kYoutuWords}, .ignore_merges = true}},
      {{"falcon"},
       {.patterns = {R"re([\p{P}\$\+<=>\^~\|`]+)re", kGpt2, kThreeDigits}}},
      {{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b",
        "mellum2"},
       {.patterns = {kNumber, kGpt2}}},
      {{"gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de",
        "a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling",
        "exaone4"},
       {.patterns = {kGpt2}}},
      {{"jina-v1-en", "jina-v2-code", "roberta-bpe"},
       {.patterns = {kGpt2}}},
      {{"jais-2"},
       {.patterns = {kJais2}}},
      {{"gemma4", "granite-embed-multi-311m"},
       {.patterns = {kLines}, .escape_spaces = true, .whole_newlines = true, .add_bos = true}},
      {{"sarvam-moe"},
       {.patterns = {kLines}, .escape_spaces = true}},
      {{"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan",
        "solar-open", "grok-2"},
       {.patterns = {kQwen2}}},
      {{"qwen35"},
       {.patterns = {kQwen35}}},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"},
       {.patterns = {kLlama3}}},
      {{"glm4", "glm5"},
       {.patterns = {kLlama3}, .ignore_merges = true}},
      {{"poro-chat", "bloom", "gpt3-finnish"},
       {.patterns = {kBloom}}},
      {{"viking"},
       {.patterns = {kBloom, kNumber}}},
      {{"tekken"},
       {.patterns = {kTekken}, .ignore_merges = true, .add_bos = true}},
      {{"chameleon"},
       {.patterns = {R"re(<sentinel:[0-9]+>)re", kChameleonPart2, R"re(([\t\n]|    |  ))re", kNumber, R"re([\p{P}!-/:-@\[-`{-~])re", kGpt2}, .add_bos = true}},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
       {.patterns = {kGpt4o}}},
      {{"granite-embed-multi-97m"},
       {.patterns = {kGpt4o}, .ignore_merges = true}},
      {{"tiny_aya", "cohere2moe"},
       {.patterns = {R"re(\d{1,3}(?=(?:\d{3})*\b))re", kGpt4o}}},
      {{"superbpe"},
       {.patterns = {kNumbers, R"re((?=(\d{3})+(?!\d)))re"}}},
      {{"bailingmoe", "bailingmoe2", "llada-moe"},
       {.patterns = {kBailing}}},
      {{"seed-coder"},
       {.patterns = {kSeedCoder}}},
      {{"kimi-k2"},
       {.patterns = {kKimi}}},
      {{"ufakzeka"},
       {.patterns = {kUfakzeka}}},
      {{"afmoe"},
       {.patterns = {R"re(\p{AFMoE_digits})re", kAfmoePart2, kDeepSeek3Words}}},
      {{"laguna"},
       {.patterns = {kLines, kQwen2}}},
      {{"exaone-moe"},
       {.patterns = {kExaoneMoe}}},
};
// clang-format on

}  // namespace

const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name) {
  for (const Row& row : kRows)
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end())
      return &row.pre_tokenizer;
  return nullptr;
}

}  // namespace crane
