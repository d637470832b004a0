// Measurements of a run, taken on request: on its own weights and data, by separate evaluation programs, so that
// no bit of the run changes. Padded positions do not count. Used by `normscope measure`, the Lab and tests.
// (measure/initial_analysis.h has those of a model at initialisation on random batches.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/run/run.h"

namespace normscope {

/// Gradients of a weight over mini-batches (the next training batches, dropout off): Xiong et al. 2020,
/// figure 3 shows the norm of the mean gradient, which noise inflates while there are few; both are reported.
struct MeanGradient {
  std::string name;  ///< "L03.ffn.w2"
  int32_t layer = 0;
  double norm_of_mean = 0;   ///< |mean g|
  double mean_of_norms = 0;  ///< mean |g|, never smaller
};
std::vector<MeanGradient> mean_gradients(Run& run, int32_t batches);

/// Attention logits q k / sqrt(D/H) over visible pairs of position, all heads, on the validation batches.
/// With normalised queries and keys (gain 1) none exceeds sqrt(D/H).
struct LogitSize {
  std::string name;  ///< "L03.attn"
  int32_t layer = 0;
  double largest = 0;  ///< signed
  double root_mean_square = 0;
};
std::vector<LogitSize> logit_sizes(Run& run);

/// Spectral norm of the norm's Jacobian dy/dx, row by row, before its gain: 1/sigma for layer norm from 3
/// features on (Xiong et al. 2020, Lemma 3), 1/rms for RMS norm, alpha max_j sech^2(alpha x_j) for DyT; of
/// AdaNorm, its normalisation.
struct NormJacobian {
  std::string name;  ///< of the norm: "L03.attn.trunk", "final"
  int32_t layer = 0;
  NormKind kind = NormKind::None;
  double mean = 0, largest = 0;
};
std::vector<NormJacobian> jacobian_norms(Run& run);

/// Concentration of Z = |x|^2 over the positions of each residual sum (what a norm on the residual stream divides;
/// without one the stream itself): (eps, delta)-bounded when Z <= (1 + eps) E Z with probability 1 - delta (Xiong
/// et al. 2020, Definition 1; theirs: 0.1 and 0.125).
struct Concentration {
  std::string name;  ///< "L03.ffn"
  int32_t layer = 0;
  double mean = 0;     ///< E Z
  double delta = 0;    ///< share of the positions with Z > (1 + eps) E Z
  double epsilon = 0;  ///< the smallest eps for which that share is at most the delta asked for
};
std::vector<Concentration> concentrations(Run& run, double epsilon = 0.1, double delta = 0.125);

/// The learning rate as a layer feels it: root mean square of its update over that of its weights, all
/// matrices and vectors of the layer together. One step is taken on a copy of the run.
struct UpdateRatio {
  std::string name;  ///< "L03", "dec.L03"; "" outside the layers
  int32_t layer = 0;
  double update = 0, weight = 0;  ///< root mean squares
  double ratio() const { return weight > 0 ? update / weight : 0; }
};
std::vector<UpdateRatio> update_ratios(const Run& run);

}  // namespace normscope
