// Processes that never wait, for as long as this object lives. In a session of their own they have
// one share of the processors together, where the system gives each session a share (Linux's autogroup).
#pragma once

#include <sys/types.h>

namespace normscope::bench {

class BusyProcesses {
 public:
  /// Throws Error where none can be started.
  BusyProcesses(int count, bool own_session);
  ~BusyProcesses();
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  pid_t first_ = -1;
};

}  // namespace normscope::bench
