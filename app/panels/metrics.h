// The metrics that a plot cell offers (the loss has a plot of its own): those rows of training/measure/numbers.h that
// have the texts of a plot. stat_names() names their numbers in a run's history. The plots (plot_specs_depth.cpp) and the
// cells' selectors read them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/lab_data.h"
#include "training/measure/numbers.h"

namespace normscope::panels {

/// A row of the table of numbers that has a plot.
using Metric = const Number*;
std::span<const Metric> metrics();
/// The row with its texts in the language of the window.
const Number& info(Metric metric);
// Whether the metric is also measured in runs without a residual stream.
bool of_any_layer(Metric metric);
// Whether each head of an attention has the metric too.
bool of_heads(Metric metric);
// The label of a matrix in plots, "W₂"; "W" where no run has a residual stream, as each layer has one matrix there.
const char* matrix_label(const LabView& view, int matrix);

// The stat with a stream's mean squared gradient behind a layer; streams count from 1: "ffn.stream.2.gradient_square".
std::string stream_path(int stream);

// The names of the stats behind a metric of one layer (1-based): the value and, for a ratio, its divisor. Of a metric
// by sub-layer this is the last sub-layer's, of one by attention the self-attention's. `stack`: "", "dec." or "enc.".
struct StatNames {
  std::string value, over{};
};
StatNames stat_names(Metric, int matrix, int layer, std::string_view stack);
// Whether the plot over time can show the metric as a map with a row for each sub-layer: both variances.
bool of_map(Metric metric);
// The stat names of a map's metric, one for each sub-layer, the lowest first; empty without a residual stream.
std::vector<std::string> sublayer_stats(const RunView&, Metric, view::Side);
// The stat name of one head of a layer's self-attention; layers and heads count from 1: "L03.attn.head.2.logit".
std::string head_stat(Metric, int layer, int head, std::string_view stack);

// A metric's values along the depth of one stack: x in layers; the sub-layers of layer n lie evenly in (n - 1, n].
struct DepthPoints {
  std::vector<float> x, y;
  bool measured() const;  // some value is finite
};
DepthPoints along_depth(view::LabData&, const RunView&, Metric, int matrix, int step,
                        view::Side side = view::Side::Main);
// The own share β² of each sub-layer, taken by token (measure/step_metrics.h).
struct TokenShares {
  DepthPoints medians;  // over the tokens
  float longest = 0;    // length of the longest state over the median length, the largest of all sub-layers
};
// Nothing where `longest` is below kDominates at that step: no token dominates.
std::optional<TokenShares> token_shares(view::LabData&, const RunView&, int step,
                                        view::Side side = view::Side::Main);
// The metric of one layer over time. Layers are 0-based here; stat_names() says which sub-layer is meant.
std::shared_ptr<const view::Line> over_time(view::LabData&, const RunView&, Metric, int matrix, int layer,
                                            view::Side side = view::Side::Main);

// The residual dependency at a step, or the weights over depth: row i of a run's triangle (sub-layer i + 1) holds
// i + 2 shares or weights, the input's first.
struct Dependency {
  std::vector<std::vector<float>> rows;
  std::vector<float> sums;
  bool measured() const { return !rows.empty(); }
  // The effective number of parts in the last state: (sum of absolute shares)^2 / sum of squared shares.
  double parts() const;
  // The newest branch's share of the last state.
  double newest() const;
};
// Over the whole batch where it was measured at this very step, else over the sequence that every step measures.
Dependency dependency(view::LabData&, const RunView&, int step, view::Side side = view::Side::Main);
// The weights with which the next sub-layer, or the output, reads the states up to each sub-layer; empty for a stack
// without weights over depth (view::over_depth).
Dependency depth_weights(view::LabData&, const RunView&, int step, view::Side side = view::Side::Main);
bool of_whole_batch(const RunView&, int step);
// A branch's share in the variance of the state after its sub-layer (`layer` from 0); NaN where not measured.
float own_share(view::LabData&, const RunView&, int layer, view::Sub sub, int step,
                view::Side side = view::Side::Main);

}  // namespace normscope::panels
