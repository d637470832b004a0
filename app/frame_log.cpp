#include "app/frame_log.h"

#include <chrono>
#include <ctime>

#include "engine/core/error.h"

namespace normscope {
namespace {

// Seconds of the monotonic clock, so that another process can count from the moment that it started this one.
double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

FrameLog::FrameLog(const std::string& path)
    : file_(path.empty() ? nullptr : std::fopen(path.c_str(), "w"), &std::fclose) {
  if (!path.empty() && !file_) throw Error(fmt::format("{}: cannot write the frame log there", path));
  if (file_) std::fputs("clock_s,process_cpu_s,step,build_ms,draw_ms,vertices\n", file_.get());
}

void FrameLog::write(const FrameCost& cost) {
  if (!file_) return;
  const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  std::fprintf(file_.get(), "%.6f,%.6f,%d,%.3f,%.3f,%d\n", clock_now(), cpu, cost.step, cost.build_ms,
               cost.draw_ms, cost.vertices);
  std::fflush(file_.get());
}

}  // namespace normscope
