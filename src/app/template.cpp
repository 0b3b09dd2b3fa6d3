// crane template: a conversation through a chat template, byte for byte.
#include <utility>

#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/error.h"
#include "base/strings.h"
#include "text/chat_template.h"

namespace crane {
namespace {

struct Source {
  std::shared_ptr<const ChatTemplate> chat_template;
  std::string bos, eos;  // the model's; empty: undefined in the template
};

Source template_source(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (options.template_file.has_value() == !options.model.empty())
    throw Error(ErrorCode::invalid_argument, "template: expected one of --template and --model");
  if (options.template_file)
    return {std::make_shared<const ChatTemplate>(read_text_argument(*options.template_file)), "",
            ""};
  TextBundle text = load_text_side(invocation);
  if (!text.chat_template)
    throw Error(ErrorCode::unsupported,
                cat(text.checkpoint.path(), ": the model has no chat template; give --template"));
  return {text.chat_template, text.bos_text, text.eos_text};
}

// The conversation with what the model and the flags add to it.
Json complete_conversation(const Json& given, const Source& source, const Json& kwargs) {
  JsonObject conversation = given.as_object();
  if (!given.contains("bos_token") && !source.bos.empty()) conversation["bos_token"] = source.bos;
  if (!given.contains("eos_token") && !source.eos.empty()) conversation["eos_token"] = source.eos;
  if (!kwargs.is_object()) return conversation;
  JsonObject merged;
  if (given["chat_template_kwargs"].is_object()) merged = given["chat_template_kwargs"].as_object();
  for (const auto& [key, value] : kwargs.as_object()) merged[key] = value;
  conversation["chat_template_kwargs"] = std::move(merged);
  return conversation;
}

}  // namespace

int template_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (!options.input)
    throw Error(ErrorCode::invalid_argument,
                "template: expected --input FILE, or - for standard input");
  Source source = template_source(invocation);
  Json given = Json::parse(read_text_argument(*options.input), *options.input);
  if (!given.is_object())
    throw Error(ErrorCode::invalid_argument, cat(*options.input, ": got ", given.kind_name(),
                                                 ", expected an object with messages"));
  Json conversation = complete_conversation(given, source, options.chat_template_kwargs);
  try {
    write_answer(source.chat_template->render(chat_template_variables(conversation)));
  } catch (const ChatTemplateException& raised) {
    throw Error(raised.code(), raised.text());  // the template's own words
  }
  return 0;
}

}  // namespace crane
