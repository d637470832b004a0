// These tests find out when the window draws, with a clock by hand instead of a window.
#include "app/window/main_window.h"
#include "catch.hpp"

using normscope::window::FramePacer;

namespace {

// Counts frames drawn in `seconds`, with the trainer changing every 10 ms when `training`.
int frames(FramePacer& pacer, double from, double seconds, bool training, bool hand) {
  int drawn = 0;
  for (double t = from; t < from + seconds; t += 0.001) {
    const auto ms = static_cast<long>(t * 1000 + 0.5);
    if (training && ms % 10 == 0) pacer.changed(t);
    if (hand && ms % 8 == 0) pacer.hand(t);
    const double wait = pacer.wait(t);
    if (wait >= 0 && wait < 1e-4) {
      pacer.drawn(t);
      ++drawn;
    }
  }
  return drawn;
}

}  // namespace

TEST_CASE("nothing happens, nothing is drawn") {
  for (bool software : {false, true}) {
    FramePacer pacer(software);
    CHECK(frames(pacer, 0, 2, false, false) <= 2);
    CHECK(frames(pacer, 10, 5, false, false) == 0);
    CHECK(pacer.wait(16) < 0);
  }
}

TEST_CASE("training untouched: 30 frames a second with a GPU, four in software") {
  FramePacer gpu(false), soft(true);
  frames(gpu, 0, 2, true, false);
  frames(soft, 0, 2, true, false);
  CHECK(frames(gpu, 10, 4, true, false) >= 4 * 28);
  CHECK(frames(gpu, 20, 4, true, false) <= 4 * 31);
  CHECK(frames(soft, 10, 4, true, false) >= 4 * 3);
  CHECK(frames(soft, 20, 4, true, false) <= 4 * 5);
}

TEST_CASE("under the hand: at least 15 frames a second in software") {
  FramePacer gpu(false), soft(true);
  CHECK(frames(gpu, 1, 2, true, true) >= 2 * 50);
  CHECK(frames(soft, 1, 2, true, true) >= 2 * 15);
}

TEST_CASE("a hand that is gone gets its last frames, then silence") {
  FramePacer pacer(false);
  frames(pacer, 0, 1, false, true);
  CHECK(frames(pacer, 1, 1, false, false) > 10);
  CHECK(frames(pacer, 3, 3, false, false) == 0);
}
