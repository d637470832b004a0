// Theory curves are lines for plots by layer. Each states its assumptions as code; where one does not hold, the line
// is not drawn. The equations are theory.h's; docs/theory.md derives our own and compares each with measurements.
// Called by the plots and tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/measure/theory/theory.h"

namespace normscope::theory {

/// What a line is laid over, by layer.
enum class Subject : uint8_t {
  StreamSquare,  ///< mean square of the residual sum behind the feed-forward network of each layer
  TokenCosine,   ///< mean cosine between different tokens of a sequence, behind each layer
  Gradient,      ///< norm of dL/dW2, as a share of the last layer's
};
/// Which loss the gradients are of. Their profiles differ: see "Post-LN profile".
enum class Loss : uint8_t { OnePosition, BatchMean };

/// All that a line depends on beside the model.
struct Question {
  Subject subject = Subject::StreamSquare;
  bool decoder = true;  ///< which of two stacks
  Loss loss = Loss::BatchMean;
  double same_token = 0;  ///< Agreement::token; 0: not known
  /// For Gradient, in a decoder with cross-attention: the measured variance of each layer's cross branch over that of
  /// its skip path at step 1.
  std::span<const double> cross_variance{};
};

/// A line for a plot: low[k] at layer x[k]; a band where `high` is not empty. The mean over a few networks
/// at initialisation lies within a factor `within` of it (of the band's nearer edge): docs/theory.md has the
/// measurements.
struct Line {
  const Equation* equation = nullptr;
  std::vector<double> x, low, high;
  double within = 1;
};
/// "decoder profile" from measured variances: the product of (1 + v_k)^(-1/2) over the layers k above l.
std::vector<double> decoder_gradient_profile(std::span<const double> cross_variance);
/// The mean square of x_0 at initialisation. The token table has unit variance and positions add
/// theirs; it is one behind a norm on the embedding and for a Gaussian input.
double start_square(const ModelConfig& config, bool decoder);

/// The lines whose assumptions all hold; empty where no equation applies. theory_curves.cpp has the
/// assumptions beside each equation.
std::vector<Line> lines(const ModelConfig& config, const Question& question);
/// The first assumption of an equation that does not hold: "cross-attention adds a third branch";
/// empty when all hold. Throws Error for an equation that draws no line by layer.
std::string objection(std::string_view equation, const ModelConfig& config, const Question& question);

}  // namespace normscope::theory
