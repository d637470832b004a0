// The renderers of a PlotSpec: draw_plot() draws an interactive plot into the window (zoom, pan, handles), draw_still()
// a complete picture with title and caption, and to_svg(), to_text() and to_csv() files and text without a window.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/plot/plot_spec.h"
#include "app/ui/ui.h"
#include "training/io/text.h"

namespace normscope::plot {

struct PlotHit {
  bool hovered = false;        // mouse over the plot area
  double x = 0, y = 0;         // data under the mouse, also outside; column and row of a square cell, or band
  bool pressed = false;        // the left button went down in the plot area, on no handle
  bool on_cursor = false;      // the mouse is near the step cursor: a press moves the cursor and does not pan
  bool clicked = false;        // a click without drag (to set the step cursor)
  std::optional<int> nearest;  // series within 12 px of the mouse
  std::optional<size_t> point;  // index of that series' point nearest to the mouse in x
  std::optional<int> handle;    // index of the handle that mouse or arrow keys move; its new data position:
  double handle_x = 0, handle_y = 0;
  bool handle_done = false;   // the handle was released, or moved by a key, in this frame
  bool view_changed = false;  // zoomed, panned or reset this frame
};

// Draws the plot area with ticks and labels; the panel around the plot draws title and sentence. It registers `name` as
// a region and NAME/HANDLE for each handle. The wheel zooms along x (with Shift along y), a drag with the right button
// zooms into a box, a drag with the left one pans a zoomed plot, a double click resets. `highlight` is the id of a
// series, hovered in another plot, that is emphasised while the others fade.
PlotHit draw_plot(ui::Ui&, std::string_view name, const ui::Rect&, const PlotSpec&, View&,
                  std::string_view help, std::string_view highlight = {});

// The pad_right that the direct labels need at the present end of the lines, at least the plot's own. Plots that share
// a step axis all use the largest of their values, so that their cursors stay aligned.
float needed_pad_right(ui::Ui&, const PlotSpec&, float width);

struct ExportSize {
  float width = 640, height = 400;
};
// Draws the plot as in a file: title, question or note, sentence, plot area without a cursor, the names of the axes.
void draw_still(ui::Painter&, const ui::Theme&, const PlotSpec&, const ui::Rect&, const View& = {});
// Writes what draw_still() draws as an SVG document in the given theme.
std::string to_svg(const PlotSpec&, const ui::Theme&, ExportSize = {}, const View& = {});
// Draws plot area and names of the axes alone: what a paper says above and below a figure is the author's.
void draw_figure(ui::Painter&, const ui::Theme&, const PlotSpec&, const ui::Rect&, const View& = {});
// What draw_figure() draws, as a page of a PDF and as an SVG document, both with letters as outlines. Throw Error where no
// font is found.
std::string to_pdf(const PlotSpec&, const FigureStyle&, const View& = {});
std::string to_paper_svg(const PlotSpec&, const FigureStyle&, const View& = {});
// Another picture as a figure of a paper. It is painted as wide as it is told in logical px, where the numbers at axes have
// the size of the style, and returns its size.
using FigurePicture = std::function<ui::Vec(ui::Painter&, const ui::Theme&, float width)>;
std::string to_pdf(std::string_view title, const FigurePicture&, const FigureStyle&);
std::string to_paper_svg(std::string_view title, const FigurePicture&, const FigureStyle&);
// The plot in words, line by line: title, sentence, axes; of each series first, last, min, max and the cursor's value.
std::string to_text(const PlotSpec&);
// All values with 9 digits, never thinned. Columns: series,x,y,hi with the axes' labels for x and y; a band has lo as
// y. A heat map has row,column,value, a stretched one y,x,value at each cell's centre, a river band,column,share.
std::string to_csv(const PlotSpec&);
using normscope::csv_field;

// The limits of zoom and pan: never beyond the data, and never so close that numbers cannot be told apart. draw_plot()
// applies them; they need no window.

enum class Direction { Across, Up };

// The home range along one axis, widened to all data, with a margin of a twentieth of the home range beyond data that
// lie outside. So a user can pan to a spike outside the home range, but not into empty space.
std::pair<double, double> widest_range(const PlotSpec&, Direction);

// Moves and clips `asked` to lie inside widest_range(). It stays at least two units wide on an integer axis and a
// ten-thousandth of the widest range on others. Empty where the result is the home range, or `asked` is not finite.
std::optional<std::pair<double, double>> allowed_range(const PlotSpec&, Direction,
                                                       std::pair<double, double> asked);

}  // namespace normscope::plot
