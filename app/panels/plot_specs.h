// The Lab's plots as values: LabView -> PlotSpec. The same plots are drawn on screen, exported as SVG, CSV
// and text, and asserted on in tests. Nothing here knows a pixel but the room for labels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/panels/metrics.h"
#include "app/plot/plot_spec.h"
#include "app/view/lab_data.h"

namespace normscope::lab {

struct PlotOptions {
  int step = 0;            // of the cursor
  bool pinned = false;     // the cursor was set by hand; it is not the newest step
  int matrix = 0;          // index in kMatrices
  Side side = Side::main;  // of an encoder-decoder, where a plot has room for one stack only
  bool compact = false;
  std::optional<double> drag_rate, drag_warmup;  // while a handle is held: of all runs, of run `drag_run`
  int drag_run = -1;
  std::optional<int> hover_layer;    // 0-based; under the hand in another plot or in the diagram
  std::optional<double> hover_step;  // under the hand in another plot over time
  std::optional<double> person;      // nats a letter of the one who guessed in the guessing game
};

// What tells this run apart from the others, for the end of its line: "no warm-up", "Pre-LN", "12 norms moved".
std::string short_label(const LabView& view, size_t run);
// "letter" in words: "letter frequencies".
std::string entropy_name(const LabView& view);
double floor_of_axis(const LabView& view);

plot::PlotSpec loss_plot(const LabView&, LabData&, const PlotOptions&);
plot::PlotSpec rate_plot(const LabView&, LabData&, const PlotOptions&);
plot::PlotSpec gradient_by_layer_plot(const LabView&, LabData&, const PlotOptions&);
plot::PlotSpec hidden_norm_plot(const LabView&, LabData&, const PlotOptions&);
// Any quantity by layer at the cursor's step; gradient and hidden norm are the two above.
plot::PlotSpec depth_plot(const LabView&, LabData&, const PlotOptions&, Metric);
// One small plot a run, same axes: the lines are layers.
std::vector<plot::PlotSpec> over_time_plots(const LabView&, LabData&, const PlotOptions&,
                                              Metric = Metric::gradient);
// "Who does each layer lean on?": one triangle a run at the cursor's step; the first carries title and sentence.
std::vector<plot::PlotSpec> dependency_plots(const LabView&, LabData&, const PlotOptions&);

// The line of one stack: of an encoder-decoder each has a line, named at its end, the encoder's thin and without
// markers.
void dress_line(plot::Series&, const RunView&, Side, bool compact);
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
// "layer 1 hears 16 000× less than layer 6"; empty when they differ by less than ten times.
std::string hears_less(const std::vector<float>& gradients);
// Makes an axis logarithmic with room for these values, three or four decades labelled.
void log_axis(plot::Axis&, double lo, double hi);
plot::Axis layer_axis(int layers);
// Of a plot over all steps, and where its cursor stands; `flag`: with the step's number at it.
plot::Axis step_axis(const LabView&);
void put_cursor(plot::PlotSpec&, const PlotOptions&, bool flag);

}  // namespace normscope::lab
