// Chooses the frame rates of the window, see main_window.h. With a GPU 30 frames a second are plenty for
// curves. In software every frame takes processor time from the training, so an untouched window draws four times a
// second. A user is answered at once: an event that no frame has shown yet waits only for the screen's refresh.
#include <algorithm>

#include "app/window/main_window.h"

namespace normscope::window {
namespace {

constexpr double kTouched =
    0.6;  // a user counts as present for so long after the last event (tooltips, motion)
constexpr double kScreen = 1 / 60.0;
constexpr double kGpuTraining = 1 / 30.0;
constexpr double kSoftHand = 1 / 20.0, kSoftTraining = 1 / 4.0;

}  // namespace

double FramePacer::period(double now) const {
  if (hand_ > last_ || echo_) return kScreen;
  const bool touched = now - hand_ < kTouched;
  if (touched || animating_) return software_ ? kSoftHand : kScreen;
  return software_ ? kSoftTraining : kGpuTraining;
}

void FramePacer::drawn(double now) {
  // One more frame follows the last event, because hover delays and focus settle in it.
  settled_ = now - hand_ >= kTouched;
  echo_ = hand_ > last_;
  changed_ = animating_ = false;
  last_ = now;
}

double FramePacer::wait(double now) const {
  const bool touched = now - hand_ < kTouched || hand_ > last_;
  if (!changed_ && !animating_ && !touched && settled_) return -1;
  return std::max(0.0, last_ + period(now) - now);
}

}  // namespace normscope::window
