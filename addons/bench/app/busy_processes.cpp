#include "addons/bench/app/bench.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/error.h"

namespace normscope::bench {
namespace {

[[noreturn]] void keep_busy(pid_t parent) {
  volatile uint64_t spins = 0;
  for (;;) {
    spins = spins + 1;
    if ((spins & 0xffff) == 0 && getppid() != parent) _exit(0);
  }
}

}  // namespace

BusyProcesses::BusyProcesses(int count, bool own_session) {
  const pid_t self = getpid();
  first_ = fork();
  if (first_ < 0) fail("bench", "no second process could be started: expected one for --crowded");
  if (first_ > 0) return;
  if (own_session) setsid();
  const pid_t first = getpid();
  for (int i = 1; i < count; ++i)
    if (fork() == 0) keep_busy(first);
  keep_busy(self);
}

BusyProcesses::~BusyProcesses() {
  kill(first_, SIGKILL);
  waitpid(first_, nullptr, 0);
}

}  // namespace normscope::bench
