// These measurements of a run are taken on request, on its own weights and data. Separate evaluation programs take
// them, so that no bit of the run changes. Padded positions do not count. Used by `normscope measure` and tests.
// (measure/initial_analysis.h measures a model at initialisation on random batches.)
#pragma once

#include "training/run/run.h"

namespace normscope {

/// A weight's gradient over mini-batches (the next training batches, dropout off). Xiong et al. 2020, figure 3 shows
/// the norm of the mean gradient, which noise inflates for few batches; the mean norm is reported too.
struct MeanGradient {
  std::string name;  ///< "L03.ffn.w2"
  int32_t layer = 0;
  double norm_of_mean = 0;   ///< |mean g|
  double mean_of_norms = 0;  ///< mean |g|, never smaller
};
std::vector<MeanGradient> mean_gradients(Run& run, int32_t batches);

/// The size of the attention logits q k / sqrt(D/H), as scale and cap of the op make them, over visible
/// pairs of positions and all heads, on the validation batches. With normalised queries and keys (gain 1) no logit
/// exceeds sqrt(D/H).
struct LogitSize {
  std::string name;  ///< "L03.attn"
  int32_t layer = 0;
  double largest = 0;  ///< signed
  double root_mean_square = 0;
};
std::vector<LogitSize> logit_sizes(Run& run);

/// The spectral norm of a norm's Jacobian dy/dx, row by row, before its gain:
///    layer norm  1/sigma, from 3 features on (Xiong et al. 2020, Lemma 3)
///    RMS norm    1/rms
///    DyT         alpha max_j sech^2(alpha x_j)
///    Derf        2/sqrt(pi) alpha max_j exp(-(alpha x_j + s)^2)
///    AdaNorm     1/sigma: without its own factor
struct NormJacobian {
  std::string name;  ///< the norm's: "L03.attn.stream", "final"
  int32_t layer = 0;
  NormKind kind = NormKind::None;
  double mean = 0, largest = 0;
};
std::vector<NormJacobian> jacobian_norms(Run& run);

/// How little Z = |x|^2 of a residual sum varies over the positions. A norm on the residual stream divides this sum;
/// without one the sum is the stream itself. Z is (eps, delta)-bounded when Z <= (1 + eps) E Z with probability 1 -
/// delta (Xiong et al. 2020, Definition 1, with 0.1 and 0.125).
struct Concentration {
  std::string name;  ///< "L03.ffn"
  int32_t layer = 0;
  double mean = 0;     ///< E Z
  double delta = 0;    ///< share of the positions with Z > (1 + eps) E Z
  double epsilon = 0;  ///< the smallest eps for which that share is at most the requested delta
};
std::vector<Concentration> concentrations(Run& run, double epsilon = 0.1, double delta = 0.125);

/// The effective learning rate of a layer: root mean square of its update over root mean square of its weights, all
/// matrices and vectors of the layer together. The step is taken on a copy of the run.
struct UpdateRatio {
  std::string name;  ///< "L03", "dec.L03"; "" outside the layers
  int32_t layer = 0;
  double update = 0, weight = 0;  ///< root mean squares
  double ratio() const { return weight > 0 ? update / weight : 0; }
};
std::vector<UpdateRatio> update_ratios(const Run& run);

/// The numbers of measure/update_metrics.h for the next step, which a copy of the run takes.
struct UpdateNumbers {
  std::string name;  ///< "L03", "dec.L03", "emb"
  double spike_ratio = 0, update_cosine = 0;
};
std::vector<UpdateNumbers> next_update(const Run& run);

}  // namespace normscope
