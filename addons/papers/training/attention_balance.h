// How strongly attention's probabilities answer to its logits.
#pragma once

#include <vector>

namespace normscope {

/// The balanced-mass factor of Emadi 2026 (arXiv 2602.18849, abstract) of a row of probabilities: the norm of softmax's
/// Jacobian diag(p) - p p' from the largest change of a logit to the sum of the probabilities' changes. With P(S) the
/// probability of a set S of keys
///   theta  =  max over S of 4 P(S) (1 - P(S)),
/// 1 where some set has half of the probability, 0 where one key has all of it. This form is our own derivation: a
/// vector of signs s has the image p_i (s_i - sum_j p_j s_j), whose absolute values add up to 4 P(S) (1 - P(S)). The
/// set is found greedily, largest probability first to the lighter side, which is exact where one key has half or more,
/// and otherwise gives at least 8/9.
double balanced_mass(std::vector<float> probabilities);

}  // namespace normscope
