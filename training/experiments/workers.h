// Workers do jobs of equal rank on several threads while the calling thread reports progress: runs that train side by
// side, fresh models, curves of lessons. Called by study.cpp and by app/course.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace normscope::experiments {

/// `WorkOn` does the job at a place; it is made on the thread that calls it.
using WorkOn = std::function<void(size_t)>;

/// `work_off` does each job below `count` once, in order, on `threads` new threads (no more than there are jobs),
/// each of which calls `make`. Meanwhile the calling thread calls `tick` about ten times a second. Setting `stop`
/// ends the work once the current jobs are done. The first exception of a job sets `stop`, and `work_off` throws it
/// when all threads have ended (exception_for_others(what) of core/boundary.h). An exception of `tick` ends the work
/// in the same way.
void work_off(const std::string& what, size_t count, int32_t threads, std::atomic<bool>& stop,
              const std::function<WorkOn()>& make, const std::function<void()>& tick);

}  // namespace normscope::experiments
