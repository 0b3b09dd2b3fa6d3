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
  std::optional<std::string> bos, eos;  // absent: undefined in the template
};

Source template_source(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (options.template_file.has_value() == !options.model.empty())
    throw Error(ErrorCode::invalid_argument, "template: expected one of --template and --model");
  if (options.template_file)
    return {std::make_shared<const ChatTemplate>(read_text_argument(*options.template_file)),
            std::nullopt, std::nullopt};
  TextBundle text = load_text_side(invocation);
  if (!text.chat_template)
    throw Error(ErrorCode::unsupported,
                cat(text.checkpoint.path(), ": the model has no chat template; give --template"));
  return {text.chat_template, text.bos_text, text.eos_text};
}

// The conversation's own value wins, then the model's.
void set_special_token(JsonObject& variables, const Json& conversation, const char* key,
                       const std::optional<std::string>& of_model) {
  variables.erase(key);
  if (conversation.contains(key)) {
    variables[key] = conversation[key];
  } else if (of_model) {
    variables[key] = *of_model;
  }
}

}  // namespace

int template_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (!options.input)
    throw Error(ErrorCode::invalid_argument,
                "template: expected --input FILE, or - for standard input");
  Source source = template_source(invocation);
  Json conversation = Json::parse(read_text_argument(*options.input), *options.input);
  if (!conversation.is_object())
    throw Error(ErrorCode::invalid_argument, cat(*options.input, ": got ", conversation.kind_name(),
                                                 ", expected an object with messages"));
  JsonObject variables =
      conversation_variables(conversation, source.bos.value_or(""), source.eos.value_or(""));
  set_special_token(variables, conversation, "bos_token", source.bos);
  set_special_token(variables, conversation, "eos_token", source.eos);
  if (options.chat_template_kwargs.is_object())
    for (const auto& [key, value] : options.chat_template_kwargs.as_object())
      variables[key] = value;
  write_answer(source.chat_template->render(variables));
  return 0;
}

}  // namespace crane
