// A plot as a value: its content (axes, series by reference, bands, heat map, river,
// reference lines, cursor, sentence); the renderers decide about pixels: plot_imgui (screen), plot_still (files),
// plot_text (text and CSV). Series have their full length and are never copied; renderers thin them and keep extremes.
// View ranges (zoom, pan) live in the app's state.
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

// Refers to numbers. `owner` keeps them alive as long as the plot; where it is empty, the caller does.
struct Column {
  std::span<const float> values;
  std::shared_ptr<const void> owner;

  Column() = default;
  Column(std::span<const float> v, std::shared_ptr<const void> keep = {})
      : values(v), owner(std::move(keep)) {}
  Column(std::shared_ptr<const std::vector<float>> v) : values(*v), owner(std::move(v)) {}
  // Takes the numbers over.
  static Column of(std::vector<float> v) {
    return Column(std::make_shared<const std::vector<float>>(std::move(v)));
  }
  size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  float operator[](size_t i) const { return values[i]; }
};

// A colour by meaning; the theme gives the actual colour.
struct Ink {
  enum class Role { Ink, Ink2, Ink3, Run, Depth, Prediction, Neutral };
  Role role = Role::Ink;
  int index = 0, count = 1;  // run 0..3, or layer index of count layers

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
  double lo = 0, hi = 1;      // home range (what a double click restores)
  std::string label{};        // in words, for exports and text: "step", "norm of ∂L/∂W"
  std::string unit{};         // "nats per letter"
  std::string short_label{};  // printed at the axis' corner ("layer"), empty: none
  std::vector<Tick> ticks{};  // empty: chosen by the renderer
  int max_ticks = 4;          // grid lines at most (vertical axis); labels at most (horizontal: about w/80)
  bool integer = false;       // ticks only on whole numbers
  bool show_labels = true;    // false: grid stays, tick labels are left out (stacked small plots)
};

enum class Markers { None, Sparse, All };  // sparse: 30 to 50 px apart; all: one a point (plots by layer)

struct Series {
  std::string id{};      // stable, for exports: "A", "layer 3"
  std::string name{};    // after the value at the line's end: "no warm-up"
  std::string letter{};  // run letter before the value, SemiBold in the run's text colour; empty: none
  std::string value{};   // number at the line's end as text, mono: "2.93"; empty: none
  int decimals = -1;     // of the number where an earlier cursor crosses the line; -1: none is written there
  Column x{}, y{};       // x empty: x = x0 + i * dx; y not finite: a gap, marked in the error colour
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
  bool ring = false;       // hollow markers, so that what lies below stays visible
  double x_at(size_t i) const { return x.empty() ? x0 + dx * double(i) : double(x[i]); }
};

struct Band {
  std::string id{};
  Column x{}, lo{}, hi{};
  Ink ink{};
  bool apart = false;   // a bar at each x, as nothing was measured between them
  bool theory = false;  // theory: alpha .12; measured: .20 (dark .28)
  std::string label{};  // which mean, which range, or which theory
  std::optional<std::pair<double, double>> label_at{};  // data point that the label's leader points to
  std::string help{};                                   // what the mouse on the label says; empty: nothing
};

// A dotted level with its name and value on it ("letter frequencies 2.95").
struct RefLine {
  double value = 0;
  std::string label{};
  std::string short_label{};  // used where the label does not fit; empty: it is left out then
  bool horizontal = true;
  bool label_left = false;   // where on the line
  bool label_below = false;  // label under the line instead of above
  bool fill_below = false;   // paint the area between line and axis in `sunk` (nothing can get there)
  std::string help{};        // what the mouse on the label says; empty: nothing
};

// A lower-triangular (or full) matrix of shares 0..1, row-major, `columns` wide; NaN cells are not drawn.
// Its cells are squares with labels of their own. `stretched` cells fill the plot area: columns divide the home range
// of the x axis, which is drawn, and rows divide the home range of the y axis.
struct HeatMap {
  int rows = 0, columns = 0;
  Column cells{};
  std::string column_first{}, column_last{};  // labels below: "input", "branch 12"
  std::string row_first{}, row_last{};        // labels left: "1", "12"
  std::string column_last_short{};            // used where column_last has no room: "12"
  std::string below{}, below_short{};         // "Σ rows 0.61–0.96", "Σ 0.61–0.96"
  int marked_row = -1, marked_rows = 2;       // outlined: a layer's sub-layers
  bool signed_data = false;                   // -1..1 in blue to red
  bool log = false;                           // colours are even in the logarithm, from `least` to `full`
  float least = 1;                            // log: the value with the palest colour
  Column beside{};             // stretched: a narrow column left of the area, a cell a row: the prediction
  std::string beside_label{};  // below that column
  bool stretched = false;
  bool ticked = false;   // stretched, below lines: the rows are values of the y axis, which shows its ticks
  float full = 1;        // the value with the full colour
  std::string label{};   // stretched: a cell's content, in words
  bool upward = false;   // the first row is the lowest, as in a diagram that flows up
  bool weights = false;  // of what is read over depth; else shares of variance
  // The place of a row, counted from the top; or the row at a place.
  int place(int row) const { return upward ? rows - 1 - row : row; }
  // Where a value stands between the palest and the full colour.
  float share(float value) const {
    return log ? std::log(value / least) / std::log(full / least) : value / full;
  }
};

struct RiverBand {
  std::string name{};  // at the right end, where the band is thick enough: "branch 12"
  Ink ink{};
};

// A stream that fills the plot area from left to right. Its bands are the shares of the columns, the oldest
// on top: column 0 holds band 0 alone, and band j enters from below at column j. `shares` has a row for every column,
// as wide as there are bands, and each row adds up to one. A river that grows has the size of each column too, as a
// part of the largest: it fills only so much of the plot area there, from above.
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
  std::string flag{};  // step in the flag on the topmost plot; empty: no flag
};

// A label at a data point, e.g. "layer 1 gets 16 000× less than layer 6", after the run's letter.
struct Note {
  double x = 0, y = 0;
  std::string letter{}, text{};
  Ink ink{Ink::Role::Ink2, 0, 1};
  float dx = 8, dy = 16;  // from the point to the text's baseline, px
  std::string help{};     // what the mouse on it says; empty: nothing
};

// Something yellow to grab (warm-up end, peak rate).
struct Handle {
  std::string name{};  // control name: PLOT/NAME
  double x = 0, y = 0;
  bool move_x = true, move_y = false;
  double step = 0;  // of one arrow key along x; 0: one pixel
  std::string help{};
  std::string value{};
};

struct PlotSpec {
  std::string id{};  // file name of exports: "loss"
  std::string title{}, note{}, sentence{};
  std::string question{}, brief{};  // after the title: the same in plain words, and in few of them
  Axis x{}, y{};
  std::vector<Band> bands{};
  std::vector<RefLine> lines{};
  std::vector<Series> series{};
  std::vector<Note> notes{};
  std::vector<Handle> handles{};
  std::optional<HeatMap> heat{};
  std::optional<River> river{};
  std::optional<Cursor> cursor{};
  std::optional<double> hover{};  // where the mouse is in another plot of the same axis: a faint upright line
  std::optional<int> tile{};      // run letter tile in the upper right corner (one small plot per run)
  float pad_left = 50, pad_bottom = 26, pad_right = 16, pad_top = 8;
  // Lets labels stand in the plot area, right of the cursor or of the line's end.
  // False: labels right of the plot area (plots by layer), pad_right must hold them.
  bool labels_inside = true;
};

// Whether a plot has axes to zoom along: square cells and rivers have none.
inline bool has_axes(const PlotSpec& plot) { return !plot.river && (!plot.heat || plot.heat->stretched); }

// Which part of the axes is shown. Unset: the home ranges of the plot.
struct View {
  std::optional<std::pair<double, double>> x, y;
  bool holds_cursor = false;  // the step cursor was taken: a drag moves it and does not pan
  bool zoomed() const { return x || y; }
  void reset() {
    x.reset();
    y.reset();
  }
};

}  // namespace normscope::plot
