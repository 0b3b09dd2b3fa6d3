// The /commands of the chat.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crane {

class Chat;

class ChatCommands {
 public:
  enum class Next { ask, leave };

  explicit ChatCommands(Chat& chat) : chat_(chat) {}

  // `line` begins with a slash. What it has to say goes to stderr.
  Next execute(const std::string& line);

 private:
  void set(const std::vector<std::string>& words, const std::string& rest);
  void set_parameter(const std::string& name, const std::string& value);
  void show(const std::string& what);
  void show_parameters();
  void history();
  void stats();

  Chat& chat_;
};

}  // namespace crane
