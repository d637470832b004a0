// What can be looked at in a plot cell besides the loss: one table of metrics, each with its words, and
// where its numbers lie in a run's history. Used by the plots (plot_specs_depth.cpp, plot_specs_measures.cpp)
// and by the cells' selectors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/lab_data.h"

namespace normscope::lab {

enum class Metric : uint8_t {
  Gradient,
  UpdateRatio,
  HiddenNorm,
  BranchVariance,
  StreamVariance,
  TokenCosine,
  LayerCosine,
  AttentionEntropy
};

struct MetricInfo {
  Metric metric;
  const char* id;    // in control names and files, and of its words (assets/words/lab.toml): "token-cosine"
  const char* term;  // entry of the glossary
  bool of_matrix = false;  // asks which matrix
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
// Whether it is measured where runs have no residual stream, too.
bool of_any_layer(Metric metric);
// A matrix as plots name it: by its label, or as the one that a layer has where no run has a residual stream.
const char* matrix_label(const LabView& view, int matrix);

// The stats of a history that a metric of one layer (1-based; of its last sub-layer that has it) is made of: the
// value, over another one where it is a ratio. `stack` is what stands before "L01.": "", "dec." or "enc.".
struct StatNames {
  std::string value, over{};
};
StatNames stat_names(Metric, int matrix, int layer, std::string_view stack);

// Values of a metric along the depth of one stack: x in layers, the sub-layers of a layer spread evenly up
// to it.
struct DepthPoints {
  std::vector<float> x, y;
  bool measured() const;  // any finite value
};
DepthPoints along_depth(LabData&, const RunView&, Metric, int matrix, int step, Side side = Side::Main);
// The same metric of one layer (0-based; its last sub-layer that has it) over time.
std::shared_ptr<const Line> over_time(LabData&, const RunView&, Metric, int matrix, int layer,
                                      Side side = Side::Main);

// Residual dependency at a step: row i of a run's triangle (sub-layer i + 1) holds i + 2 shares, the input first.
struct Dependency {
  std::vector<std::vector<float>> rows;
  std::vector<float> sums;
  bool measured() const { return !rows.empty(); }
  // How many parts the last state is made of, in effect: (sum of shares)^2 / sum of their squares.
  double parts() const;
  // Share of the newest branch in the last state.
  double newest() const;
};
// Of the whole batch where that was measured at this very step, otherwise of the one sequence that is followed.
Dependency dependency(LabData&, const RunView&, int step, Side side = Side::Main);
bool of_whole_batch(const RunView&, int step);
// Share of its own branch in the state after a sub-layer, 0-based; NaN where it is not measured.
float own_share(LabData&, const RunView&, int layer, Sub sub, int step, Side side = Side::Main);

}  // namespace normscope::lab
