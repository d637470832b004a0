// The systems view has small runs of the systems beside plain transformers (a decoder with a memory, and every network
// that is not a transformer), and views of them after a few real steps: names and numbers are the engine's. Each is
// trained once.
#pragma once

#include "app/support/live_lab.h"
#include "app/support/program.h"

namespace normscope::fixture {

/// The architectures that add-ons bring.
inline std::vector<std::string> added_systems() {
  std::vector<std::string> names;
  for (const Architecture architecture : architectures())
    if (!is_transformer(architecture)) names.emplace_back(row_of(architecture).name);
  return names;
}
/// All systems.
inline std::vector<std::string> systems() {
  std::vector<std::string> names = added_systems();
  if (find_field("model.memory")) names.emplace_back("memory");
  return names;
}

/// Makes three runs of a system.
inline std::vector<RunSpec> small_system(const std::string& name) {
  if (name == "memory") {
    std::vector<RunSpec> runs = small_runs();
    for (RunSpec& run : runs) set_field(run, "model.memory", "8");
    return runs;
  }
  std::vector<RunSpec> runs = comparison_of(name);
  for (RunSpec& run : runs)
    for (const auto& [key, value] : {std::pair{"train.batch", "8"},
                                     {"train.steps", "60"},
                                     {"model.channels", "2"},
                                     {"model.channels_2", "3"},
                                     {"model.d_model", "8"},
                                     {"model.feed_forward", "16"},
                                     {"data.digits", "60"}})
      if (find_field(key)) set_field(run, key, value);
  return runs;
}

inline std::shared_ptr<const LabView> systems_view(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const LabView>> views;
  std::shared_ptr<const LabView>& view = views[name];
  if (view) return view;
  LabOptions options = quiet_lab();
  options.validation_every = 2;
  options.sample_text = true;
  options.live_text = false;
  Lab lab{options};
  lab.post(session::ReplaceRuns{small_system(name), {}, false});
  test::view_after(lab, session::PlayTo{4});
  return view = lab.view();
}

}  // namespace normscope::fixture
