// How many cores this process may use: the one figure behind every "as many threads as there are cores".
//
// What counts is what the process is given, not what the machine has: a batch system's affinity mask and a container's
// quota leave most of a large machine to others, and more threads than that wait for each other's time.
#pragma once

#include <span>
#include <string>

namespace normscope {

/// Cores in the affinity mask, hyper-threads not counted twice, at most cpu_quota(); at least 1.
int usable_cores();

/// How many cores the processors of these numbers share: as many as processors where the system does not say. The
/// system's files lie under `root`.
int cores_among(std::span<const int> processors, const std::string& root = "");

/// Processors whose time the control groups of this process allow it (v2 and v1, the smallest on the way to the root),
/// rounded up: threads beyond that would stand still for the rest of each period. 0: no limit.
int cpu_quota(const std::string& root = "");

}  // namespace normscope
