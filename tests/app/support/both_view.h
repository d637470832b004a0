// Two small encoder-decoders, Post-LN and Pre-LN, on the made-up translation after a few real steps: a view
// with the names and numbers that the engine gives. Trained once.
#pragma once

#include <memory>

#include "app/support/live_lab.h"

namespace normscope::fixture {

inline std::vector<RunSpec> both_runs(int layers = 6) {
  std::vector<RunSpec> runs{preset_run("post"), preset_run("pre")};
  for (RunSpec& run : runs)
    for (auto [key, value] : {std::pair{"model.architecture", std::string("encoder-decoder")},
                              {"data.name", "translation"},
                              {"model.layers", std::to_string(layers)},
                              {"model.d_model", "16"},
                              {"model.feed_forward", "32"},
                              {"model.heads", "2"},
                              {"model.sequence", "16"},
                              {"train.batch", "4"},
                              {"train.steps", "60"}})
      set_field(run, key, value);
  return runs;
}

inline std::shared_ptr<const LabView> both_view() {
  static const std::shared_ptr<const LabView> view = [] {
    Lab lab{quiet_lab()};
    lab.post(lab::ReplaceRuns{both_runs(), {}, false});
    lab.post(lab::PlayTo{4});
    lab.wait_idle();
    return lab.view();
  }();
  return view;
}

}  // namespace normscope::fixture
