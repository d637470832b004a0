// The Lab's plots as values: LabView -> PlotSpec; panels.h has them in a table, which also says what is not
// said here: title, question, axis and file of the plots that show no metric. The same plots are drawn on
// screen, exported as SVG, CSV and text, and asserted on in tests. Nothing here knows a pixel but the room
// for labels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/metrics.h"
#include "app/plot/plot_spec.h"
#include "app/view/lab_data.h"

namespace normscope::lab {

struct PlotOptions {
  int step = 0;            // of the cursor
  int matrix = 0;          // index in kMatrices
  Side side = Side::Main;  // of an encoder-decoder, where a plot has room for one stack only
  bool compact = false;
  std::optional<double> drag_rate, drag_warmup;  // while a handle is held: of all runs, of run `drag_run`
  int drag_run = -1;
  std::optional<int> hover_layer;    // 0-based; under the hand in another plot or in the diagram
  std::optional<double> hover_step;  // under the hand in another plot over time
  std::optional<double> person;      // nats a letter of the one who guessed in the guessing game
};

// What tells this run apart from the others, for the end of its line: "no warm-up", "Pre-LN", "12 norms moved".
std::string short_label(const LabView& view, size_t run);
double floor_of_axis(const LabView& view);

plot::PlotSpec loss_plot(const LabView&, LabData&, const PlotOptions&);
plot::PlotSpec rate_plot(const LabView&, LabData&, const PlotOptions&);
plot::PlotSpec gradient_by_layer_plot(const LabView&, LabData&, const PlotOptions&);
plot::PlotSpec hidden_norm_plot(const LabView&, LabData&, const PlotOptions&);
// Any metric by layer at the cursor's step; gradient and hidden norm are the two above.
plot::PlotSpec depth_plot(const LabView&, LabData&, const PlotOptions&, Metric);
// One small plot a run, same axes: the lines are layers.
std::vector<plot::PlotSpec> over_time_plots(const LabView&, LabData&, const PlotOptions&,
                                            Metric = Metric::Gradient);
// Residual dependency: one triangle a run at the cursor's step; the first carries the
// sentence.
std::vector<plot::PlotSpec> dependency_plots(const LabView&, LabData&, const PlotOptions&);

// The line of one stack: of an encoder-decoder each has a line, named at its end, the encoder's thin and without
// markers.
void dress_line(plot::Series&, const RunView&, Side, bool compact);
// A run's line over the layers, from layer 1 on, without its values. The name is for files and wide plots: a narrow one
// has room for the letter alone.
plot::Series layer_line(const LabView&, size_t index, bool compact, Side);
float depth_pad_right(const LabView&, bool compact);
// "Going down A: decoder falls 5.4×, encoder is flat.": from the last layer to the first; empty without values.
std::string stacks_sentence(char letter, const std::vector<float>& decoder,
                            const std::vector<float>& encoder);

// Theory at the start over the data. Gradients: the profile that cross-attention alone gives a Post-LN
// decoder and, over the first steps, those of Pre-LN and Post-LN, which end in a mark where the closed form
// for the last layer speaks of these models and data. Hidden states: the band of Pre-LN and the level of
// Post-LN, where they are of the size of `top`.
// add_gradient_theory() says whether it drew curves that stand for the first steps only.
bool add_gradient_theory(plot::PlotSpec&, const LabView&, LabData&, const std::string& path, int step);
void add_cosine_theory(plot::PlotSpec&, const LabView&, int step);
void add_norm_theory(plot::PlotSpec&, const LabView&, double top);

// Largest over smallest of the finite positive values; 0 when there are fewer than two.
double spread_of(const std::vector<float>& values);
// How many times less of the loss reaches the first layer than the last, or the other way round.
struct Faded {
  bool first = true;  // it is the first layer that gets less
  std::string times;  // "16 000×"
};
// Empty when they differ by less than ten times.
std::optional<Faded> faded(const std::vector<float>& gradients);
// "layer 1 gets 16 000× less than layer 6"; empty when faded() is.
std::string gets_less(const std::vector<float>& gradients);
// Title, question and brief question of a metric's plot; `title` is info().by_layer or over_time.
void put_title(plot::PlotSpec&, const MetricInfo&, const char* title);
// What an axis shows: of the matrix where the metric asks which, at a step, of a run.
std::string axis_of(const LabView&, const MetricInfo&, int matrix);
std::string at_step(std::string_view what, int step);
std::string of_run(std::string_view what, const RunView&);
// "A", of an encoder-decoder "A's decoder".
std::string whose(const RunView&, Side);
// Makes an axis logarithmic with room for these values, three or four decades labelled.
void log_axis(plot::Axis&, double lo, double hi);
plot::Axis layer_axis(int layers);
plot::Axis step_axis(const LabView&);
// The cursor's step, and where the hand is in another plot over time.
void put_cursor(plot::PlotSpec&, const PlotOptions&, bool flag);

}  // namespace normscope::lab
