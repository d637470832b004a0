// The renderers of a PlotSpec: draw_plot draws on the screen (zoom and pan), draw_still draws a picture of its own,
// onto a screen or into a file, and to_svg, to_text and to_csv write files and text without a window.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/plot/plot_spec.h"
#include "app/ui/ui.h"
#include "training/io/text.h"

namespace normscope::plot {

struct PlotHit {
  bool hovered = false;         // mouse over the plot area
  double x = 0, y = 0;          // data under the mouse, also beyond the ends; column and row of square cells
  bool pressed = false;         // the left button went down in the plot area, on no handle
  bool on_cursor = false;       // within a few px of the step cursor, where a press holds it and does not pan
  bool clicked = false;         // a click without drag (to set the step cursor)
  std::optional<int> nearest;   // series within 12 px of the mouse
  std::optional<size_t> point;  // its point
  std::optional<int> handle;    // the handle being dragged; its new data position:
  double handle_x = 0, handle_y = 0;
  bool handle_done = false;   // let go this frame
  bool view_changed = false;  // zoomed, panned or reset this frame
};

// Draws the plot area with ticks and labels into `rect`; title and sentence are left to the panel around it.
// It registers `name` as a region and NAME/HANDLE for each handle. The wheel zooms (with Shift along y), a drag pans
// when zoomed, a double click resets. `highlight` is the id of a series to emphasise while others fade, from a hover
// elsewhere.
PlotHit draw_plot(ui::Ui&, std::string_view name, const ui::Rect&, const PlotSpec&, View&,
                  std::string_view help, std::string_view highlight = {});

// The pad_right that the direct labels need with the line ending where it does now (16 when
// they fit inside). Plots that share an axis take the largest of theirs, so that their cursors stay aligned.
float needed_pad_right(ui::Ui&, const PlotSpec&, float width);

struct ExportSize {
  float width = 640, height = 400;
};
// Draws the plot as a file shows it: title, question or note, sentence and the names of its axes.
void draw_still(ui::Painter&, const ui::Theme&, const PlotSpec&, const ui::Rect&, const View& = {});
// Writes what draw_still() draws as an SVG document in the given theme.
std::string to_svg(const PlotSpec&, const ui::Theme&, ExportSize = {}, const View& = {});
// Writes several lines: title, sentence, axes, and for each series first, last, min, max and the value at the cursor.
std::string to_text(const PlotSpec&);
// Writes full series in 9 digits: series,x,y,hi with the axes' words for x and y, and bands with lo as y.
// Heat maps have row, column, value; stretched ones y, x, value at the middle of each cell.
std::string to_csv(const PlotSpec&);
using normscope::csv_field;

// Limits how far a plot may be zoomed and panned: never beyond its data, and never so close that its
// numbers cannot be told apart. The screen renderer uses it; it needs no window.

enum class Direction { Across, Up };

// The home range widened to all data along one axis, data beyond it with a twentieth of air. A
// spike outside the home range can be reached, empty space cannot.
std::pair<double, double> widest_range(const PlotSpec&, Direction);

// Moves and cuts `asked` to lie inside widest_range(), no narrower than two steps of a counted axis or
// a ten-thousandth of the widest range. It is empty where that is the home range again.
std::optional<std::pair<double, double>> allowed_range(const PlotSpec&, Direction,
                                                       std::pair<double, double> asked);

}  // namespace normscope::plot
