#include "app/interrupts.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace crane {
namespace {

// A signal handler reaches nothing but static objects; this one is lock-free, hence safe in it.
std::atomic<int> signals_received{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void handle_signal(int number) {
  if (signals_received.fetch_add(1) > 0) _exit(128 + number);
}

void ignore(int number) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(number, &action, nullptr);
}

}  // namespace

InterruptScope::InterruptScope() {
  signals_received.store(0);
  struct sigaction action {};
  action.sa_handler = handle_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptScope::interrupted() const { return signals_received.load() > 0; }

void ignore_interrupts() { ignore(SIGINT); }
void ignore_broken_pipes() { ignore(SIGPIPE); }

}  // namespace crane
