// Refuses --crowded: Windows has no fork() for the processes that keep the cores busy.
#include "addons/bench/app/bench.h"

#include "engine/core/error.h"

namespace normscope::bench {

BusyProcesses::BusyProcesses(int, bool) {
  fail("bench", "--crowded starts processes as Linux does, which Windows cannot: expected no --crowded");
}
BusyProcesses::~BusyProcesses() = default;

}  // namespace normscope::bench
