// Jobs of equal rank on several threads while the calling one tells the progress: runs that train side by side, fresh
// models, curves of lessons. Called by runner.cpp, by app/reproduce and by app/course.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace normscope::experiments {

/// What one thread does with the job at a place; made on that thread.
using WorkOn = std::function<void(size_t)>;

/// Every place below `count` once, in their order, on `threads` threads of their own (no more than there are jobs);
/// `make` is called on each of them. While they work, `tick` is called some ten times a second from the calling thread.
/// `stop` ends the work behind the jobs at hand; the first exception of a job sets it, and is thrown when all have ended
/// (exception_for_others(what) of core/boundary.h). What `tick` throws ends the work in the same way.
void work_off(const std::string& what, size_t count, int32_t threads, std::atomic<bool>& stop,
              const std::function<WorkOn()>& make, const std::function<void()>& tick);

}  // namespace normscope::experiments
