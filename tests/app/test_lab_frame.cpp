// What a frame of the Lab costs, measured and printed, never asserted: normscope_app_tests "[.bench]".
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "catch.hpp"
#include "lab_fixture.h"
#include "lab_robot.h"

using namespace normscope;

TEST_CASE("cost of a frame with four runs and all plots", "[.bench]") {
  fixture::LabShape shape;
  shape.fork = true;
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{3840, 2160}}) {
    fixture::LabRobot lab(fixture::lab_view(shape), size, size.x > 2000 ? 2.f : 1.f);
    lab.robot.frames(10);
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
      const auto start = std::chrono::steady_clock::now();
      lab.robot.frames(1);
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    fmt::print("{}x{}: {:.2f} ms median, {:.2f} ms at most of 100 frames, {} vertices\n", size.x, size.y,
               times[times.size() / 2], times.back(), lab.loop.draw_data()->TotalVtxCount);
    std::fflush(stdout);
  }
}
