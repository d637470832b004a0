#include "app/window/frame_log.h"

#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace normscope::window {
namespace {

// Monotonic, so that another process can count from the moment when it started this one.
double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

FrameLog::FrameLog(const std::string& path) : file_(path.empty() ? LineFile() : LineFile(path, "frame log")) {
  file_.line("clock_s,process_cpu_s,step,build_ms,draw_ms,vertices,seeds");
}

void FrameLog::write(const FrameCost& cost) {
  if (!file_) return;
  const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  file_.line(fmt::format("{:.6f},{:.6f},{},{:.3f},{:.3f},{},{}", clock_now(), cpu, cost.step, cost.build_ms,
                         cost.draw_ms, cost.vertices, cost.seeds));
}

}  // namespace normscope::window
