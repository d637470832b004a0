// What a run leaves behind, wherever it lies: in memory after its end (session/run_cache.h), in a
// checkpoint (checkpoint.h), in a study. Run::record() makes one, and Run::resume() goes on from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tape/store.h"
#include "training/data/data_identity.h"
#include "training/measure/history.h"
#include "training/run/keyframes.h"
#include "training/spec/spec.h"

namespace normscope {

/// What decides a run's bits.
struct RunIdentity {
  RunSpec origin;                      ///< as it stood at step 0
  std::vector<Edit> edits, scheduled;  ///< the applied ones, in order; the ones whose step has not come yet
  DataIdentity data{};
  std::vector<Edit> all_edits() const;  ///< the applied ones, then the others
  RunSpec spec() const;                 ///< with the applied edits
  /// All of it but the name and the data as text. A specification and the completed one of the Run made of it have the
  /// same key.
  std::string key() const;
};

/// Where a value first stopped being finite, in execution order.
struct NonFiniteReport {
  int32_t layer = 0;   ///< 1-based, 0 outside the layers
  std::string tensor;  ///< "L03.attn output", "loss", "L02.attn.wq gradient"
  int32_t step = 0;
};

struct RunRecord : RunIdentity {
  std::vector<float> losses;  ///< of every step, those before a fork included
  std::optional<NonFiniteReport> broken{};
  std::shared_ptr<const History> history{};  ///< null: only the losses were kept
  std::shared_ptr<const Keyframe> end{};     ///< weights and optimizer state; null as above
  std::vector<ParameterInfo> parameters{};   ///< what lies where in the blocks of `end`
  int32_t steps() const { return static_cast<int32_t>(losses.size()); }
  bool whole() const { return history && end; }
  size_t bytes() const;
};

/// The bytes of a history's frames in a checkpoint.
inline constexpr size_t kSavedFrameBytes = size_t{3} << 20;

}  // namespace normscope
