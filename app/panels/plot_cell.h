// Draws one plot cell of the Lab: panel, title with the list of metrics behind it, plot, and the menu that saves the
// plot (SVG, PNG, CSV), copies it as text and switches its axis to the other scale. lab_plots.cpp calls it.
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
  std::map<std::string, bool> turned;  // vertical axis switched: log for linear, linear for log
  std::string scrubbing;               // cell on which the user drags the step cursor
  std::string open_menu;               // cell whose menu is to open
  std::vector<view::SavePlot> saves;   // requested and not written yet
  std::string copied, copied_title;    // a plot's numbers for the clipboard

  /// Moves the saves and the copied text of this frame into `requests`.
  void hand_over(ScreenRequests& requests);
};

struct CellOptions {
  std::string help{};
  float right = 0;           // px at the right of the title row that other controls take
  Metric* metric = nullptr;  // the list behind the title changes it; null: no list
  bool stream = true;        // false: metrics that need a residual stream are disabled in the list
  std::string term{};        // glossary entry of the title
  std::string highlight{};   // id of the series that is hovered in another plot
};

// An entry of a cell's menu.
struct MenuEntry {
  std::string_view id, label, help;
  std::string keys{};
};
std::span<const MenuEntry> menu_entries(bool heat);  // in menu order; `heat`: without the entries for axes

// Draws the panel and its title row, with the list of metrics behind the title; returns the rectangle for the plot.
ui::Rect cell_panel(ui::Ui&, const std::string& name, const ui::Rect&, const plot::PlotSpec&,
                    const CellOptions&);
// Draws a chevron that opens the same list, NAME/quantity, for a cell without a title (compact layout).
void metric_button(ui::Ui&, const std::string& name, const ui::Rect&, Metric&, bool stream = true);
// Draws the three dots in the upper right corner of `panel` and handles Ctrl+T while the mouse is over it.
void cell_menu(ui::Ui&, const std::string& name, const ui::Rect& panel, const std::vector<plot::PlotSpec>&,
               CellState&);
// Draws panel, plot and menu of one plot. If the user has switched the axis, turn_axis() changes `PlotSpec` first.
plot::PlotHit draw_cell(ui::Ui&, const std::string& name, const ui::Rect&, plot::PlotSpec&, CellState&,
                        const CellOptions&);
// Gives the vertical axis the other scale and a range that covers all finite values. A heat map stays as it is.
void turn_axis(plot::PlotSpec&);

// Plots as files. draw_app calls save_plots() for the menus' entries; write_plot() also writes the figures of
// `normscope compare`.

// Returns $XDG_PICTURES_DIR, else ~/Pictures where there is one, else the current folder.
std::string pictures_folder();
// The size of a plot as a file, in logical px; a PNG has twice as many pixels along each side.
inline constexpr plot::ExportSize kPlotFileSize{640, 400};
// Writes one plot to `path`, without a window; an existing file is overwritten. Throws Error with the path.
void write_plot(const std::string& path, const plot::PlotSpec& plot, view::PlotFormat format, bool dark,
                plot::ExportSize size = kPlotFileSize, const plot::View& view = {},
                const plot::FigureStyle& style = {});
// What a caption needs: the plot in words, its data's file, and `facts`, such as the command that makes the runs again.
std::string figure_words(const plot::PlotSpec& plot, std::string_view facts);
// Writes one file per plot under a free name, normscope-ID.svg, and with a PDF its data and figure_words(); returns the
// paths. Throws Error with the path.
std::vector<std::string> save_plot(const view::SavePlot& command, const std::string& folder, bool dark);
// Saves the plots that a frame requested and returns the notice for the user, also for an error; empty: none.
Message save_plots(const std::vector<view::SavePlot>& commands, bool dark);

}  // namespace normscope::panels
