// These tests tell what a frame of the Lab costs. How much is drawn is bounded; time is measured and printed, never
// asserted: normscope_app_tests "[.bench]". It is wall time, and the processor time of this thread, which a busy
// machine does not stretch.
#include <imgui.h>

#include <time.h>

#include <cstdio>

#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "catch.hpp"

using namespace normscope;

namespace {

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

template <class Driver>
void time_frames(const char* what, Driver& lab, const std::function<void()>& before) {
  lab.driver.frames(10);
  std::vector<double> wall, own;
  for (int i = 0; i < 200; ++i) {
    before();
    const auto start = std::chrono::steady_clock::now();
    const double begin = thread_ms();
    lab.driver.frames(1);
    own.push_back(thread_ms() - begin);
    wall.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(wall);
  std::ranges::sort(own);
  fmt::print(
      "{}: {:.2f} ms median, {:.2f} ms at most of 200 frames ({:.2f}, {:.2f} of this thread), {} vertices\n",
      what, wall[100], wall.back(), own[100], own.back(), lab.loop.draw_data()->TotalVtxCount);
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("a frame of four runs and all plots has at most 150 000 vertices, however long the runs are") {
  fixture::LabDriver lab(fixture::lab_view({.step = 3000, .budget = 4000, .fork = true}));
  for (const auto& [size, scale] : {std::pair{ui::Vec{1600, 1000}, 1.f},
                                    {ui::Vec{2560, 1440}, 1.f},
                                    {ui::Vec{3840, 2160}, 2.f},
                                    {ui::Vec{3840, 2160}, 0.75f}}) {
    lab.loop.resize(size);
    lab.state.look.scale = scale;
    lab.driver.frames(2);
    INFO(size.x << " at " << scale);
    CHECK(lab.loop.draw_data()->TotalVtxCount > 5000);
    CHECK(lab.loop.draw_data()->TotalVtxCount <= 150000);
  }
}

TEST_CASE("cost of a frame with four runs and all plots", "[.bench]") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{3840, 2160}}) {
    fixture::LabDriver lab(fixture::lab_view({.fork = true}), size, size.x > 2000 ? 2.f : 1.f);
    time_frames(size.x > 2000 ? "3840x2160" : "1600x1000", lab, [] {});
  }
}

TEST_CASE("cost of a frame while the histories grow", "[.bench]") {
  for (int steps : {300, 10000}) {
    const auto view = fixture::lab_view({.step = steps, .budget = 2 * steps, .fork = true});
    fixture::LabDriver lab(view);
    time_frames(fmt::format("1600x1000, {} steps, new numbers in every frame", steps).c_str(), lab, [&] {
      for (const RunView& run : view->runs)
        std::const_pointer_cast<History>(run.history)->append_validation(steps, 1);
    });
  }
}

// The frame goes from input to vertices, without a window: the mouse moves in every frame.
TEST_CASE("cost of a frame on every screen with four runs of 10 000 steps", "[.bench]") {
  const auto view = fixture::lab_view({.step = 10000, .budget = 20000, .fork = true});
  for (const Screen screen : screens_by_key()) {
    if (screen == Screen::Lessons) continue;
    fixture::LabDriver window(view);
    window.state.switches.record_text = false;
    window.state.screens.shown = screen;
    int frame = 0;
    time_frames(std::string(name_of(screen)).c_str(), window, [&] {
      const float at = static_cast<float>(++frame % 100) / 100;
      window.driver.move_to(ui::Vec{100 + 1400 * at, 200 + 600 * at});
    });
  }
}
