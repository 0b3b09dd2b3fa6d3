// The chat, typed into a pseudo-terminal as a person would.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>

#include <chrono>

#include "app/subprocess.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace crane::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

constexpr const char* kInterrupt = "\x03";
constexpr const char* kEndOfInput = "\x04";

// A program that runs in a terminal of its own.
class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& arguments) {
    winsize size{40, 200, 0, 0};
    child_ = forkpty(&master_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    setenv("XDG_STATE_HOME", "/nonexistent", 1);
    setenv("TERM", "dumb", 1);
    // libedit never frees the names that EL_ADDFN copies.
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
    std::vector<char*> argv{const_cast<char*>(CRANE_BINARY)};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(CRANE_BINARY, argv.data());
    _exit(127);
  }
  ~Terminal() {
    if (child_ > 0 && !ended_) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(master_);
  }

  void type(const std::string& text) {
    ASSERT_EQ(write(master_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // Reads until `text` appears behind what was read before; the screen since then.
  std::string wait_for(const std::string& text, int seconds = 60) {
    auto deadline = Clock::now() + std::chrono::seconds(seconds);
    while (screen_.find(text, seen_) == std::string::npos) {
      if (Clock::now() > deadline || !read_some()) {
        ADD_FAILURE() << "waited for '" << text << "' and got: " << screen_.substr(seen_);
        return screen_.substr(seen_);
      }
    }
    size_t end = screen_.find(text, seen_) + text.size();
    std::string part = screen_.substr(seen_, end - seen_);
    seen_ = end;
    return part;
  }

  // The exit code, after the program has ended by itself.
  int wait_for_end() {
    auto deadline = Clock::now() + std::chrono::seconds(60);
    while (Clock::now() < deadline && read_some()) {
    }
    if (Clock::now() >= deadline) {
      ADD_FAILURE() << "the program did not end; its screen: " << screen_.substr(seen_);
      return -1;
    }
    int status = 0;
    waitpid(child_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  bool read_some() {
    pollfd descriptor{master_, POLLIN, 0};
    if (poll(&descriptor, 1, 200) == 0) return true;
    char buffer[4096];
    ssize_t got = read(master_, buffer, sizeof buffer);
    if (got <= 0) return false;  // the other side is closed
    screen_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  int master_ = -1;
  pid_t child_ = -1;
  bool ended_ = false;
  std::string screen_;
  size_t seen_ = 0;
};

std::vector<std::string> chat_call() {
  return {"run", golden("qwen2-chat"), "--temp", "0", "--repeat-penalty", "1"};
}

Json chats() {
  return Json::parse(read_text_file(golden("qwen2-chat.expected.json")),
                     "expected")["text"]["chats"];
}

TEST(ChatLoop, AnswersKeepsHistoryAndReusesThePrefix) {
  Terminal terminal(chat_call());
  terminal.wait_for(">>> ");
  terminal.type("What is in the water?\r");
  terminal.wait_for(chats().as_array()[0].get<std::string>("greedy_text"));
  terminal.wait_for("tokens/s]");
  terminal.wait_for(">>> ");
  terminal.type("/history\r");
  terminal.wait_for("user: What is in the water?");
  terminal.wait_for("assistant: The crane stands");
  for (int i = 0; i < 3; ++i) {
    terminal.type("And then?\r");
    terminal.wait_for("tokens/s]");
  }
  terminal.type("/stats\r");
  std::string stats = terminal.wait_for("K/V blocks");
  EXPECT_THAT(stats, Not(HasSubstr(" 0 of them cached")));
  terminal.type("/clear\r");
  terminal.wait_for("empty now");
  terminal.type("/history\r");
  terminal.wait_for("the conversation is empty");
  terminal.type("/bye\r");
  EXPECT_EQ(terminal.wait_for_end(), 0);
}

TEST(ChatLoop, CommandsSetAndShow) {
  Terminal terminal(chat_call());
  terminal.wait_for(">>> ");
  terminal.type("/set parameter temperature 0.25\r/show parameters\r");
  terminal.wait_for("temperature     0.25");
  terminal.type("/set parameter top_p 7\r");
  terminal.wait_for("expected a number from 0 to 1");
  terminal.type("/set parameter json 1\r");
  terminal.wait_for("cannot be changed");
  terminal.type("/set system Be brief.\r/show system\r");
  terminal.wait_for("Be brief.");
  terminal.type("/show info\r");
  terminal.wait_for("context  512 tokens");
  terminal.type("/shwo\r");
  terminal.wait_for("did you mean /show?");
  terminal.type("/help\r");
  terminal.wait_for("/history");
  terminal.wait_for(">>> ");
  terminal.type(kEndOfInput);
  EXPECT_EQ(terminal.wait_for_end(), 0);
}

TEST(ChatLoop, SeveralLinesAreOneMessage) {
  Terminal terminal(chat_call());
  terminal.wait_for(">>> ");
  terminal.type("\"\"\"first\r");
  terminal.wait_for("... ");
  terminal.type("second\"\"\"\r");
  terminal.wait_for("tokens/s]");
  terminal.type("/history\r");
  terminal.wait_for("user: first\r\nsecond");
  terminal.type("/exit\r");
  EXPECT_EQ(terminal.wait_for_end(), 0);
}

TEST(ChatLoop, InterruptDropsTheLineAndLeavesWhenItIsEmpty) {
  Terminal terminal(chat_call());
  terminal.wait_for(">>> ");
  terminal.type("half a line");
  terminal.wait_for("half a line");
  terminal.type(kInterrupt);
  terminal.wait_for(">>> ");
  terminal.type("/history\r");
  terminal.wait_for("the conversation is empty");
  terminal.wait_for(">>> ");
  terminal.type(kInterrupt);
  EXPECT_EQ(terminal.wait_for_end(), 0);
}

TEST(ChatLoop, ContextOverflowIsSaid) {
  std::vector<std::string> call = chat_call();
  call.insert(call.end(), {"-c", "64"});
  Terminal terminal(call);
  terminal.wait_for(">>> ");
  std::string message;
  for (int i = 0; i < 40; ++i) message += "the water ";
  terminal.type(message + "\r");
  terminal.wait_for("the context holds 64");
  terminal.wait_for("/clear");
  terminal.type("/history\r");
  terminal.wait_for("the conversation is empty");  // what was not answered is not kept
  terminal.type("What is in the water?\r");
  terminal.wait_for("The crane");
  terminal.type("/bye\r");
  EXPECT_EQ(terminal.wait_for_end(), 0);
}

TEST(ChatLoop, SingleTurnLeavesAfterOneAnswer) {
  std::vector<std::string> call = chat_call();
  call.insert(call.end(), {"-st", "-p", "What is in the water?"});
  Terminal terminal(call);
  terminal.wait_for("The crane stands");
  EXPECT_EQ(terminal.wait_for_end(), 0);
}

}  // namespace
}  // namespace crane::test
