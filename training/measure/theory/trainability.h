// The trainability of a stack at initialisation, predicted by mean field for any wiring of one stream: whether its token
// states collapse onto one direction on the way up, and whether gradients vanish or explode on the way down. Two numbers
// a network, no run needed: a map over two settings takes milliseconds. The idea to judge a transformer's start by these
// two is Cowsik et al. 2024 (Geometric Dynamics of Signal Propagation Predict Trainability of Transformers, arXiv
// 2403.02579; the abstract was read); the recursions are ours, docs/theory.md. Called by sweeps, studies and tests.
#pragma once

#include <limits>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/model_config.h"

namespace normscope::theory {

/// The largest variance of attention's logits for which the mean field holds: beyond it a query hears few
/// keys, and which ones decides.
inline constexpr double kMostLogits = 16;

/// The mean squares of what meets where a branch joins, scales included, as live measurements take
/// their variances.
struct SublayerAtStart {
  double stream = 0, branch = 0;
};

/// The predictions of mean field theory for a network at initialisation. They are NaN where an assumption does not
/// hold, which `objection` then names: "the activation is not ReLU".
struct AtStart {
  double cosine =
      std::numeric_limits<double>::quiet_NaN();  ///< between two tokens' states of a sequence, behind the
                                                 ///< last layer; 1: collapsed
  double square = cosine;                        ///< mean square of the stream there
  double gradient =
      cosine;  ///< root mean square of the loss gradient at the stream below layer 1, over that behind
               ///< the last layer
  double logits = cosine;  ///< largest variance of attention's logits among a query's keys
  Message objection{};
  std::vector<SublayerAtStart> sublayers{};  ///< attention of layer 1, its feed-forward network, and so on
};

/// Follows states up and gradients down. `same_token` is how often two places hold the same symbol
/// (Agreement::token); 0: not known.
AtStart at_start(const ModelConfig& config, double same_token);

/// How unevenly softmax weighs a query's keys whose logits are normal. Their quantiles stand for a draw.
class KeyShares {
 public:
  KeyShares(int32_t tokens, bool causal);
  struct Shares {
    double own = 0;  ///< sum A^2 over a query's keys, mean over queries; without variance the mean of 1/keys
    /// How much of a gradient passes the softmax, sum A^2 - 2 sum A^3 + (sum A^2)^2; 0 for one key.
    double moved = 0;
  };
  Shares at(double logit_variance) const;

 private:
  std::vector<std::vector<double>> quantiles_;  ///< by query, of each of its keys
};

}  // namespace normscope::theory
