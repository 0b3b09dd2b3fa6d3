// Setters for the flag table: each reads a value of one kind into one field, and says flag, value
// and allowed range when it cannot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/option_table.h"

namespace crane {

FlagSetter set_text(std::string Options::*field);
FlagSetter set_optional_text(std::optional<std::string> Options::*field);
FlagSetter append_text(std::vector<std::string> Options::*field);
FlagSetter set_switch(bool Options::*field, bool value);
FlagSetter set_integer(int Options::*field, int low, int high);
FlagSetter set_integers(std::vector<int> Options::*field, int low, int high);  // "1,4,16"
FlagSetter set_choice(std::string Options::*field, std::vector<std::string> allowed);
FlagSetter append_ids();
FlagSetter set_kwargs();

FlagSetter set_sampling(float SamplingParams::*field, double low, double high);
FlagSetter set_sampling(int SamplingParams::*field, int low, int high);
FlagSetter set_seed();
FlagSetter add_logit_bias();  // "ID+VALUE", "ID-VALUE", as llama.cpp writes it

// Takes `neutral` values without effect; anything else is refused with `reason`.
FlagSetter only(std::vector<std::string> neutral, std::string reason);
FlagSetter refuse(std::string reason);
FlagSetter no_effect();
FlagSetter replaced(std::string by);  // no effect, and a line that says what replaced the flag

// "1,2,3" to ids. Throws Error(invalid_argument) naming `flag` when empty or not a number.
std::vector<int32_t> parse_ids(const std::string& flag, const std::string& value);

// 1 true on yes enabled, 0 false off no disabled; anything else throws.
bool parse_boolean(const std::string& flag, const std::string& value);

int64_t parse_integer(const std::string& flag, const std::string& value, int64_t low, int64_t high);

}  // namespace crane
