// A plot as a value: its content (axes, series, bands, heat map, river, reference lines, cursor, sentence). The
// renderers of plot.h decide about pixels. Series have their full length and are referred to, never copied; renderers
// thin them and keep the extremes. The ranges of zoom and pan are no part of a PlotSpec: the app keeps a View for each.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/ui/theme.h"

namespace normscope::plot {

// A reference to numbers. `owner` keeps them alive as long as the plot; without one, the caller must.
struct Column {
  std::span<const float> values;
  std::shared_ptr<const void> owner;

  Column() = default;
  Column(std::span<const float> v, std::shared_ptr<const void> keep = {})
      : values(v), owner(std::move(keep)) {}
  Column(std::shared_ptr<const std::vector<float>> v) : values(*v), owner(std::move(v)) {}
  // Takes ownership of the numbers.
  static Column of(std::vector<float> v) {
    return Column(std::make_shared<const std::vector<float>>(std::move(v)));
  }
  size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  float operator[](size_t i) const { return values[i]; }
};

// A colour by its meaning; line_colour() and text_colour() look up the theme's colour.
struct Ink {
  enum class Role { Ink, Ink2, Ink3, Run, Depth, Prediction, Neutral };
  Role role = Role::Ink;
  int index = 0, count = 1;  // Run: index of the run, 0 = A; Depth: layer `index` of `count`

  bool operator==(const Ink&) const = default;
  static Ink run(int i) { return {Role::Run, i, 1}; }
  static Ink depth(int layer, int layers) { return {Role::Depth, layer, layers}; }
};
ui::Colour line_colour(const ui::Theme&, Ink);
ui::Colour text_colour(const ui::Theme&, Ink);

enum class AxisScale { Linear, Log };

struct Tick {
  double value;
  std::string label{};
};

struct Axis {
  AxisScale scale = AxisScale::Linear;
  double lo = 0, hi = 1;      // home range: shown unless zoomed
  std::string label{};        // in words, for exports and text: "step", "norm of ∂L/∂W"
  std::string unit{};         // "nats per letter"
  std::string short_label{};  // printed left of the x axis' tick labels ("layer"); empty: none
  std::vector<Tick> ticks{};  // empty: chosen by the renderer
  int max_ticks = 4;          // most grid lines of the y axis; the ticks of the x axis follow from its width
  bool integer = false;       // ticks only on whole numbers
  bool show_labels = true;    // false: grid stays, tick labels are left out (stacked small plots)
};

enum class Markers { None, Sparse, All };  // Sparse: 30 to 50 px apart; All: at every point (plots by layer)

struct Series {
  std::string id{};      // stable, for exports: "A", "layer 3"
  std::string name{};    // after the value at the line's end: "no warm-up"
  std::string letter{};  // run letter before the value, SemiBold in the line's text colour; empty: none
  std::string value{};   // number at the line's end as text, mono: "2.93"; empty: none
  int decimals = -1;  // of the value written where a cursor before the line's end crosses it; -1: not written
  Column x{}, y{};    // x empty: x = x0 + i * dx; y not finite: a gap, marked in the error colour
  double x0 = 0, dx = 1;
  Ink ink{};
  std::optional<ui::Dash> dash{};      // default: the run's; solid for others
  std::optional<ui::Marker> marker{};  // default: the run's; none for others
  Markers markers = Markers::None;
  float width = ui::line::run;
  float alpha = 1;
  float nudge = 0;         // px up, so that equal lines of two runs are both visible
  bool end_label = true;   // direct label (letter value name) right of the line's end
  bool end_marker = true;  // marker on the last point
  bool ring = false;       // hollow markers, filled with the panel's colour
  int layer = -1;          // that the line is of, from 0; -1: of none
  double x_at(size_t i) const { return x.empty() ? x0 + dx * double(i) : double(x[i]); }
};

struct Band {
  std::string id{};
  Column x{}, lo{}, hi{};
  Ink ink{};
  bool apart = false;   // a bar at each x instead of an area, where nothing is known between them
  bool theory = false;  // opacity of theory (theory_alpha) instead of measurements (Theme::band_alpha)
  std::string label{};  // names the mean, the range or the theory
  std::optional<std::pair<double, double>> label_at{};  // data point that the label's leader points to
  std::string help{};                                   // tooltip of the label; empty: none
};

// A dotted line at a level, labelled with its name and value: "letter frequencies 2.95".
struct RefLine {
  double value = 0;
  std::string label{};
  std::string short_label{};  // tried where the label does not fit; empty: only the label is tried
  bool horizontal = true;
  bool label_left = false;   // label at the left end instead of the right one
  bool label_below = false;  // label under the line instead of above
  bool fill_below = false;   // fills the area below with Theme::sunk, as no model can reach it
  std::string help{};        // tooltip of the label of a horizontal line; empty: none
};

// A matrix of numbers as colours, row-major, `columns` wide; NaN cells are not drawn, which makes a triangle. Its cells
// are squares, and row and column labels replace the axes. `stretched` cells fill the plot area instead: columns divide
// the home range of the x axis, which is drawn, and rows divide the home range of the y axis.
struct HeatMap {
  int rows = 0, columns = 0;
  Column cells{};
  std::string column_first{}, column_last{};  // labels below: "input", "branch 12"
  std::string row_first{}, row_last{};        // labels left: "1", "12"
  std::string column_last_short{};            // replaces column_last where that does not fit: "12"
  std::string below{}, below_short{};         // "Σ rows 0.61–0.96", "Σ 0.61–0.96"
  int marked_row = -1, marked_rows = 2;  // lines above and below these rows: a layer's sub-layers; -1: none
  bool signed_data = false;              // values -full..full in blue to red
  bool log = false;                      // logarithmic colour scale, from `least` to `full`
  float least = 1;                       // log: the value with the palest colour
  Column beside{};             // stretched: one cell per row in a narrow column left of the area (theory)
  std::string beside_label{};  // printed below that column
  bool stretched = false;
  bool ticked = false;  // stretched, under lines: the y axis shows ticks, as rows are intervals of its values
  float full = 1;       // the value with the full colour
  std::string label{};  // stretched: the quantity and its colour scale, in words
  bool upward = false;  // the first row is the lowest, as in a diagram that flows up
  bool weights = false;  // cells are weights over depth; else shares of variance
  // The row's position counted from the top; also the row at such a position.
  int place(int row) const { return upward ? rows - 1 - row : row; }
  // The value's position on the colour scale: 0 palest, 1 full.
  float share(float value) const {
    return log ? std::log(value / least) / std::log(full / least) : value / full;
  }
};

struct RiverBand {
  std::string name{};  // printed at the right end if the band is thick enough: "branch 12"
  Ink ink{};
};

// Stacked shares as a river that fills the plot area from left to right, the oldest band on top: column 0 holds band 0
// alone, and band j enters from below at column j. `shares` is (columns, bands) row-major, and each row adds up to one.
// `sizes`, for a river that grows, has each column's total relative to the largest: the river fills that fraction of
// the plot area there, from the top. Empty: all 1.
struct River {
  std::vector<RiverBand> bands{};
  Column shares{}, sizes{};
  size_t columns() const { return bands.empty() ? 0 : shares.size() / bands.size(); }
  double share(size_t column, size_t band) const { return double(shares[column * bands.size() + band]); }
  double size(size_t column) const { return sizes.empty() ? 1 : double(sizes[column]); }
  double width(size_t column, size_t band) const { return size(column) * share(column, band); }
};

struct Cursor {
  double x = 0;
  std::string flag{};  // text of the flag at its upper end, the step; empty: no flag
};

// A label at a data point, e.g. "layer 1 gets 16 000× less than layer 6", after the run's letter.
struct Note {
  double x = 0, y = 0;
  std::string letter{}, text{};
  Ink ink{Ink::Role::Ink2, 0, 1};
  float dx = 8, dy = 16;  // from the point to the text's baseline, px
  std::string help{};     // tooltip; empty: none
};

// A yellow disc that the user drags or moves by arrow keys (end of the warm-up, peak rate).
struct Handle {
  std::string name{};  // control name: PLOT/NAME
  double x = 0, y = 0;
  bool move_x = true, move_y = false;
  double step = 0;  // change of x by one arrow key, in data; 0: one pixel
  std::string help{};
  std::string value{};
};

struct PlotSpec {
  std::string id{};  // file name of exports: "loss"
  std::string title{}, note{}, sentence{};
  std::string question{}, brief{};  // after the title: the same in plain words, and a shorter form
  Axis x{}, y{};
  std::vector<Band> bands{};
  std::vector<RefLine> lines{};
  std::vector<Series> series{};
  std::vector<Note> notes{};
  std::vector<Handle> handles{};
  std::optional<HeatMap> heat{};
  std::optional<River> river{};
  std::optional<Cursor> cursor{};
  std::optional<double> hover{};  // x under the mouse in another plot of the same axis: a faint vertical line
  std::optional<int> tile{};      // run letter tile in the upper right corner (one small plot per run)
  float pad_left = 50, pad_bottom = 26, pad_right = 16, pad_top = 8;
  // Direct labels stand right of the cursor or of the line's end, in the plot area where there is room.
  // False: they stand right of the plot area, and pad_right must be wide enough (plots by layer).
  bool labels_inside = true;
};

// Whether a plot has axes, along which it can be zoomed: square cells and rivers have none.
inline bool has_axes(const PlotSpec& plot) { return !plot.river && (!plot.heat || plot.heat->stretched); }

// The ranges of the axes that are shown. Unset: the home ranges of the plot.
struct View {
  std::optional<std::pair<double, double>> x, y;
  bool holds_cursor = false;  // the left button went down on the step cursor: a drag moves it, not the view
  bool zoomed() const { return x || y; }
  void reset() {
    x.reset();
    y.reset();
  }
};

/// A plot as a figure of a paper.
struct FigureStyle {
  float width = 84, height = 0;  ///< mm; height 0: by the width
  float font = 8;                ///< of the numbers at the axes, in points
  bool grey = false;
};
/// Widths of one and of two columns in most journals, mm.
inline constexpr float kColumn = 84, kTwoColumns = 174;

}  // namespace normscope::plot
