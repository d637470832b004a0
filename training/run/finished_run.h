// `FinishedRun` is in memory what a run left at the end of its budget, or where it stopped being finite.
// session/run_cache.h keeps it.
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
  std::shared_ptr<const History> history{};  ///< nullptr: only the losses were kept
  std::shared_ptr<const Keyframe> end{};     ///< weights and optimizer state; nullptr as above
  bool whole() const { return history && end; }
  size_t bytes() const;
};

/// Writes the whole of a run but its name as text. A specification and the completed one of the Run made of
/// it have the same key.
std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits);
std::string run_key(const RunPast& past);  ///< with the edits that are to come

}  // namespace normscope
