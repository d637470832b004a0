// Theory as lines for plots by layer, each with its assumptions as code; a line whose assumptions do not hold is
// not drawn. The equations are theory.h's; docs/theory.md derives our own and compares each with measurements.
// Called by the plots and tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/measure/theory.h"

namespace normscope::theory {

/// What a line is laid over, by layer.
enum class Subject : uint8_t {
  StreamSquare,  ///< mean square of the residual sum behind the feed-forward network of each layer
  TokenCosine,   ///< mean cosine between different tokens of a sequence, behind each layer
  Gradient,      ///< norm of dL/dW2, as a share of the last layer's
};
/// Of which loss the gradients are. Their profiles differ: see "Post-LN profile".
enum class Loss : uint8_t { OnePosition, BatchMean };

/// All that a line depends on beside the model.
struct Question {
  Subject subject = Subject::StreamSquare;
  bool decoder = true;  ///< which stack; of a model with one, that one
  Loss loss = Loss::BatchMean;
  double same_token = 0;  ///< Agreement::token; 0: not known
  /// Gradient, decoder with cross-attention: variance of each layer's cross branch over that of its skip path
  /// at step 1, measured.
  std::span<const double> cross_variance{};
};

/// A line for a plot: low[k] at layer x[k]; a band where `high` is not empty. A network at initialisation
/// lies within a factor `within` of it (of the band's nearer edge), the mean over a few seeds: docs/theory.md
/// has the measurements.
struct Line {
  const Equation* equation = nullptr;
  std::vector<double> x, low, high;
  double within = 1;
};
/// "decoder profile" from measured variances: the product of (1 + v_k)^(-1/2) over the layers k above l.
std::vector<double> decoder_gradient_profile(std::span<const double> cross_variance);
/// Mean square of x_0 at initialisation: the token table has unit variance, positions add theirs; one behind
/// a norm on the embedding and for a Gaussian input.
double start_square(const ModelConfig& config, bool decoder);

/// The lines of which every assumption holds; empty where no equation speaks. Assumptions are code, and stand
/// with each equation in theory_curves.cpp.
std::vector<Line> lines(const ModelConfig& config, const Question& question);
/// The first assumption of an equation that does not hold: "cross-attention adds a third branch"; empty when
/// all do. Throws Error for an equation that draws no line by layer.
std::string objection(std::string_view equation, const ModelConfig& config, const Question& question);

}  // namespace normscope::theory
