// Draws the switch of the top bar: whether the runs train on CPU or CUDA, and TF32 beside it
// while CUDA is on. Where there is no CUDA its half is grey, with the reason on hover and in the palette. Controls:
// app/backend, app/backend/CPU, app/backend/CUDA, app/tf32.
#pragma once

#include <optional>
#include <string>

#include "app/ui/widgets.h"
#include "training/session/lab.h"
#include "training/spec/backend_choice.h"

namespace normscope::settings {

struct BackendSwitch {
  BackendChoice now;   // where the runs are
  std::string reason;  // why there is no CUDA; empty: there is
  std::string note;    // why the runs are no longer where they were asked to be
};

// Returns "Not here: there is no NVIDIA GPU."
std::string not_here(const std::string& reason);

inline constexpr float kBackendWidth = 104, kTf32Width = 50;

// Stands at the right of `room`; what is to be said of a lost device takes `words` px to its
// left. It returns its left end, and what was chosen in `choice`.
float draw_backend_switch(ui::Ui&, const BackendSwitch&, const ui::Rect& room, float words,
                          std::optional<BackendChoice>& choice);

}  // namespace normscope::settings
