// What a session and a link keep of the Sweep screen.
#pragma once

#include "addons/sweep/app/cells.h"
#include "app/view/app_screen.h"

namespace normscope::sweep {

struct KeptSweep {
  Plan plan;
  Metric metric = Metric::Loss;
  bool operator==(const KeptSweep&) const = default;
};

ScreenSettings settings_of(const KeptSweep& kept);
/// The same without regions of more seeds, which a link leaves out.
ScreenSettings link_of(KeptSweep kept);
/// Throws Error.
KeptSweep sweep_from(const ScreenSettings& settings);
/// Throws Error for settings that name a file, ask for much work or cannot be trained.
void check_link(const ScreenSettings& settings);

}  // namespace normscope::sweep
