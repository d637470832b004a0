// The view of both has two small encoder-decoders, Post-LN and Pre-LN, on the made-up translation after a few real
// steps: names and numbers are the engine's. They are trained once.
#pragma once

#include "app/support/live_lab.h"

namespace normscope::fixture {

inline std::vector<RunSpec> both_runs(int layers = 6) {
  std::vector<RunSpec> runs{preset_run("post"), preset_run("pre")};
  for (RunSpec& run : runs) {
    set_field(run, "model.architecture", "encoder-decoder");
    set_field(run, "data.name", "translation");
    test::make_tiny(run, layers);
    set_field(run, "train.steps", "60");
  }
  return runs;
}

inline std::shared_ptr<const LabView> both_view() {
  static const std::shared_ptr<const LabView> view = [] {
    Lab lab{quiet_lab()};
    lab.post(session::ReplaceRuns{both_runs(), {}, false});
    return test::view_after(lab, session::PlayTo{4});
  }();
  return view;
}

}  // namespace normscope::fixture
