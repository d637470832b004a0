// The papers' predictions for a freshly initialised model, as plain functions and as curves that a plot can
// lay over its data. Every function is one named equation. Symbols: D width, r = F/D feed-forward width over D, n
// tokens of a sequence, v_i variance of branch i, q mean square of a state. Called by the plots, lessons and tests;
// measure/step_metrics.h and measure/initial_analysis.h measure the same quantities.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/model_config.h"

namespace normscope {
class Task;
}  // namespace normscope

namespace normscope::theory {

struct Bounds {
  double low = 0, high = 0;
};

/// "feed-forward gain" (He et al. 2015 under Xavier's variance): the variance of W2 relu(W1 x) over the variance of x,
/// 1/2 for F = D and 0.32 for F = 4D:
///   g(r) = 2r / (1 + r)^2
double feed_forward_gain(double r);
/// "Lemma 2, Post-LN" (Xiong et al. 2020 for F = D; ours for another F): the mean square of x + FFN(x) before the
/// norm on the stream, 1 + g (3/2 for F = D).
double post_residual_square(double r);
/// "Lemma 2, Pre-LN" (Xiong et al. 2020 for F = D and q0 = 1; ours beyond): bounds of the mean square of the stream
/// after `layers` whole layers: 1 + l/2 to 1 + 3l/2 for F = D.
Bounds pre_stream_square(int32_t layers, double r, double q0 = 1);
/// "correlation map" (Cho and Saul 2009): the cosine of relu(Wx) and relu(Wy) for x, y of cosine c, over the cosine
/// for equal vectors.
double relu_correlation(double c);

/// "last layer" (ours; its order in D and L is bounded by Xiong et al. 2020, Theorem 1): the norm of dL/dW2 of the
/// last layer, averaged over n tokens:
///   sqrt( D r/(1+r) g^2 (1 + (n-1) a) / (n q) )
/// q is the mean square of the last norm's input, g^2 the mean square of a token's loss gradient at the output. a is
/// the mean over pairs of tokens of kappa(c) eta, with c the cosine of their states and eta the cosine of their
/// gradients.
double last_layer_gradient(double width, double n, double q, double g2 = 1, double a = 0, double r = 1);

/// How alike the positions of a text are: probabilities for two positions drawn at random, from counts.
struct Agreement {
  int32_t vocabulary = 0;  ///< 0: unknown, or some targets count for nothing (masked, padded)
  double token = 0;        ///< both hold the same token: the sum of squared frequencies
  double pair = 0;         ///< both hold the same token and the same target
  double repeat = 0;       ///< for one position: its target is its own token
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
/// A mean field over six kinds of pairs of tokens: in one sequence, at one position of two sequences, or at two
/// positions of two; each of one symbol or of two. The tokens share symbol and position embeddings from the start and
/// grow more alike through attention (even over the positions seen) and ReLU. Logits have unit variance; with tied
/// tables a token's own symbol stands out by root(D times its share of the state). It speaks of a causal decoder,
/// Post-LN or Pre-LN, with Xavier's variances, ReLU, a norm that leaves unit mean square, learned or no positions, no
/// dropout and no label smoothing; empty elsewhere. Measured: within 17 % of the root mean square over ten seeds
/// (depths 1 to 24, widths 32 to 128, batches 1 to 16, tied or not); single seeds scatter by 10 % (Pre-LN) to 25 %
/// (Post-LN).
std::optional<LastLayer> last_layer_start(const ModelConfig& config, int32_t batch, const Agreement& data);
/// "Pre-LN profile": `pre_gradient_profile` is the norm of dL/dW2 of layer l relative to the last layer's, root of
/// q_{L+1}/q_{l+1}; `squares` has the mean square of the stream after each layer.
std::vector<double> pre_gradient_profile(std::span<const double> squares);

// ---- the mean field of states on text: mean squares and covariances of token states at initialisation, from layer to
// layer, derived in docs/theory.md

/// The relation of two tokens of a batch: in one sequence, at one position of two sequences, at two positions of two.
enum PairPlace : size_t { kSequence, kColumn, kApart, kPairPlaces };
/// A number for each relation, of tokens with the same symbol (0) and with two symbols (1).
template <typename T>
using Pairs = std::array<std::array<T, 2>, kPairPlaces>;

/// Attention with equal weights on all keys that a query sees: all T, or 1..t for query t if causal.
struct EvenAttention {
  /// Mean over queries of the sum of squared weights, which is one over the number of keys.
  double own_key = 0;
  double common_key = 0;  ///< mean over pairs of queries of the sum of products of their weights
  double others = 0;      ///< mean over keys of the sum over pairs of different queries of such products
};
EvenAttention even_attention(int32_t tokens, bool causal);

/// The objection to every derivation for a model whose attention, transfer, feed-forward network, embedding or dropout
/// differs from their common assumption; null: none.
const char* objection_to_parts(const ModelConfig& config);

Placement placement_of_stack(const ModelConfig& config, bool decoder);
/// The states of a Post-LN or Pre-LN stack at a depth: mean square, covariances by kind of pair, and the part
/// that is the token's own symbol.
class States {
 public:
  /// `same_token`: how often two positions hold the same symbol; a Gaussian input has no symbols.
  States(const ModelConfig& config, bool decoder, double same_token);
  /// Averages over the positions that a query sees: no position weighs more by its distance.
  void attend();
  /// `hidden` becomes the correlation of the hidden units.
  void feed_forward(Pairs<double>& hidden);

  double cosine(size_t place, size_t other) const;
  double cosine_in_sequence() const { return mean(kSequence) / square_; }
  double last_sum() const { return last_sum_; }         ///< mean square of the newest residual sum
  double own_symbol() const { return own_ / square_; }  ///< share of the mean square

 private:
  double mean(PairPlace place) const {
    return same_token_ * covariance_[place][0] + (1 - same_token_) * covariance_[place][1];
  }
  void divide(double by);

  bool post_;
  double gain_, same_token_, own_key_ = 0, common_key_ = 0;
  double square_ = 1, last_sum_ = 1, own_ = 1;
  Pairs<double> covariance_{};
};

// ---- lines for plots by layer: each states its assumptions as code, and where one does not hold, the line is not
// drawn; docs/theory.md compares each with measurements

/// The measured number under a line, by layer.
enum class Subject : uint8_t {
  StreamSquare,  ///< mean square of the residual sum behind the feed-forward network of each layer
  TokenCosine,   ///< mean cosine between different tokens of a sequence, behind each layer
  Gradient,      ///< norm of dL/dW2, as a share of the last layer's
};
/// Which loss the gradients are of. Their profiles differ: see "Post-LN profile".
enum class Loss : uint8_t { OnePosition, BatchMean };

/// All that a line depends on apart from the model.
struct Question {
  Subject subject = Subject::StreamSquare;
  bool decoder = true;  ///< which of two stacks
  Loss loss = Loss::BatchMean;
  double same_token = 0;  ///< Agreement::token; 0: not known
  /// For Gradient, in a decoder with cross-attention: the measured variance of each layer's cross branch over its
  /// skip path's at step 1.
  std::span<const double> cross_variance{};
};

/// A line for a plot: low[k] at layer x[k]; a band where `high` is not empty. The mean over a few networks
/// at initialisation lies within a factor `within` of it (of the band's nearer edge): docs/theory.md sums up
/// the measurements.
struct Line {
  const char* equation = "";  ///< "Lemma 2, Pre-LN"
  std::vector<double> x, low, high;
  double within = 1;
};
/// "decoder profile" (ours; the mechanism is Liu et al. 2020, appendix A.3) from measured variances: the product of
/// (1 + v_k)^(-1/2) over the layers k above l.
std::vector<double> decoder_gradient_profile(std::span<const double> cross_variance);
/// The mean square of x_0 at initialisation. The token table has unit variance and positions add
/// theirs; it is one behind a norm on the embedding and for a Gaussian input.
double start_square(const ModelConfig& config, bool decoder);

/// The lines whose assumptions all hold; empty where no equation applies. theory.cpp has the assumptions next to each
/// equation.
std::vector<Line> lines(const ModelConfig& config, const Question& question);
/// The first assumption of an equation that does not hold: "cross-attention adds a third branch";
/// empty when all hold. Throws Error for an equation that draws no line by layer.
Message objection(std::string_view equation, const ModelConfig& config, const Question& question);

// The trainability of a stack at initialisation, predicted by mean field for any wiring of one stream: whether its
// token states collapse onto one direction on the way up, and whether gradients vanish or explode on the way down. Two
// numbers a network, no run needed: a map over two settings takes milliseconds. The idea to judge a transformer's start
// by these two is Cowsik et al. 2024 (Geometric Dynamics of Signal Propagation Predict Trainability of Transformers,
// arXiv 2403.02579; the abstract was read); the recursions are ours, docs/theory.md. Called by sweeps, studies and
// tests.

/// The largest variance of attention's logits for which the mean field holds: beyond it a query hears few
/// keys, and which ones decides.
inline constexpr double kMaxLogits = 16;

/// The mean squares of stream and branch where they join, scales included, as live measurements take variances.
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

/// Follows states up and gradients down. `same_token` is how often two positions hold the same symbol
/// (Agreement::token); 0: not known.
AtStart at_start(const ModelConfig& config, double same_token);

/// How unevenly softmax weighs a query's keys whose logits are normal. Quantiles of the normal replace a random draw.
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
