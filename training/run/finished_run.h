// What a run left at the end of its budget, or where it stopped being finite, in memory: a Run goes on from it. Kept by
// session/run_cache.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "training/run/keyframes.h"
#include "training/run/run.h"

namespace normscope {

/// Made by Run::finished(); a Run goes on from it by Run::resume().
struct FinishedRun : RunPast {
  std::shared_ptr<const History> history{};  ///< nullptr: nothing but the losses was kept
  std::shared_ptr<const Keyframe> end{};     ///< weights and optimizer state; nullptr as above
  bool whole() const { return history && end; }
  size_t bytes() const;
};

/// The whole of a run but its name, as text. The same for a specification and for the completed one of the
/// Run that was made of it.
std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits);
std::string run_key(const RunPast& past);  ///< with the edits that are to come

}  // namespace normscope
