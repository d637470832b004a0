// The table of the metrics of a plot cell, besides the loss: each has its words, and stat_names() says where its
// numbers lie in a run's history. The plots (plot_specs_depth.cpp) and the cells' selectors use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/lab_data.h"

namespace normscope::panels {

enum class Metric : uint8_t {
  Gradient,
  UpdateRatio,
  SpikeRatio,
  UpdateCosine,
  HiddenNorm,
  BranchVariance,
  StreamVariance,
  TokenCosine,
  LayerCosine,
  Extreme,
  EffectiveRank,
  AttentionEntropy,
  LargestLogit,
  FirstMass,
  OwnShare
};

// The parts of a layer that have the number.
enum class MetricPlace : uint8_t {
  Matrix,       // each matrix: a choice is needed
  Layer,        // the layer, of all its parameters together
  FeedForward,  // its feed-forward sub-layer
  Sublayer,     // each sub-layer
  Heads         // each attention, and each of its heads
};

struct MetricInfo {
  Metric metric;
  const char* id;              // names its controls and files: "token-cosine"
  const char* term = nullptr;  // entry of the glossary; null: the id
  MetricPlace place;
  const char* stat = "";  // ends the names of its numbers in a run's history; `head`: of each head's
  const char* head = "";
  bool of_matrix = false;  // needs a choice of matrix
  bool log = false;
  const char* name = "";       // in the selector: "token cosine"
  const char* by_layer = "";   // title of the plot by layer
  const char* over_time = "";  // title of the plot over time
  const char* question = "";   // the same in plain words, after either title
  const char* brief = "";      // the question where there is little room
  const char* note = "";       // after the question, and in the selector
  const char* axis = "";       // in words, for exports
  const char* help = "";       // one sentence
};
std::span<const MetricInfo> metrics();
const MetricInfo& info(Metric metric);
// Whether the metric is also measured where runs have no residual stream.
bool of_any_layer(Metric metric);
// Whether each head of an attention has the metric too.
bool of_heads(Metric metric);
// Names a matrix as plots do: by its label, or as the layer's only matrix where no run has a residual stream.
const char* matrix_label(const LabView& view, int matrix);

// Names the mean square of a stream's gradient behind a layer, from 1: "ffn.stream.2.gradient_square".
std::string stream_path(int stream);

// The stats that make up a metric of one layer (1-based; of its last sub-layer that has it): the
// value, over another one where it is a ratio. `stack` stands before "L01.": "", "dec." or "enc.".
struct StatNames {
  std::string value, over{};
};
StatNames stat_names(Metric, int matrix, int layer, std::string_view stack);
// Whether the metric over time can be a map of all sub-layers, as variances can.
bool of_map(Metric metric);
// The stats of such a metric, of every sub-layer from the lowest.
std::vector<std::string> sublayer_stats(const RunView&, Metric, view::Side);
// The stat of a head of a layer's self-attention, both from 1: "L03.attn.head.2.logit".
std::string head_stat(Metric, int layer, int head, std::string_view stack);

// A metric's values along the depth of one stack: x in layers, the sub-layers of a layer spread evenly up to it.
struct DepthPoints {
  std::vector<float> x, y;
  bool measured() const;  // some value is finite
};
DepthPoints along_depth(view::LabData&, const RunView&, Metric, int matrix, int step,
                        view::Side side = view::Side::Main);
// The own shares by token, and how much longer the longest state is than the median one (measure/step_metrics.h).
struct TokenShares {
  DepthPoints medians;
  float longest = 0;
};
// Returns nothing where no token dominates at that step.
std::optional<TokenShares> token_shares(view::LabData&, const RunView&, int step,
                                        view::Side side = view::Side::Main);
// The metric of one layer (0-based; its last sub-layer that has it) over time.
std::shared_ptr<const view::Line> over_time(view::LabData&, const RunView&, Metric, int matrix, int layer,
                                            view::Side side = view::Side::Main);

// The residual dependency at a step: row i of a run's triangle (sub-layer i + 1) holds i + 2 shares,
// the input's first. Or it has weights in their place.
struct Dependency {
  std::vector<std::vector<float>> rows;
  std::vector<float> sums;
  bool measured() const { return !rows.empty(); }
  // How many parts effectively make up the last state: (sum of shares)^2 / sum of their squares.
  double parts() const;
  // The newest branch's share of the last state.
  double newest() const;
};
// Covers the whole batch where that was measured at this very step, else the one sequence that is followed.
Dependency dependency(view::LabData&, const RunView&, int step, view::Side side = view::Side::Main);
// The weights with which states below are read behind each sub-layer, by the next one or the
// output; of a stack that weighs over depth (view::over_depth), else nothing.
Dependency depth_weights(view::LabData&, const RunView&, int step, view::Side side = view::Side::Main);
bool of_whole_batch(const RunView&, int step);
// A branch's share of the state after its sub-layer (`layer` from 0); NaN where it is not measured.
float own_share(view::LabData&, const RunView&, int layer, view::Sub sub, int step,
                view::Side side = view::Side::Main);

}  // namespace normscope::panels
