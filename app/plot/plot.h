// The renderers of a PlotSpec. Screen: draw_plot (axes transforms, zoom and pan). Picture of its own: draw_still, onto a
// screen or into a file. Files and text: to_svg, to_text, to_csv, without any window.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/plot_spec.h"
#include "app/ui/ui.h"
#include "training/io/text_table.h"

namespace normscope::plot {

struct PlotHit {
  bool hovered = false;         // mouse over the plot area
  double x = 0, y = 0;          // data under the mouse, beyond the ends too; of square cells column and row
  bool pressed = false;         // the left button went down on it, on no handle
  bool on_cursor = false;       // within a few px of the step cursor: there a press holds it and does not pan
  bool clicked = false;         // a click without drag (to set the step cursor)
  std::optional<int> nearest;   // series within 12 px of the mouse
  std::optional<size_t> point;  // its point
  std::optional<int> handle;    // handle being dragged; its new data position:
  double handle_x = 0, handle_y = 0;
  bool handle_done = false;   // let go this frame
  bool view_changed = false;  // zoomed, panned or reset this frame
};

// Draws the plot's plot area with ticks and labels into `rect` (title and sentence are the panel's, see
// draw_panel). Registers `name` as a region and NAME/HANDLE for each handle. Wheel zooms (Shift: y), drag pans
// when zoomed, double click resets. `highlight`: id of a series to emphasise (others fade), from hover elsewhere.
PlotHit draw_plot(ui::Ui&, std::string_view name, const ui::Rect&, const PlotSpec&, View&,
                  std::string_view help, std::string_view highlight = {});
// Panel with the plot's title, note and sentence, the plot inside. `right`: px kept free in the title row.
PlotHit draw_plot_panel(ui::Ui&, std::string_view name, const ui::Rect&, const PlotSpec&, View&,
                        std::string_view help, float right = 0, std::string_view highlight = {});

// pad_right that the direct labels need with the line ending where it does now (16 when they fit inside).
// Plots that share an axis take the largest of theirs, so that their cursors stay aligned.
float needed_pad_right(ui::Ui&, const PlotSpec&, float width);

struct ExportSize {
  float width = 640, height = 400;
};
// The plot with title, question or note, sentence and what its axes are: as a file shows it.
void draw_still(ui::Painter&, const ui::Theme&, const PlotSpec&, const ui::Rect&, const View& = {});
// That as an SVG document; light or dark.
std::string to_svg(const PlotSpec&, const ui::Theme&, ExportSize = {}, const View& = {});
// Several lines: title, sentence, axes, per series first, last, min, max and the value at the cursor.
std::string to_text(const PlotSpec&);
// Long form: series,x,y,hi with the axes' words for x and y, bands with lo as y; heat maps: row, column,
// value; stretched ones y, x, value at the middle of each cell. Full series, 9 digits.
std::string to_csv(const PlotSpec&);
using normscope::csv_field;

}  // namespace normscope::plot
