// These measurements of a run are taken on request, on its own weights and data: the spectra of its next update, and
// the contribution of each layer. No bit of the run changes. `normscope measure` has more (addons/bench/training).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "training/measure/spectrum.h"
#include "training/run/run.h"

namespace normscope {

/// The singular values of the next step's update of a matrix, and of the matrix before the step. Every trained matrix
/// with at least two rows and two columns has an entry; with `layer`, only the matrices of that layer (0: outside the
/// layers). The step is taken on a copy of the run. Its numbers are differences of float32 weights, so that singular
/// values below 1e-7 of the largest weight are rounding.
struct MatrixSpectra {
  std::string name;  ///< "L03.ffn.w2", "emb.tokens"
  int32_t layer = 0;
  Spectrum update, weights;
  /// The ratio of the Frobenius norms of update and weights.
  double ratio() const { return update.norm() / weights.norm(); }
};
std::vector<MatrixSpectra> next_spectra(const Run& run, std::optional<int32_t> layer = {});

// The contribution of each layer of a trained model: the loss on the first validation batches (at most four) with a
// sub-layer or a layer left out. "Left out" passes the input on unchanged, so its norms and scales go too (Su 2020,
// depth dilution: Pre-LN without the branch, Post-LN without the layer norm either). It uses evaluation programs over
// the run's own weights, which change no bit of the run.

/// Holds losses in nats for each target, without label smoothing.
struct Ablation {
  struct LeftOut {
    std::string name;  ///< "L03", "L03.attn", "dec.L02.cross"; in from_top "L10-L12"
    int32_t layer = 0;
    int32_t count = 1;  ///< missing layers; 1 for a sub-layer
    double loss = 0;
  };
  int32_t step = 0;  ///< the run's step when it was measured
  double whole = 0;  ///< with nothing left out
  std::vector<LeftOut> sublayers, layers;
  std::vector<LeftOut> from_top;    ///< the last k layers of a stack, k = 1 to all of them
  std::vector<std::string> chosen;  ///< as requested
  double chosen_loss = std::numeric_limits<double>::quiet_NaN();
};

/// Lists the names that can be left out: layers, then sub-layers, in the order of the model.
std::vector<std::string> ablation_names(const ModelConfig& model);

/// Leaves out each layer and sub-layer alone, the top of each stack together, and `chosen` together.
/// Throws Error for an unknown name and for a model that is not a transformer, which has no branches.
Ablation layer_ablation(Run& run, std::vector<std::string> chosen = {});

/// The loss with all `names` left out together; without names, the whole model's.
double loss_without(Run& run, const std::vector<std::string>& names);

/// The layers and sub-layers that can be left out of a stack, by name.
struct StackLayers {
  std::string prefix;                      ///< "", "enc.", "dec."
  std::vector<std::string> layers, parts;  ///< "enc.L01"; ".attn", of each layer
};
std::vector<StackLayers> stack_layers(const ModelConfig& model);
/// The loss without each of these layers or, if `last`, without the last 1, 2, ... of them.
std::vector<double> losses_without(Run& run, const std::vector<std::string>& layers, bool last);

}  // namespace normscope
