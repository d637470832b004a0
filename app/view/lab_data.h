// A cache of the runs' histories for the plots and the diagram. It copies numbers once per change of a history, and
// keeps them while they are shown, so a frame without news copies nothing. The Lab screen owns it; UI thread only.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/diagram_model.h"
#include "training/session/lab.h"

namespace normscope::view {

/// The range of a line's finite numbers.
struct Span {
  float lowest = std::numeric_limits<float>::infinity(), highest = -std::numeric_limits<float>::infinity();
  float lowest_positive = std::numeric_limits<float>::infinity();
};

/// A series over steps, ready for a PlotSpec to refer to. It only grows.
struct Line {
  std::vector<float> x, y;
  bool empty() const { return y.empty(); }
  /// Scans only the points that were added since the last call.
  const Span& span() const;

 private:
  mutable Span span_;
  mutable size_t read_ = 0;
};

/// A weight matrix of a layer whose gradient a plot can show.
struct Matrix {
  const char* label;  // "W₂"
  const char* path;   // "ffn.w2"
};
/// The last four of `kMatrices` belong to cross-attention.
inline constexpr Matrix kMatrices[] = {
    {"W₂", "ffn.w2"},          {"W₁", "ffn.w1"},         {"W_Q", "attn.wq"},        {"W_K", "attn.wk"},
    {"W_V", "attn.wv"},        {"W_O", "attn.wo"},       {"cross W_Q", "cross.wq"}, {"cross W_K", "cross.wk"},
    {"cross W_V", "cross.wv"}, {"cross W_O", "cross.wo"}};

class LabData {
 public:
  /// Drops the histories that were not read since the last call.
  void begin_frame();

  /// The loss of each single step, and at each step the loss as numbers state it: the mean over loss_window() steps.
  std::shared_ptr<const Line> loss(const RunView& run);
  std::shared_ptr<const Line> mean_loss(const RunView& run);
  std::shared_ptr<const Line> rate(const RunView& run);
  /// One stat over time, "L03.ffn.w2.grad_norm"; an empty line when the run does not measure it.
  std::shared_ptr<const Line> stat(const RunView& run, const std::string& name);
  /// One stat over another, step by step.
  std::shared_ptr<const Line> quotient(const RunView& run, const std::string& above,
                                       const std::string& below);
  /// The square root of one stat, step by step.
  std::shared_ptr<const Line> root(const RunView& run, const std::string& name);
  /// One stat in the last history frame at or before a step; NaN when it is not measured.
  float value(const RunView& run, std::string_view name, int step);
  /// The stat layer_stat() of every layer, in the last history frame at or before a step; NaN where not measured.
  std::vector<float> by_layer(const RunView& run, std::string_view path, int step, Side side = Side::Main);
  /// The norm of the gradient of all matrices of a sub-layer at a step; NaN where it is not measured.
  float gradient(const RunView& run, int layer, Sub sub, int step, Side side = Side::Main);
  /// The variance of the residual stream where a branch joins it, at a step; NaN where it is not measured.
  float stream_variance(const RunView& run, int layer, Sub sub, int step, Side side = Side::Main);
  bool has(const RunView& run, const std::string& name);

 private:
  /// A line that grows with its history, because copying the whole history in every frame would cost more than drawing
  /// it. Points that the history has thinned out meanwhile stay until the line is read as a whole again.
  struct GrowingLine {
    std::shared_ptr<Line> line;
    uint64_t version = ~uint64_t{0};
    size_t whole = 0;  // length when the line was last read as a whole
  };
  struct RunLines {
    uint64_t version = ~uint64_t{0};
    bool used = false;
    std::shared_ptr<const History> history;
    std::shared_ptr<const Line> loss, mean_loss, rate;
    std::map<std::string, GrowingLine, std::less<>> stats;
    std::map<std::string, std::shared_ptr<const Line>, std::less<>> quotients, roots;
    std::map<int, std::vector<float>> frames;
    std::map<int, int32_t> found;  // the step of each frame of `frames`, at or before its key
    // The positions of the layout's names; kept as long as the history is the same object.
    std::map<std::string_view, int32_t> index;
  };
  RunLines& cached(const RunView& run);
  void extend(const RunView& run, RunLines& cached, GrowingLine& line, int32_t stat);
  const std::vector<float>& frame(RunLines& cached, int step);
  static int32_t find(const RunLines& cached, std::string_view name);

  std::map<const History*, RunLines> runs_;
  int whole_reads_ = 0;  // reads of whole lines, against thinning, still allowed in this frame
};

/// The loss of a run at a step: the mean over the last loss_window() steps up to it. NaN: none is known.
double loss_at(LabData& data, const RunView& run, int step);
/// A run as it was after an earlier step: its specification, mean loss, last sample and the verdict from events up to
/// that step. A fork is never shown at a step before its fork.
RunView run_at(LabData& data, const RunView& run, int step);
/// The specification in force at a step. Edits made before a run's own first step count from the start.
std::shared_ptr<const RunSpec> spec_at(const RunView& run, int step);
/// The view with run_at() for every run; the Lab's own step and budget stay the present ones.
LabView view_at(LabData& data, const LabView& view, int step);

/// The last step on the axis of plots over time and of the timeline: the budget or, where that is far away, a round
/// number beyond the newest step.
int steps_shown(const LabView& view);

int layers_of(const RunView& run, Side side = Side::Main);
/// The number of residual streams whose gradients are measured separately: 0 for a single stream, and where the input
/// and each branch have a stream of their own.
int streams_of(const RunView& run, Side side = Side::Main);
/// Whether every sub-layer of a stack reads a weighted sum of the input and each branch below it, as attention
/// residuals do; `any_over_depth`: whether a stack of any run does.
bool over_depth(const RunView& run, Side side = Side::Main);
bool any_over_depth(const LabView& view);
bool has_stream(const RunView& run);  // a transformer: sub-layers on a residual stream
bool any_stream(const LabView& view);
/// Why a figure that needs a residual stream is empty when no run has one.
const std::string& no_stream();
/// The name in a run's history of a layer's number, by its path: "ffn.w2.grad_norm", or "update_cosine" of the whole
/// layer. Layers count from 1. A layer without sub-layers has one matrix and one output, which stand in for all
/// others: "L01.conv.w.grad_norm". Empty: it has no such number.
std::string layer_stat(const RunView& run, Side side, int layer, std::string_view path);
/// The prefix to "L01." in the names of a run's numbers: "", "dec." or "enc.".
std::string prefix_of(const RunView& run, Side side);
bool has_both(const RunView& run);
bool any_both(const LabView& view);
/// The decoder or the only stack, then the encoder of an encoder-decoder.
std::vector<Side> sides_of(const RunView& run);
/// The layers of the deepest stack of any run; at least 1.
int most_layers(const LabView& view);
/// A run's name in a legend; `colour_of`: its index in Theme::runs.
inline std::string letter_of(const RunView& run) { return std::string(1, run.letter); }
inline int colour_of(const RunView& run) { return run.letter - 'A'; }
/// Whether a logarithmic axis can show v.
inline bool usable(float v) { return std::isfinite(v) && v > 0; }
int find_run(const LabView& view, char letter);

}  // namespace normscope::view
