// Theory is what the papers predict for a freshly initialised model, as plain functions and as curves that a plot can
// lay over its data. Every function is one named equation; kEquations names its source in words that a plot may
// print. Symbols: D width, r = F/D feed-forward width over D, n tokens of a sequence, v_i variance of branch i, q
// mean square of a state. Called by the plots, lessons and tests; measure/step_metrics.h and
// measure/initial_analysis.h measure the same quantities.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model/model_config.h"

namespace normscope {
class Task;
}

namespace normscope::theory {

struct Equation {
  const char* name;     ///< "Lemma 2, Pre-LN"
  const char* formula;  ///< "1 + l g <= q_l <= 1 + l (1 + g)"
  const char* source;   ///< "Xiong et al. 2020"
};
/// Lists all equations of this file.
std::span<const Equation> equations();
const Equation& equation(std::string_view name);  ///< throws Error for an unknown name

struct Bounds {
  double low = 0, high = 0;
};

/// "feed-forward gain": `feed_forward_gain` is the variance of W2 relu(W1 x) over that of x under Xavier, 1/2 for F =
/// D and 0.32 for F = 4D:
///   g(r) = 2r / (1 + r)^2
double feed_forward_gain(double r);
/// "Lemma 2, Post-LN": `post_residual_square` is the mean square of x + FFN(x) before the norm on the stream, 1 + g
/// (3/2 for F = D).
double post_residual_square(double r);
/// "Lemma 2, Pre-LN": `pre_stream_square` bounds the mean square of the stream after `layers` whole layers: 1 + l/2
/// to 1 + 3l/2 for F = D.
Bounds pre_stream_square(int32_t layers, double r, double q0 = 1);
/// "correlation map": `relu_correlation` is the cosine of relu(Wx) and relu(Wy) for x, y of cosine c, over that of
/// equal vectors.
double relu_correlation(double c);

/// "mean field": `MeanField` has the numbers that a recursion gives within the bounds of Lemma 2, for uniform
/// attention over n tokens that are uncorrelated at first. One entry for each layer.
struct MeanField {
  double square = 0;  ///< Pre-LN: q after the layer; Post-LN: q of the attention's residual sum
  double cosine = 0;  ///< between tokens after the layer
};
std::vector<MeanField> post_mean_field(int32_t layers, int32_t n, double r);
std::vector<MeanField> pre_mean_field(int32_t layers, int32_t n, double r, double q0 = 1);

/// "dependency": beta2[i-1][j] for branch variances v[0..N-1] and an embedding of variance v0, with uncorrelated
/// branches. omega: skip scale of each sub-layer, empty for 1. Post: a norm after every sum (v0 counts as 1). Rows
/// sum to one.
std::vector<std::vector<double>> dependency_pre(double v0, std::span<const double> v);
std::vector<std::vector<double>> dependency_post(std::span<const double> v,
                                                 std::span<const double> omega = {});
/// "own share": `own_share` is computed from the variances that live measurements record:
///   beta2_ii = v_i / (skip variance + v_i)
double own_share(double branch_variance, double input_variance);
/// "sum of own shares, Post-LN" and "sum of own shares, Pre-LN", for equal variances:
///   N v / (1 + v)
///   sum_i v / (1 + i v)
double own_shares_post(int32_t sublayers, double v);
double own_shares_pre(int32_t sublayers, double v);

/// "last layer": `last_layer_gradient` is the norm of dL/dW2 of the last layer, averaged over n tokens:
///   sqrt( D r/(1+r) g^2 (1 + (n-1) a) / (n q) )
/// q is the mean square of the last norm's input, g^2 that of a token's loss gradient at the output. a is the mean
/// over pairs of tokens of kappa(c) eta, with c the cosine of their states and eta that of their gradients.
double last_layer_gradient(double width, double n, double q, double g2 = 1, double a = 0, double r = 1);

/// How alike places of a text are: probabilities for two places drawn at random, from counts.
struct Agreement {
  int32_t vocabulary = 0;  ///< 0: unknown, or some targets count for nothing (masked, padded)
  double token = 0;        ///< both hold the same token: the sum of squared frequencies
  double pair = 0;         ///< both hold the same token and the same target
  double repeat = 0;       ///< for one place: its target is its own token
};
/// Counts over training batches of a task that writes the next symbol, in rows of `length`.
Agreement agreement_of(const Task& task, int32_t length);

/// "last layer" for real text at initialisation, with the numbers that enter it.
struct LastLayer {
  double gradient = 0;        ///< expected norm of dL/dW2 of the last layer at step 1
  double square = 0;          ///< q
  double token_gradient = 0;  ///< g^2
  double alignment = 0;       ///< a
};
/// A mean field over six kinds of pairs of tokens: of one sequence, at one place of two
/// sequences, or at two places of two sequences; each of one symbol or of two. The tokens share symbol and position
/// embeddings from the start and grow more alike through attention (even over the positions seen) and ReLU. Logits
/// have unit variance; with tied tables a token's own symbol stands out by root(D times its share of the state). It
/// speaks of a causal decoder, Post-LN or Pre-LN, with Xavier's variances, ReLU, a norm that leaves unit mean square,
/// learned or no positions, no dropout and no label smoothing; empty elsewhere. Measured: within 17 % of the root
/// mean square over ten seeds (depths 1 to 24, widths 32 to 128, batches 1 to 16, tied or not); single seeds scatter
/// by 10 % (Pre-LN) to 25 % (Post-LN).
std::optional<LastLayer> last_layer_start(const ModelConfig& config, int32_t batch, const Agreement& data);
/// "Pre-LN profile": `pre_gradient_profile` is the norm of dL/dW2 of layer l relative to the last layer's, root of
/// q_{L+1}/q_{l+1}; `squares` are those after each layer.
std::vector<double> pre_gradient_profile(std::span<const double> squares);

}  // namespace normscope::theory
