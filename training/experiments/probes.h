// Measurements of lessons, composed of the engine's own (measure/initial_analysis.h): on a fresh model
// of a given depth, in the theorems' setting or as trained. Called by run_store, course/curves.cpp and the zoo.
#pragma once

#include <memory>
#include <vector>

#include "training/data/task.h"
#include "training/measure/initial_analysis.h"
#include "training/spec/spec.h"

namespace normscope::experiments {

/// `sequences` of the validation data, the same for all runs of one seed.
Batch validation_batch(const Task& task, const RunSpec& spec, int32_t sequences);

/// The theorems' setting (Xiong et al. 2020, section 3.3): one head, W_Q = W_K = 0, so that attention
/// averages over the whole sequence, no output projection, F = D unless given, a Gaussian input in place of
/// the embedding. Placement, width and depth are the model's.
ModelConfig theory_setting(const ModelConfig& model, int32_t feed_forward);

/// How small and how large a share of its critical rate a step's rate can be measured to be (train/edge/critical_rate.h).
struct CriticalShares {
  double least = 0, most = 0;
};
CriticalShares critical_shares();

/// Mean square of the residual sum behind one sub-layer ("ffn", "attn") of each layer, before a norm on the
/// residual stream. "ffn": x_{l,5} of Lemma 2 for Post-LN, the stream itself for Pre-LN.
std::vector<double> stream_squares(Store& store, const ModelConfig& config, const Batch& batch,
                                   std::string_view sublayer);

/// Of the same sums by layer, the share of positions whose |x|^2 is more than a tenth above the mean over the batch: delta
/// of an (0.1, delta)-bounded norm (Xiong et al. 2020, definition 1).
std::vector<double> shares_above_tenth(Store& store, const ModelConfig& config, const Batch& batch,
                                       std::string_view sublayer);

/// Of every sub-layer but the last, how many norms its branch's output passes before it enters the last sub-layer's
/// branch, counted from the wiring: its own after the branch and on the stream, those on the stream from there on, that
/// before the last branch (Liu et al. 2020, figure 6). Throws Error for what is no transformer.
std::vector<double> norms_to_the_last(const ModelConfig& config);

/// N0 of sum beta^2_ii = log(1 + N/N0) in Pre-LN, foretold and not fitted: of branches with one variance v
/// and an input with v_0 the sum is sum_i v/(v_0 + i v), about log(1 + N/(v_0/v + 1/2)) (docs/theory.md); v
/// is the mean over the branches of this model.
double log_offset(Store& store, const ModelConfig& config, const Batch& batch);

/// Mean skip scale of each sub-layer (omega of Admin).
std::vector<double> skip_scales(const Store& store, const ModelConfig& config);

/// Change of the final normalised state by the first optimizer step of the specification.
double change_by_one_step(const RunSpec& spec, const std::shared_ptr<const Task>& task, Backend& backend);

}  // namespace normscope::experiments
