// The Lab's plots as values: functions from LabView to PlotSpec. The table in panels.h lists them and supplies title,
// question, axis and file name of plots that show no metric. The same value is drawn on screen, exported as SVG, CSV
// and text, and checked by tests. Nothing here is in pixels but the margins for labels.
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
  int step = 0;  // of the cursor
  bool follows =
      true;        // the cursor is at the newest step wherever that is, and the lines' ends tell its values
  int matrix = 0;  // index in kMatrices
  int stream = 0;  // from 1: gradients of one of several residual streams; 0: of the matrix
  view::Side side = view::Side::Main;  // stack of an encoder-decoder, for plots that show only one
  bool compact = false;
  // While the user holds a handle: the rate of all runs, the warm-up of run `drag_run`.
  std::optional<double> drag_rate{}, drag_warmup{};
  int drag_run = -1;
  std::optional<int> heads_of{};  // 0-based layer: over time one line per head, if the metric is by head
  bool map = false;               // over time a map instead of lines, if the metric can be one (of_map)
  bool weights = false;  // triangles of the weights over depth instead of β², if any run has weights
  std::optional<int> hover_layer{};    // 0-based; under the mouse in another plot or in the diagram
  std::optional<double> hover_step{};  // under the mouse in another plot over time
  // While a press changes a setting of instant runs: LabView::passed of later numbers are shown.
  std::optional<uint64_t> passed_since{};
};

// The shortest text that distinguishes a run from the others, for its line's end: "no warm-up", "12 norms moved".
std::string short_label(const LabView& view, size_t run);

/// The faint line of single steps behind a run's line of means.
plot::Series single_steps(const plot::Series& mean, plot::Column losses);

plot::PlotSpec loss_plot(const LabView&, view::LabData&, const PlotOptions&);
plot::PlotSpec rate_plot(const LabView&, view::LabData&, const PlotOptions&);
plot::PlotSpec gradient_by_layer_plot(const LabView&, view::LabData&, const PlotOptions&);
plot::PlotSpec hidden_norm_plot(const LabView&, view::LabData&, const PlotOptions&);
// Shows any metric by layer at the cursor's step; the two above are its gradient and hidden norm.
plot::PlotSpec depth_plot(const LabView&, view::LabData&, const PlotOptions&, Metric);
// Makes one small plot per run, with the same axes; the lines are layers, or the heads of one layer.
std::vector<plot::PlotSpec> over_time_plots(const LabView&, view::LabData&, const PlotOptions&,
                                            Metric = &kGradNorm);
// Fills plots over time that have no lines yet with maps: a row for each sub-layer, and the number as a colour on a
// scale that all runs share; left of a map a column with theory's prediction for the start, where theory has one. The
// first plot gets the sentence.
void put_maps(std::vector<plot::PlotSpec>&, const LabView&, view::LabData&, const PlotOptions&, Metric);
// The tooltip of a map's cell at (x, y) in data coordinates; empty where the cell has no number.
std::string cell_words(const plot::PlotSpec&, double x, double y);
// Whether dependency_plots() shows the weights over depth instead of residual dependency β². It makes one triangle
// per run at the cursor's step; the first plot gets the sentence.
bool shows_weights(const LabView&, const PlotOptions&);
std::vector<plot::PlotSpec> dependency_plots(const LabView&, view::LabData&, const PlotOptions&);

// Names the line of one stack of an encoder-decoder at its end; the encoder's line is thin and without markers. Other
// runs' lines stay as they are.
void dress_line(plot::Series&, const RunView&, view::Side, bool compact);
// A run's line over the layers, from layer 1 on, whose values the caller adds. Files and wide plots print its name;
// a narrow plot has room for the letter only.
plot::Series layer_line(const LabView&, size_t index, bool compact, view::Side);
float depth_pad_right(const LabView&, bool compact);
// Says "Going down A: decoder falls 5.4×, encoder is flat.", from the last layer to the first; empty without values.
std::string stacks_sentence(char letter, const std::vector<float>& decoder,
                            const std::vector<float>& encoder);

// These functions add predictions of theory for the start. Gradients: the profile that cross-attention alone gives a
// Post-LN decoder and, over the first steps, the profiles of Pre-LN and Post-LN, which end in a mark where the closed
// form for the last layer covers these models and data. Hidden states: the band of Pre-LN and the level of Post-LN,
// where they are of the order of `top`, the largest measurement.
// Adds a dotted curve over the layers, which is drawn behind the measurements.
void add_dotted(plot::PlotSpec&, plot::Ink::Role, std::string id, std::vector<float> y);
// Returns whether it drew curves that hold for the first steps only.
bool add_gradient_theory(plot::PlotSpec&, const LabView&, view::LabData&, const std::string& path, int step);
void add_cosine_theory(plot::PlotSpec&, const LabView&, int step);
void add_norm_theory(plot::PlotSpec&, const LabView&, double top);

// The range of the positive values, for a logarithmic axis; `lowest` is the smallest of all values, at most 0.
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
// The ratio of the gradients of the first and the last layer.
struct GradientDrop {
  bool first = true;  // the first layer gets less
  std::string times;  // "16 000×"
};
// Empty where the two layers differ by a factor below ten, or one has no positive finite gradient.
std::optional<GradientDrop> faded(const std::vector<float>& gradients);
// The gradient norm of options.matrix in every layer; for options.stream the root mean square behind every layer.
std::vector<float> gradients_at(view::LabData&, const RunView&, const PlotOptions&, int step,
                                view::Side side = view::Side::Main);
// Says "layer 1 gets 16 000× less than layer 6"; empty when faded() is.
std::string gets_less(const std::vector<float>& gradients);
// Sets title, question and brief question of a metric's plot; `title` is info().by_layer or over_time.
void put_title(plot::PlotSpec&, const Number&, const char* title);
// The upper end of an axis of losses whose highest is `highest`: not far above the level of the symbols' frequencies, so
// that what follows the first losses is seen. Where a run ends above that, the axis reaches up to its `end`, unless the
// others would then be flat: the label at such a line's end has an arrow.
double top_of_losses(double level, double highest, double end);
// The title of an axis in files: the metric with its matrix or stream, where it has one, then the step, then the run.
std::string axis_of(const LabView&, Metric, const PlotOptions&);
// The id of a layer's line in a plot over time, as files have it; `layer` from 0.
std::string layer_id(int layer);
std::string at_step(std::string_view what, int step);
std::string of_run(std::string_view what, const RunView&);
// Returns "A", or "A's decoder" of an encoder-decoder.
std::string whose(const RunView&, view::Side);
// Makes an axis logarithmic with room for these values and labels on three or four decades.
void log_axis(plot::Axis&, double lo, double hi);
plot::Axis layer_axis(int layers);
plot::Axis step_axis(const LabView&);
// Sets the cursor to options.step, and the hover line to the step under the mouse in another plot over time.
void put_cursor(plot::PlotSpec&, const PlotOptions&, bool flag);

}  // namespace normscope::panels
