// The rows of the flag table: spellings, verbs, and what a value does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"

namespace crane {

// Takes the value of one occurrence. `flag` is the spelling for messages.
using FlagSetter =
    std::function<void(Options& options, const std::string& flag, const std::string& value)>;

struct Flag {
  unsigned verbs = 0;
  std::vector<std::string> names;  // as typed: "-t", "-ngl", "--threads"
  std::string value;               // its name in --help; empty: a switch
  std::string help;                // empty: left out of --help
  FlagSetter set;

  bool is_switch() const { return value.empty(); }
  const std::string& long_name() const;  // the first with two dashes
};

// Every flag that the command line knows, those of parts that are not built included.
std::vector<Flag> flag_table();

// The rows that only refuse: known to users of other programs, not built here.
void append_unbuilt_flags(std::vector<Flag>& flags);

}  // namespace crane
