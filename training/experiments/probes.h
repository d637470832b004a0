// Probes measure what lessons need: they apply measure/initial_analysis.h to a fresh model of a given depth, in the
// theorems' setting or as trained. Called by run_store and course/curves.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "training/data/task.h"
#include "training/measure/initial_analysis.h"
#include "training/spec/spec.h"

namespace normscope::experiments {

/// Draws `sequences` rows of the validation data, the same rows for all runs of one seed.
Batch validation_batch(const Task& task, const RunSpec& spec, int32_t sequences);

/// Gives the theorems' setting (Xiong et al. 2020, section 3.3): one head, W_Q = W_K = 0, so that
/// attention averages over the whole sequence, no output projection, a Gaussian input in place of the embedding, and
/// F = D unless `feed_forward` is given. Placement, width and depth are the model's.
ModelConfig theory_setting(const ModelConfig& model, int32_t feed_forward);

/// The range in which a step's rate over its critical rate can be measured (training/run/critical_rate.h).
struct CriticalShares {
  double least = 0, most = 0;
};
CriticalShares critical_shares();

/// Returns, for each layer, the mean square of the residual sum after one sub-layer ("ffn", "attn"), before a norm on
/// the residual stream. "ffn" gives x_{l,5} of Lemma 2 for Post-LN and the stream itself for Pre-LN.
std::vector<double> stream_squares(Store& store, const ModelConfig& config, const Batch& batch,
                                   std::string_view sublayer);

/// The mean square of the stream at every depth: of the input, then of the residual sum after each sub-layer. With
/// `branches`, of each sub-layer's branch instead.
std::vector<double> path_squares(Store& store, const ModelConfig& config, const Batch& batch, bool branches);

/// Returns, for the sums of stream_squares(), the share of positions whose |x|^2 is more than a tenth above the mean
/// over the batch: delta of an (0.1, delta)-bounded norm (Xiong et al. 2020, definition 1).
std::vector<double> shares_above_tenth(Store& store, const ModelConfig& config, const Batch& batch,
                                       std::string_view sublayer);

/// Counts, for every sub-layer but the last, the norms that its branch's output passes before it
/// enters the last sub-layer's branch (Liu et al. 2020, figure 6). It counts them from the wiring: the sub-layer's
/// own norms after the branch and on the stream, the later norms on the stream, and the norm before the last branch.
/// Throws Error unless the model is a transformer.
std::vector<double> norms_to_the_last(const ModelConfig& config);

/// Predicts N0 of sum beta^2_ii = log(1 + N/N0) in Pre-LN; nothing is fitted (docs/theory.md). Where all
/// branches have the variance v and the input has v_0,
///     sum_i v/(v_0 + i v)  is about  log(1 + N/(v_0/v + 1/2)).
/// The v used is the mean over the branches of this model.
double log_offset(Store& store, const ModelConfig& config, const Batch& batch);

/// The mean skip scale of each sub-layer (omega of Admin).
std::vector<double> skip_scales(const Store& store, const ModelConfig& config);

/// The change of the final normalised state by the specification's first optimizer step.
double change_by_one_step(const RunSpec& spec, const std::shared_ptr<const Task>& task, Backend& backend);

// First steps reduce the beginning of the default comparison to one number, so that two programs can be compared by
// it. The number is the same on every machine and for every number of threads, as long as the same instructions are
// executed. WebAssembly has one set of instructions; native programs differ by the processor's (engine/README.md,
// "Promises").

inline constexpr int32_t kChecksumSteps = 20;

struct FirstSteps {
  std::string checksum;  ///< of losses, then weights, run by run: 16 hexadecimal digits; empty if stopped
  std::vector<std::vector<float>> losses;  ///< by run and step, nats
  double seconds = 0;                      ///< of the steps of all runs
  double tokens_per_second = 0;
};

/// Trains the default comparison run by run, with all measurements on. It asks `stop` before each
/// step and ends there when `stop` returns true. Throws Error.
FirstSteps take_first_steps(Backend& backend, int32_t steps = kChecksumSteps,
                            const std::function<bool()>& stop = {});

/// The line of `bench --first-steps` about the first kChecksumSteps, here and in a browser's program, which
/// has no other command: a line of words or of JSON.
std::string report_of(const FirstSteps& first, int32_t threads, bool json);

}  // namespace normscope::experiments
