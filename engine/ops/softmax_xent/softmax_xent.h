// The cross-entropy of a softmax.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// out (1) = sum_r w_r CE(logits_r, target_r) / sum_r w_r over rows with target >= 0; with label smoothing e: CE =
/// (1-e) (-log p_target) + e mean_v(-log p_v). logits (..,V), targets i32 with as many elements as rows, weights
/// f32 likewise or kNone. saved[0] = log-sum-exp (R), saved[1] = normalised row weight w_r / sum w (R).
ValueId softmax_xent(Tape&, const std::string& name, ValueId logits, ValueId targets, ValueId weights);

}  // namespace normscope
