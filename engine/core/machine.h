// How many cores and how much memory this process may use, and how the system schedules a thread. Every default number
// of threads comes from here, and every check of memory before an allocation.
//
// The process's share counts, not the whole machine. A batch system's affinity mask and a
// container's quota leave most of a large machine to others, and surplus threads only wait for each other's time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace normscope {

/// Counts the cores in the affinity mask, each hyper-threaded core once, at most cpu_quota(); at least 1.
int usable_cores();

/// Counts the physical cores of these processors; returns the number of processors where the system does not name
/// their cores. `root` is put before the paths of the system's files, for tests.
int cores_among(std::span<const int> processors, const std::string& root = "");

/// The processor time that the control groups of this process allow, in processors (v2 and v1, the smallest on the way
/// to the root), rounded up: more threads would stand still for the rest of each period. 0: no limit.
int cpu_quota(const std::string& root = "");

/// The bytes of the machine's memory, or fewer where a control group of this process (as for cpu_quota()) or its
/// address space (ulimit -v) sets a lower limit; 0 when nothing is known.
size_t machine_memory(const std::string& root = "");

/// Throws Error when the `bytes` of a requested model and the bytes `held` by others exceed the memory of the machine.
/// `where` is as in fail(). `machine` 0: machine_memory().
void require_bytes(const Message& where, int64_t bytes, int64_t held = 0, int64_t machine = 0);

/// Asks the system to give the calling thread its time in short slices. A thread that has had less
/// than its share then runs as soon as it is woken, ahead of busy programs with longer slices. It gets no more time
/// than before, as a higher priority would give it, and threads that it starts do not inherit the setting. Before
/// Linux 6.12 and on other systems nothing happens.
void take_short_slices() noexcept;

/// The file of the running program; empty where the system does not say, as in a bare chroot.
std::string program_path();

}  // namespace normscope
