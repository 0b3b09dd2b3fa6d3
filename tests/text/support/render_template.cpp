// Renders templates for tests/golden/templates/fuzz.py: reads lines of JSON
// {"template", "variables"} or {"template", "conversation"} on stdin, answers each with a line
// {"text"} or {"error", "raised"?}. Times print as 2024-07-26 09:05:03.
#include <iostream>
#include <string>

#include "base/json.h"
#include "text/chat_template.h"

namespace {

crane::Json answer(const crane::Json& request) {
  crane::ChatTemplateOptions options;
  options.now = std::tm{};
  options.now->tm_year = 124;
  options.now->tm_mon = 6;
  options.now->tm_mday = 26;
  options.now->tm_hour = 9;
  options.now->tm_min = 5;
  options.now->tm_sec = 3;
  options.now->tm_wday = 5;
  options.now->tm_yday = 207;
  crane::JsonObject result;
  try {
    crane::ChatTemplate chat_template(request["template"].as_string());
    crane::JsonObject variables = request.contains("conversation")
                                      ? crane::chat_template_variables(request["conversation"])
                                      : request["variables"].as_object();
    result.push_back("text", chat_template.render(variables, options));
  } catch (const crane::ChatTemplateException& error) {
    result.push_back("error", std::string(error.what()));
    result.push_back("raised", error.text());
  } catch (const crane::Error& error) {
    result.push_back("error", std::string(error.what()));
  }
  return result;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << answer(crane::Json::parse(line, "request", 4096)).dump() << "\n" << std::flush;
  }
  return 0;
}
