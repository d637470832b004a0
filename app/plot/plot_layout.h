// Turns a PlotSpec into a Drawing: every line, area, marker and text of the plot in logical px, in drawing order, for
// paint(). The layout needs neither a window nor a font, as it measures text through a function.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/plot/plot_axis.h"
#include "app/ui/paint.h"

namespace normscope::plot {

using Measure = std::function<float(ui::TextStyle, std::string_view)>;
inline Measure measure_of(const ui::Painter& p) {
  return [&p](ui::TextStyle style, std::string_view s) { return p.text_width(style, s); };
}

struct FillItem {
  ui::Rect rect;
  ui::Colour colour;
  float radius = 0;
  bool accent = false;  // with the outline of a yellow shape
};
struct RuleItem {  // horizontal or vertical line on whole pixels
  ui::Vec a, b;
  ui::Colour colour;
  float width = 1;
  ui::Dash dash;
};
struct StrokeItem {
  std::vector<ui::Vec> points;
  ui::Colour colour;
  float width = 1;
  ui::Dash dash;
  float phase = 0;  // of the dash at the first point
  bool clip = true;
  ui::DashAlong along = ui::DashAlong::Path;
};
struct StripItem {
  std::vector<ui::Vec> upper, lower;
  ui::Colour colour;
  bool clip = true;
};
struct MarkItem {
  ui::Vec centre;
  ui::Marker marker;
  float size;
  ui::Colour fill, edge;
};
struct TextItem {
  ui::Vec baseline;
  ui::TextStyle style;
  ui::Colour colour;
  std::string text;
  ui::Align align = ui::Align::Left;
};
using Item = std::variant<FillItem, RuleItem, StrokeItem, StripItem, MarkItem, TextItem>;

struct Drawing {
  PlotMap map;
  std::vector<Item> items;
  std::vector<ui::Vec> handles;                               // positions of plot.handles, px
  ui::Rect tile;                                              // of the run's letter; empty: none
  std::vector<std::pair<ui::Rect, std::string>> explained{};  // boxes of labels with a help, and the help
  // Per column of a river: the upper edges of its bands, from the top as fractions of the area; last, its lower edge.
  std::vector<std::vector<double>> levels{};
};

struct LayoutOptions {
  float column = 1;              // width of the pixel columns by which lines are thinned
  std::string_view highlight{};  // id of the series to emphasise
  float marks = 1;               // size of the markers, as a share of that on the screen
};

// Lays out plot area, ticks and labels in `rect`, without title, sentence and caption.
Drawing layout_plot(const PlotSpec&, const View&, const ui::Rect& rect, const ui::Theme&, const Measure&,
                    const LayoutOptions& = {});

// Paints the drawing that layout_plot() made of this plot.
void paint(ui::Painter&, const ui::Theme&, const PlotSpec&, const Drawing&);

ui::Rect plot_area(const PlotSpec&, const ui::Rect& rect);
// The rectangle of a heat map's square cells: as large as fits, at the upper left of `area`.
ui::Rect heat_area(const HeatMap&, const ui::Rect& area);

// The width of the widest direct label of the plot (letter, value and name).
float label_width(const PlotSpec&, const Measure&);
// The pad_right that the direct labels need in a plot of this width, right of the present end of the lines.
float pad_for_labels(const PlotSpec&, const Measure&, float width);
// The plot as a complete picture, `width` px wide: without handles and hover, and with the tick labels and line names
// that a cell on the screen leaves to its neighbours. On `paper` the numbers at the y axis get the room that they need.
PlotSpec still(const PlotSpec&, const Measure&, float width, bool paper = false);
// The names of the axes, for the foot of such a picture: "x: layer; y: size of the gradient of W₂ at step 200".
std::string caption(const PlotSpec&);
// The x, in data, of the end of the longest labelled line or of the cursor, whichever is further right.
double end_of_lines(const PlotSpec&);

inline constexpr float label_gap = 16;     // least distance between direct labels
inline constexpr float label_offset = 14;  // from the line's end to its label
inline constexpr float river_left = 56;    // margin left of a river, for the name of its source

}  // namespace normscope::plot
