// What one answer of `run` is made from and how it is reported; shared by the one-shot form and the
// chat.
#pragma once

#include <string>

#include "app/interrupts.h"
#include "app/options.h"
#include "pipelines/text_generation.h"

namespace crane {

// The request of these options, over the model's own sampling defaults.
GenerationRequest make_request(const Options& options, const ModelBundle& bundle);

// One conversation, ready for TextGeneration::encode_chat.
Json make_conversation(const Options& options, JsonArray messages);
Json make_message(const char* role, std::string content);

// Runs the request and streams its text to stdout. Ctrl-C or a reader that is gone ends it early,
// with reason `cancelled`.
GenerationResult stream_answer(TextGeneration& generation, const GenerationRequest& request,
                               const InterruptScope& interrupts);

double per_second(int tokens, double milliseconds);

// Rates on stderr: one line, or all figures with --verbose.
void report_rates(const GenerationResult& result, double load_ms, bool verbose);

}  // namespace crane
