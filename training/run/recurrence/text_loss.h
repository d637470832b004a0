// `text_loss` says how well a decoder predicts consecutive text, with any memory. The memory may be longer than in
// training, because the table of distances is no weight and W_R, u, v serve every distance (Dai et al. 2019, section
// 3.3). Called by normscope evaluate.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/spec/spec.h"

namespace normscope {

struct TextLoss {
  double loss = 0;  ///< nats a target, mean over all
  int64_t targets = 0;
  int32_t batches = 0;  ///< fewer than requested where the validation split has no more
  double bits() const;  ///< the same in bits a symbol
};

/// Measures over consecutive batches of the validation split, starting from an empty memory. A batch has
/// the specification's rows, or fewer for a short text. `task` gives consecutive batches. `weights` belong to a run
/// of `spec` and are copied. `go_on` is asked before each batch with the number done. Throws Error for a memory that
/// the model cannot have, and where no row has a second segment.
TextLoss text_loss(const Store& weights, const RunSpec& spec, const Task& task, int32_t memory,
                   int32_t most_batches, const std::function<bool(int32_t)>& go_on = {});

}  // namespace normscope
