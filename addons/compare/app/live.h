// `LiveRuns` makes runs to compare of a session's runs: what stands in a LabView now, with the reruns of "Is it luck?"
// as further seeds. The Compare screen calls it when something changed. It shares a history and copies none, so a
// later comparison sees what the history gained.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addons/compare/app/comparison.h"
#include "training/session/lab.h"

namespace normscope::compare {

class LiveRuns {
 public:
  /// The run with this letter, or nothing where the view has no such run or the run has no history.
  /// With `clock` false it leaves out what depends on the machine's speed (reproducible pictures).
  std::optional<Compared> take(const LabView& view, char letter, bool clock = true);

 private:
  std::shared_ptr<const History> history_of(const std::shared_ptr<const std::vector<float>>& losses);

  /// Has the losses of each rerun as a history, made once. The losses keep their address while they are held
  /// here.
  std::map<std::shared_ptr<const std::vector<float>>, std::shared_ptr<const History>> reruns_;
};

/// Changes when a comparison with this run would: with its history, its reruns, its settings. It is empty
/// where there is no such run.
std::string live_key(const LabView& view, char letter);

}  // namespace normscope::compare
