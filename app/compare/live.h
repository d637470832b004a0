// Runs of a session as runs to compare: what stands in a LabView now, with the reruns of "Is it luck?" as further
// seeds. Called by the Compare screen when something changed; a history is shared and not copied, so what it gains
// later is seen by a comparison that is made later.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compare/comparison.h"
#include "training/session/lab.h"

namespace normscope::compare {

class LiveRuns {
 public:
  /// The run with this letter; none where the view has no such run, or it has no history. `clock` false: without what
  /// depends on the machine's speed (reproducible pictures).
  std::optional<Compared> take(const LabView& view, char letter, bool clock = true);

 private:
  std::shared_ptr<const History> history_of(const std::shared_ptr<const std::vector<float>>& losses);

  /// The losses of a rerun as a history, made once. The losses keep their address while they are held here.
  std::map<std::shared_ptr<const std::vector<float>>, std::shared_ptr<const History>> reruns_;
};

/// Changes when a comparison with this run would: its history, its reruns, its settings. Empty where there is none.
std::string live_key(const LabView& view, char letter);

}  // namespace normscope::compare
