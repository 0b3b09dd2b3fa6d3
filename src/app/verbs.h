// The verbs of the program, one file each. Each gives the exit code and throws Error otherwise.
#pragma once

#include "app/options.h"

namespace crane {

// What a verb gets: its flags, and the environment for what is no flag.
struct Invocation {
  Options options;
  Environment environment;
};

int run_verb(const Invocation& invocation);         // run.cpp: one answer, or a chat
int score_verb(const Invocation& invocation);       // score.cpp
int tokenize_verb(const Invocation& invocation);    // tokenize.cpp
int template_verb(const Invocation& invocation);    // template.cpp
int show_verb(const Invocation& invocation);        // show.cpp
int bench_verb(const Invocation& invocation);       // bench.cpp
int perplexity_verb(const Invocation& invocation);  // perplexity.cpp

}  // namespace crane
