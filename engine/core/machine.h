// How many cores and how much memory this process may use: the figures behind every "as many threads as there are
// cores", and behind every check that refuses or warns before it allocates.
//
// What counts is what the process is given, not what the machine has: a batch system's affinity mask and a container's
// quota leave most of a large machine to others, and more threads than that wait for each other's time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace normscope {

/// Cores in the affinity mask, hyper-threads not counted twice, at most cpu_quota(); at least 1.
int usable_cores();

/// How many cores the processors of these numbers share: as many as processors where the system does not say. The
/// system's files lie under `root`.
int cores_among(std::span<const int> processors, const std::string& root = "");

/// Processors whose time the control groups of this process allow it (v2 and v1, the smallest on the way to the root),
/// rounded up: threads beyond that would stand still for the rest of each period. 0: no limit.
int cpu_quota(const std::string& root = "");

/// Bytes: the machine's, or its control group's limit where that is lower; 0 when neither is known.
size_t machine_memory();

/// Throws Error when a model that somebody asked for needs more than that, beside what is held already;
/// `where` as in fail(). `machine` 0: machine_memory().
void require_bytes(std::string_view where, int64_t bytes, int64_t held = 0, int64_t machine = 0);

}  // namespace normscope
