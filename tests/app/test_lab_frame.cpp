// What a frame of the Lab costs, measured and printed, never asserted: normscope_app_tests "[.bench]". Wall time, and
// the processor time of this thread, which a busy machine does not stretch.
#include <fmt/format.h>
#include <imgui.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "catch.hpp"
#include "lab_fixture.h"
#include "lab_robot.h"

using namespace normscope;

namespace {

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

TEST_CASE("cost of a frame with four runs and all plots", "[.bench]") {
  fixture::LabShape shape;
  shape.fork = true;
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{3840, 2160}}) {
    fixture::LabRobot lab(fixture::lab_view(shape), size, size.x > 2000 ? 2.f : 1.f);
    lab.robot.frames(10);
    std::vector<double> wall, own;
    for (int i = 0; i < 200; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const double begin = thread_ms();
      lab.robot.frames(1);
      own.push_back(thread_ms() - begin);
      wall.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(wall.begin(), wall.end());
    std::sort(own.begin(), own.end());
    fmt::print("{}x{}: {:.2f} ms median, {:.2f} ms at most of 200 frames ({:.2f}, {:.2f} of this thread), {} vertices\n",
               size.x, size.y, wall[100], wall.back(), own[100], own.back(), lab.loop.draw_data()->TotalVtxCount);
    std::fflush(stdout);
  }
}
