// The systems view has small runs of the systems beside plain transformers (a convolutional network, a parser, a
// decoder with a memory), and views of them after a few real steps: names and numbers are the engine's. Each is trained
// once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "addons/systems/training/conllu.h"
#include "addons/systems/training/made_treebank.h"

namespace normscope::fixture {

inline constexpr const char* kSystems[] = {"convolutional", "parser", "memory"};

/// A file of trees to learn, removed with the process.
inline const std::string& small_treebank() {
  static const test::Folder folder;
  static const std::string path = folder.write("trees.conllu", conllu_text(made_treebank(2, 0, 60)));
  return path;
}

/// Makes three runs of a system.
inline std::vector<RunSpec> small_system(const std::string& name) {
  if (name == "memory") {
    std::vector<RunSpec> runs = small_runs();
    for (RunSpec& run : runs) set_field(run, "model.memory", "8");
    return runs;
  }
  std::vector<RunSpec> runs = comparison_of(name);
  const bool parser = name == "parser";
  for (RunSpec& run : runs) {
    for (auto [key, value] : {std::pair{"train.batch", "8"},
                              {"train.steps", "60"},
                              {"model.channels", "2"},
                              {"model.channels_2", "3"},
                              {"model.d_model", "8"},
                              {"model.feed_forward", "16"},
                              {"data.digits", "60"}})
      set_field(run, key, value);
    if (parser) set_field(run, "data.treebank", small_treebank());
  }
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
