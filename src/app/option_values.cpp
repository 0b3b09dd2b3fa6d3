#include "app/option_values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

[[noreturn]] void bad_value(const std::string& flag, const std::string& value,
                            const std::string& expected) {
  throw Error(ErrorCode::invalid_argument, cat(flag, ": got '", value, "', expected ", expected));
}

double parse_number(const std::string& flag, const std::string& value, double low, double high) {
  std::string expected = high == std::numeric_limits<double>::max()
                             ? cat("a number from ", low, " up")
                             : cat("a number from ", low, " to ", high);
  double number = 0;
  const char* begin = value.data();
  const char* end = begin + value.size();
  if (begin != end && *begin == '+') ++begin;
  auto result = std::from_chars(begin, end, number);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(number) || number < low ||
      number > high)
    bad_value(flag, value, expected);
  return number;
}

}  // namespace

int64_t parse_integer(const std::string& flag, const std::string& value, int64_t low,
                      int64_t high) {
  int64_t number = 0;
  const char* end = value.data() + value.size();
  auto result = std::from_chars(value.data(), end, number);
  if (value.empty() || result.ec != std::errc() || result.ptr != end || number < low ||
      number > high)
    bad_value(flag, value, cat("a whole number from ", low, " to ", high));
  return number;
}

bool parse_boolean(const std::string& flag, const std::string& value) {
  std::string word = to_lower_ascii(value);
  for (const char* yes : {"1", "true", "on", "yes", "enabled"})
    if (word == yes) return true;
  for (const char* no : {"0", "false", "off", "no", "disabled"})
    if (word == no) return false;
  bad_value(flag, value, "1, true, on, yes, enabled, 0, false, off, no or disabled");
}

std::vector<int32_t> parse_ids(const std::string& flag, const std::string& value) {
  std::vector<int32_t> ids;
  for (std::string_view part : split(value, ',')) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    int32_t id = 0;
    auto result = std::from_chars(part.data(), part.data() + part.size(), id);
    if (part.empty() || result.ec != std::errc() || result.ptr != part.data() + part.size() ||
        id < 0)
      bad_value(flag, value.size() > 40 ? std::string(part) : value,
                "token ids separated by commas, such as 1,2,3");
    ids.push_back(id);
  }
  if (ids.empty()) bad_value(flag, value, "token ids separated by commas, such as 1,2,3");
  return ids;
}

FlagSetter set_text(std::string Options::*field) {
  return [field](Options& options, const std::string&, const std::string& value) {
    options.*field = value;
  };
}

FlagSetter set_optional_text(std::optional<std::string> Options::*field) {
  return [field](Options& options, const std::string&, const std::string& value) {
    options.*field = value;
  };
}

FlagSetter append_text(std::vector<std::string> Options::*field) {
  return [field](Options& options, const std::string&, const std::string& value) {
    (options.*field).push_back(value);
  };
}

FlagSetter set_switch(bool Options::*field, bool value) {
  return [field, value](Options& options, const std::string&, const std::string&) {
    options.*field = value;
  };
}

FlagSetter set_integer(int Options::*field, int low, int high) {
  return [=](Options& options, const std::string& flag, const std::string& value) {
    options.*field = static_cast<int>(parse_integer(flag, value, low, high));
  };
}

FlagSetter set_integers(std::vector<int> Options::*field, int low, int high) {
  return [=](Options& options, const std::string& flag, const std::string& value) {
    std::vector<int> numbers;
    for (std::string_view part : split(value, ','))
      numbers.push_back(static_cast<int>(parse_integer(flag, std::string(part), low, high)));
    options.*field = std::move(numbers);
  };
}

FlagSetter set_choice(std::string Options::*field, std::vector<std::string> allowed) {
  return [field, allowed = std::move(allowed)](Options& options, const std::string& flag,
                                               const std::string& value) {
    for (const std::string& word : allowed) {
      if (to_lower_ascii(value) != word) continue;
      options.*field = word;
      return;
    }
    bad_value(flag, value, join(allowed, ", "));
  };
}

FlagSetter append_ids() {
  return [](Options& options, const std::string& flag, const std::string& value) {
    options.ids.push_back(parse_ids(flag, value));
  };
}

FlagSetter set_kwargs() {
  return [](Options& options, const std::string& flag, const std::string& value) {
    Json kwargs = Json::parse(value, flag);
    if (!kwargs.is_object()) bad_value(flag, value, "a JSON object");
    options.chat_template_kwargs = std::move(kwargs);
  };
}

FlagSetter set_sampling(float SamplingParams::*field, double low, double high) {
  return [=](Options& options, const std::string& flag, const std::string& value) {
    float number = static_cast<float>(parse_number(flag, value, low, high));
    options.sampling.push_back([=](SamplingParams& params) { params.*field = number; });
  };
}

FlagSetter set_sampling(int SamplingParams::*field, int low, int high) {
  return [=](Options& options, const std::string& flag, const std::string& value) {
    int number = static_cast<int>(parse_integer(flag, value, low, high));
    options.sampling.push_back([=](SamplingParams& params) { params.*field = number; });
  };
}

FlagSetter set_seed() {
  return [](Options& options, const std::string& flag, const std::string& value) {
    int64_t seed = parse_integer(flag, value, -1, std::numeric_limits<int64_t>::max());
    options.sampling.push_back([seed](SamplingParams& params) {
      params.seed.reset();  // -1: from the system's entropy
      if (seed >= 0) params.seed = static_cast<uint64_t>(seed);
    });
  };
}

FlagSetter add_logit_bias() {
  return [](Options& options, const std::string& flag, const std::string& value) {
    size_t sign = value.find_first_of("+-");
    if (sign == std::string::npos || sign == 0) bad_value(flag, value, "ID+VALUE or ID-VALUE");
    int32_t id = parse_ids(flag, value.substr(0, sign)).front();
    std::string amount = value.substr(sign);
    float bias = amount == "-inf" ? -std::numeric_limits<float>::infinity()
                                  : static_cast<float>(parse_number(flag, amount, -1e9, 1e9));
    options.sampling.push_back(
        [=](SamplingParams& params) { params.logit_bias.emplace_back(id, bias); });
  };
}

FlagSetter only(std::vector<std::string> neutral, std::string reason) {
  return [neutral = std::move(neutral), reason = std::move(reason)](
             Options&, const std::string& flag, const std::string& value) {
    for (const std::string& word : neutral)
      if (to_lower_ascii(value) == word) return;
    throw Error(ErrorCode::unsupported,
                cat(flag, " ", value, ": ", reason, "; accepted: ", join(neutral, ", ")));
  };
}

FlagSetter refuse(std::string reason) {
  return [reason = std::move(reason)](Options&, const std::string& flag, const std::string&) {
    throw Error(ErrorCode::unsupported, cat(flag, ": ", reason));
  };
}

FlagSetter no_effect() {
  return [](Options&, const std::string&, const std::string&) {};
}

FlagSetter replaced(std::string by) {
  return [by = std::move(by)](Options& options, const std::string& flag, const std::string&) {
    options.notices.push_back(cat(flag, " has no effect: ", by));
  };
}

}  // namespace crane
