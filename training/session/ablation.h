// `layer_ablation` measures how much each layer of a trained model contributes: the loss on the fixed validation
// batches with a sub-layer or a layer left out. "Left out" passes the input on unchanged, so the norms and scales of
// that place go too (Su 2020, depth dilution: Pre-LN without the branch, Post-LN without the layer norm either). It
// uses evaluation programs over the run's own weights, which change no bit of the run. Called by the Lab, by
// `normscope measure` and by tests.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "training/run/run.h"

namespace normscope {

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

/// Lists what can be left out: layers, then sub-layers, in the order of the model.
std::vector<std::string> ablation_names(const ModelConfig& model);

/// Leaves out each layer and sub-layer alone, the top of each stack together, and `chosen` together.
/// Throws Error for an unknown name and for a model that is no transformer, which has no branches.
Ablation layer_ablation(Run& run, std::vector<std::string> chosen = {});

/// The loss with all `names` left out together; without names, that of the whole model.
double loss_without(Run& run, const std::vector<std::string>& names);

}  // namespace normscope
