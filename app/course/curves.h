// Measures the curves of a lesson. What `y` may be, by the kind of the curve:
//
//   run     loss, excess (loss minus the unigram entropy), token_cosine (after the last layer), rate (the learning
//           rate), critical_rate (at the steps at which train.critical_every measures it), [enc. or dec.]skip_product
//           (history.h), a number of History::layout ("L01.ffn.w2.grad_norm"), or the ratio of two ("a / b")
//   sweep   final_loss, final_excess: mean over the last kLossWindow steps; learns: 1 where it does, else 0
//   border  learns: the largest of the values of another field with which the run learns (map.h)
//   depth   last_gradient: norm of dL/dW2 of the last layer; own_shares: sum of beta^2_ii; log_offset: N0
//           that the variances of input and branches predict for log(1 + N/N0); output_change: by noise on the
//           matrices of all sub-layers, the mean of two draws; step_change: by one optimizer step. x: layers
//           for last_gradient, sub-layers N = 2L for the others
//   layers  stream: mean square of the residual sum after the feed-forward network of each layer;
//           attention_stream: after its attention; between_bounds: where the former lies between the bounds
//           of Lemma 2 for Pre-LN, 0 the lower and 1 the upper; gradient: norm of dL/dW2 of each layer; x:
//           the layer. above_tenth: share of positions whose square in `stream` is over a tenth above the mean.
//           skip: mean skip scale (omega); branch: mean square of the branch's output; x: the sub-layer. path: mean
//           square of the input, then of the sum after each sub-layer, before a norm on the stream; x: 1, 2, 3, ...
//   shares  own: beta^2_ii; sum: of row i; x: the sub-layer
//   norm    of the run's norm: jacobian, its spectral norm; jacobian_product, jacobian times |x| over sqrt(width);
//           gradient_mean, gradient_variance: the parts of a gradient's mean and variance that its backward pass keeps
//           (NormGradient, measure/small_tape.h). Of the run's activation: activation_share, mean square of its output
//           over its input's. x: scale, width or shift of the rows; default width: the model's, default scale: 1
//   wiring  norms: how many each branch's output passes before it enters the last branch; x: the sub-layer
//   profile a number of the run's history with L* in the layer's place ("dec.L*.ffn.w2.grad_norm"), or its ratio
//           to another one or to one layer's ("... / dec.L01.ffn.w2.grad_norm"), at one step; x: the layer. At
//           several steps it is a walk: x is 1, 2, 3, ..., all layers of a step before the layers of the next
//   left_out  layer: rise of the validation loss of the trained run without that layer, nats; top: without the
//           last x layers
//   one_step  change: by how much one step changes the loss of its own batch, had it been made at another learning
//           rate; x: the rate
//   tape    a number of a tape (tapes.h); x: a field's values, the steps, or the indices of its numbers
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"
#include "training/experiments/run_store.h"

namespace normscope::course {

struct CurveData {
  std::vector<double> x, y;
  bool operator==(const CurveData&) const = default;
};
using CurveSet = std::map<std::string, CurveData>;  ///< by the curve's id, of one seed

/// Whether the curve is measured on runs that are trained to their end, not on fresh models.
bool is_trained(const Curve& curve);
bool asks_critical_rate(const Curve& curve);
/// Whether the curve grows while its run trains; see partial_curve().
bool grows(const Curve& curve);
/// Whether the curve has every layer at several steps: what a walk draws (pictures/pictures.h).
inline bool is_walk(const Curve& curve) { return curve.of == Curve::Of::Profile && curve.to > curve.from; }

/// What the norms on the stream divide a gradient by at one step of a walk, for each layer from the lowest, on the way
/// from the W2 of the layer above to its own: the roots of the mean squares that the sub-layers of the layer above read,
/// from the top and without its last, then of the layer's own last. `squares` has all layers of each sub-layer.
std::vector<std::vector<double>> divisors_of(const std::vector<std::span<const double>>& squares);

/// The number of layers of the stack to which a name such as "dec.L*.ffn.w2.grad_norm" belongs.
int32_t layers_of(const std::string& name, const ModelConfig& model);

/// Where a prediction of the curve is drawn: from its first point to its last, at every point or at 21 of them.
std::vector<double> drawn_grid(const Lesson& lesson, const Curve& curve);

/// Empty if curve.y can be measured for this kind of curve; otherwise what is expected in its place.
Message unless_measured(const Curve& curve);

/// The specification of a run of the lesson for a seed, with the learner's changes ("A" -> key -> value) when given.
using Changes = std::map<std::string, std::map<std::string, std::string>>;
RunSpec spec_of(const Lesson& lesson, const std::string& run, uint64_t seed, const Changes& changes = {});
experiments::StudyRun run_of(const Lesson& lesson, const std::string& run, uint64_t seed,
                             const Changes& changes = {});

/// The x values of a sweep: the curve's own, and the field's value in each run whose changes, now (`changes`) or
/// earlier (`tried`), make it a point of this sweep.
std::vector<double> sweep_values(const Lesson& lesson, const Curve& curve, uint64_t seed,
                                 const Changes& changes, const std::vector<Changes>& tried);

/// Throws Error ("[curve.g1] the run has no number L09.ffn.w2.grad_norm") and Cancelled.
CurveData measure_curve(const Lesson& lesson, const Curve& curve, uint64_t seed, experiments::RunStore& store,
                        const experiments::OnStep& on_step = {}, const Changes& changes = {},
                        const std::vector<Changes>& tried = {});

/// The part that training has reached of a curve that grows(); it is empty for other curves.
CurveData partial_curve(const Curve& curve, const ModelConfig& model, const History& history, double level);

// A label names a run of a lesson. Its typed part states only what no setting can change; the settings in which the
// runs differ, and the settings that the learner changed, are read from the trained specifications. So a label always
// fits the run that is shown.

/// "Post-LN, warm-up 200". For a curve that is measured without training it names only settings that
/// affect the curve: "Post-LN".
std::string run_label(const Lesson& lesson, const std::string& run, const Changes& changes = {},
                      const Curve* curve = nullptr);
/// A setting with its value, as a label says it: "warm-up 200", "norm undivided".
std::string setting_label(const Lesson& lesson, const std::string& key, const std::string& value);
/// The name of a setting ("warm-up") that `text` contains although run_label() adds it by itself; empty: none.
std::string setting_named_in(const Lesson& lesson, std::string_view text);

}  // namespace normscope::course
