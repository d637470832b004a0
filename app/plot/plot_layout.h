// Turns a PlotSpec into a Drawing: every line, area, marker and text of the plot in logical px, in drawing
// order, which paint() paints. No window and no font is needed: text is measured through a function.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/plot/plot_lines.h"
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
struct RuleItem {  // level or upright line on whole pixels
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
  std::vector<ui::Vec> handles;  // pixel place of plot.handles
  ui::Rect tile;                 // where the run tile stands (empty: none)
};

struct LayoutOptions {
  float column = 1;            // width of the pixel columns that lines are thinned by
  std::string_view highlight;  // id of the series to emphasise
};

// `rect` holds plot area, ticks and labels (not the title).
Drawing layout_plot(const PlotSpec&, const View&, const ui::Rect& rect, const ui::Theme&, const Measure&,
                    const LayoutOptions& = {});

// Paints what the layout of that plot came to.
void paint(ui::Painter&, const ui::Theme&, const PlotSpec&, const Drawing&);

// The plot area inside `rect`.
ui::Rect plot_area(const PlotSpec&, const ui::Rect& rect);
// What the square cells of a heat map take of it.
ui::Rect heat_area(const HeatMap&, const ui::Rect& area);

// Width of the widest direct label of the plot (letter, value and name).
float label_width(const PlotSpec&, const Measure&);
// pad_right that the direct labels need in a plot of this width with the line ending where it does now.
float pad_for_labels(const PlotSpec&, const Measure&, float width);
// The plot as a picture of its own, of this width: no handles, what the cells of the screen leave to their
// neighbours (ticks, names of lines) on it.
PlotSpec still(const PlotSpec&, const Measure&, float width);
// What its axes are, in words, for under such a picture: "across: layer; up: norm of the gradient of W₂ at step
// 200".
std::string caption(const PlotSpec&);
// Where the longest line ends, as data x (the cursor where there is one).
double end_of_lines(const PlotSpec&);

inline constexpr float label_gap = 16;     // least distance between direct labels
inline constexpr float label_offset = 14;  // from the line's end to its label

}  // namespace normscope::plot
