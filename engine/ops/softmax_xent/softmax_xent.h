// The cross-entropy of a softmax.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// Records the mean cross-entropy of the rows of logits (..,V) whose target is in [0,V). targets (R) are
/// i32; weights w (R) are f32, or kNone for all one. With p_r = softmax(logits_r) and the label smoothing e:
///   CE_r     =  (1 - e) (-log p_{r,target}) + e mean over v of (-log p_{r,v})
///   out (1)  =  (sum over r of w_r CE_r) / (sum over r of w_r)
/// saved[0] = log-sum-exp (R), saved[1] = w_r / sum of w (R), which is 0 for rows without a target.
ValueId softmax_xent(Tape&, const std::string& name, ValueId logits, ValueId targets,
                     ValueId weights = kNone);

}  // namespace normscope
