// Ctrl-C and SIGTERM while an answer is made: the first one asks it to stop, the second one ends
// the program with 128 + the signal's number.
#pragma once

#include <signal.h>

namespace crane {

// Handles SIGINT and SIGTERM while it lives. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  bool interrupted() const;

 private:
  struct sigaction old_interrupt_ {
  }, old_terminate_{};
};

// Between the prompts of a chat Ctrl-C means nothing; while an answer is made, an InterruptScope
// takes it, and at the prompt it is a key.
void ignore_interrupts();

// Lets a closed pipe show as a write error instead of a signal.
void ignore_broken_pipes();

}  // namespace crane
