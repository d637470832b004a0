// The Lab's plots as values: LabView -> PlotSpec. The table in panels.h lists them; it also has title,
// question, axis and file of the plots that show no metric. The same plots are drawn on screen, exported as SVG, CSV
// and text, and asserted on in tests. Nothing here depends on pixels but the room for labels.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/metrics.h"
#include "app/plot/plot_spec.h"
#include "app/view/lab_data.h"

namespace normscope::panels {

struct PlotOptions {
  int step = 0;    // of the cursor
  int matrix = 0;  // index in kMatrices
  int stream = 0;  // from 1: gradients of one of several residual streams; 0: of the matrix
  view::Side side = view::Side::Main;  // of an encoder-decoder, where a plot has room for only one stack
  bool compact = false;
  // While the user holds a handle: the rate of all runs, the warm-up of run `drag_run`.
  std::optional<double> drag_rate{}, drag_warmup{};
  int drag_run = -1;
  std::optional<int> heads_of{};  // 0-based: the layer whose heads have a line each over time, where they can
  bool map = false;               // the variances over time are maps, where they are chosen
  bool weights = false;           // the triangles are of weights over depth, where a run has them
  std::optional<int> hover_layer{};    // 0-based; under the mouse in another plot or in the diagram
  std::optional<double> hover_step{};  // under the mouse in another plot over time
};

// The setting that tells this run from the others, for the end of its line: "no warm-up", "Pre-LN", "12 norms moved".
std::string short_label(const LabView& view, size_t run);

plot::PlotSpec loss_plot(const LabView&, view::LabData&, const PlotOptions&);
plot::PlotSpec rate_plot(const LabView&, view::LabData&, const PlotOptions&);
plot::PlotSpec gradient_by_layer_plot(const LabView&, view::LabData&, const PlotOptions&);
plot::PlotSpec hidden_norm_plot(const LabView&, view::LabData&, const PlotOptions&);
// Shows any metric by layer at the cursor's step; the two above are its gradient and hidden norm.
plot::PlotSpec depth_plot(const LabView&, view::LabData&, const PlotOptions&, Metric);
// Makes one small plot per run, with the same axes; the lines are layers, or the heads of one layer.
std::vector<plot::PlotSpec> over_time_plots(const LabView&, view::LabData&, const PlotOptions&,
                                            Metric = Metric::Gradient);
// Makes maps of the empty plots over time of a metric of several sub-layers: the colour is the number, on a
// scale that all runs share, and beside it stands theory's prediction of the start, where a theory holds. The first
// plot carries the sentence.
void put_maps(std::vector<plot::PlotSpec>&, const LabView&, view::LabData&, const PlotOptions&, Metric);
// The text of a map's cell at a place on its axes; empty where the cell holds nothing.
std::string cell_words(const plot::PlotSpec&, double x, double y);
// Shows residual dependency, or the weights over depth: one triangle per run at the cursor's step. The
// first plot carries the sentence.
bool shows_weights(const LabView&, const PlotOptions&);
std::vector<plot::PlotSpec> dependency_plots(const LabView&, view::LabData&, const PlotOptions&);

// Styles the line of one stack. Each stack of an encoder-decoder has a line, named at its end; the
// encoder's is thin and without markers.
void dress_line(plot::Series&, const RunView&, view::Side, bool compact);
// A run's line over the layers, from layer 1 on, without its values. Its name is for files and wide
// plots: a narrow plot has room only for the letter.
plot::Series layer_line(const LabView&, size_t index, bool compact, view::Side);
float depth_pad_right(const LabView&, bool compact);
// Says "Going down A: decoder falls 5.4×, encoder is flat.", from the last layer to the first; empty without values.
std::string stacks_sentence(char letter, const std::vector<float>& decoder,
                            const std::vector<float>& encoder);

// These functions draw theory at the start over the data. Gradients: the profile that cross-attention alone gives a
// Post-LN decoder and, over the first steps, the profiles of Pre-LN and Post-LN, which end in a mark where the closed
// form for the last layer covers these models and data. Hidden states: the band of Pre-LN and the level of Post-LN,
// where they are about as large as `top`.
// Draws a dotted curve over the layers, behind the measurements.
void add_dotted(plot::PlotSpec&, plot::Ink::Role, std::string id, std::vector<float> y);
// Returns whether it drew curves that hold for the first steps only.
bool add_gradient_theory(plot::PlotSpec&, const LabView&, view::LabData&, const std::string& path, int step);
void add_cosine_theory(plot::PlotSpec&, const LabView&, int step);
void add_norm_theory(plot::PlotSpec&, const LabView&, double top);

// The range of the values that a logarithmic axis can show, and the lowest of all, or 0.
struct Range {
  double lo = std::numeric_limits<double>::infinity(), hi = 0, lowest = 0;
  void add(float v) {
    if (std::isfinite(v)) lowest = std::min(lowest, double(v));
    if (!view::usable(v)) return;
    lo = std::min(lo, double(v));
    hi = std::max(hi, double(v));
  }
};

// The largest over the smallest finite positive value; 0 when there are fewer than two.
double spread_of(const std::vector<float>& values);
// How many times less of the loss reaches the first layer than the last, or the other way round.
struct GradientDrop {
  bool first = true;  // the first layer gets less
  std::string times;  // "16 000×"
};
// Empty when they differ by less than ten times.
std::optional<GradientDrop> faded(const std::vector<float>& gradients);
// The gradients that the options ask for, of every layer; of a stream, behind the layer.
std::vector<float> gradients_at(view::LabData&, const RunView&, const PlotOptions&, int step,
                                view::Side side = view::Side::Main);
// Says "layer 1 gets 16 000× less than layer 6"; empty when faded() is.
std::string gets_less(const std::vector<float>& gradients);
// Sets title, question and brief question of a metric's plot; `title` is info().by_layer or over_time.
void put_title(plot::PlotSpec&, const MetricInfo&, const char* title);
// The title of an axis in files: the metric with its matrix or stream, where it has one, then the step, then the run.
std::string axis_of(const LabView&, const MetricInfo&, const PlotOptions&);
std::string at_step(std::string_view what, int step);
std::string of_run(std::string_view what, const RunView&);
// Returns "A", or "A's decoder" of an encoder-decoder.
std::string whose(const RunView&, view::Side);
// Makes an axis logarithmic with room for these values and labels on three or four decades.
void log_axis(plot::Axis&, double lo, double hi);
plot::Axis layer_axis(int layers);
plot::Axis step_axis(const LabView&);
// Puts in the cursor's step, and the step under the mouse in another plot over time.
void put_cursor(plot::PlotSpec&, const PlotOptions&, bool flag);

}  // namespace normscope::panels
