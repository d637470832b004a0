// Draws one plot cell of the Lab: panel, title with the list of metrics behind it, plot, and the menu that
// saves it (SVG, PNG, CSV), copies it as text and changes its axis. lab_plots.cpp calls it.
// Controls: NAME, NAME/quantity (the title), NAME/menu with NAME/menu/{svg,png,csv,text,log,reset}.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/metrics.h"
#include "app/plot/plot.h"
#include "app/view/screen.h"
#include "engine/core/error.h"

namespace normscope::panels {

// The state of the cells between frames.
struct CellState {
  std::map<std::string, plot::View> views;
  std::map<std::string, bool> turned;  // the axis has the other scale: log for linear, linear for log
  std::string scrubbing;               // cell whose cursor is held
  std::string open_menu;               // cell whose menu is to open
  std::vector<view::SavePlot> saves;   // requested and not written yet
  std::string copied, copied_title;    // a plot's numbers for the clipboard

  /// Hands over the requests at the cells since the last frame.
  void hand_over(ScreenRequests& requests);
};

struct CellOptions {
  std::string help{};
  float right = 0;           // px of the title row that are taken
  Metric* metric = nullptr;  // chosen by the title
  bool stream = true;        // list all metrics; else only those that need no residual stream
  std::string term{};        // glossary entry of the title
  std::string highlight{};   // id of a series, hovered elsewhere
};

// An entry in the menu of a cell; menu_entries() has them in order.
struct MenuEntry {
  std::string_view id, label, help;
  std::string keys{};
};
std::span<const MenuEntry> menu_entries(bool heat);

// Draws the title row with the list of metrics behind the title, and returns the rest for the plot.
ui::Rect cell_panel(ui::Ui&, const std::string& name, const ui::Rect&, const plot::PlotSpec&,
                    const CellOptions&);
// Draws a chevron with the same list where there is no title, NAME/quantity.
void metric_button(ui::Ui&, const std::string& name, const ui::Rect&, Metric&, bool stream = true);
// Draws the three dots in the upper right corner of `panel` and handles Ctrl+T while the mouse is over it.
void cell_menu(ui::Ui&, const std::string& name, const ui::Rect& panel, const std::vector<plot::PlotSpec>&,
               CellState&);
// Draws panel, plot and menu of one plot. It first changes the plot's axis, if the menu asked for that.
plot::PlotHit draw_cell(ui::Ui&, const std::string& name, const ui::Rect&, plot::PlotSpec&, CellState&,
                        const CellOptions&);
// Gives the vertical axis the other scale, with a range that holds the finite values.
void turn_axis(plot::PlotSpec&);

// The menu of a cell writes the chosen file into the pictures folder (save_plots, called by draw_app); write_plot also
// writes the figures of `normscope compare`.

// Returns $XDG_PICTURES_DIR, else ~/Pictures where there is one, else the current folder.
std::string pictures_folder();
// The size of a plot as a file, in logical px; a PNG has twice as many pixels along each side.
inline constexpr plot::ExportSize kPlotFileSize{640, 400};
// Writes one plot to `path` and overwrites a file there. It needs no window. It throws Error with the path.
void write_plot(const std::string& path, const plot::PlotSpec& plot, view::PlotFormat format, bool dark,
                plot::ExportSize size = kPlotFileSize, const plot::View& view = {});
// Writes one file per plot and returns their paths. It throws Error with the path when that fails.
std::vector<std::string> save_plot(const view::SavePlot& command, const std::string& folder, bool dark);
// Saves the plots of a frame and returns the notice for the user, empty when there were none.
Message save_plots(const std::vector<view::SavePlot>& commands, bool dark);

}  // namespace normscope::panels
