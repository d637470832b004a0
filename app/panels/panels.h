// Gives the plots of the Lab, a row each: what a panel shows, where it stands, and the names of its controls and file,
// its title, its question and its words for the palette. LabScreen draws the rows, elsewhere() lists their controls,
// the palette names them. A new panel is a row of panels.cpp and the function that makes its PlotSpec.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/metrics.h"
#include "app/panels/plot_specs.h"
#include "app/plot/plot_spec.h"
#include "app/ui/geometry.h"

namespace normscope::panels {

// How a panel is drawn and what the mouse does on it.
enum class Form : uint8_t {
  Steps,     // one plot over the steps: the user sets the cursor and drags handles
  Strips,    // a strip per run over the steps, with a line per layer
  Layers,    // one plot by layer
  Triangles  // a heat map per run
};

enum class PanelColumn : uint8_t { None, Time, Depth };

struct Place {
  PanelColumn column = PanelColumn::None;  // in the full and the medium layout
  int row = 0;                             // in the column, from the top
  bool medium = true;                      // false: the medium layout has no room for it
  float least = 0;                         // height in logical px
  float share = 0;                         // of the height that the column has left for its rows ...
  bool first = false;                      // ... or, before that, of the whole column
  const char* tab = "";                    // name of its tab in the compact layout; empty: no tab
  bool above_tabs = false;                 // stands above the tabs in the compact layout
  bool at_first = false;                   // one of the few that a first start shows
};

struct PanelControl {
  const char* name;  // after the panel's id: "/peak"
  const char *title, *help, *words;
};

using PlotsOf = std::vector<plot::PlotSpec> (*)(const LabView&, view::LabData&, const PlotOptions&, Metric);

struct Panel {
  const char* id;  // begins the names of its controls: "plot/loss", "plot/loss/menu"
  Form form;
  Place place;
  const char* title = "";          // the field's term; empty: the metric's, with its question and axis
  const char* question = "";       // the same in plain words, after the title
  const char* brief = "";          // the question where there is little room
  const char* term = "";           // entry of the glossary; empty: none
  const char* axis = "";           // the measured number, for files and text
  const char* help = "";           // after the metric's, where there is one
  const char* file = "";           // normscope-FILE.svg, normscope-FILE-A.svg; empty: named by the metric
  const char* words = "";          // more words by which the palette finds it
  std::optional<Metric> metric{};  // the one shown first; the title chooses another
  const char* lists = "";          // ends the names of its lists: plot/matrix-below, plot/stack-over-time
  bool one_stack = false;          // a list chooses one stack of an encoder-decoder; else both are shown
  bool at_cursor = true;           // the runs as they stood at the cursor's step; else as they are now
  bool speaks_on_lines = false;    // no sentence below the title: its lines are labelled with it
  std::span<const PanelControl> controls{};  // at most one
  PlotsOf plots;
};

// In the order of the compact layout's tabs.
std::span<const Panel> panels();
// Looks a panel up by its id; nullptr when there is none.
const Panel* find_panel(std::string_view id);
// The panel that a control belongs to: "plot/loss/menu/svg" -> plot/loss.
const Panel* panel_of(std::string_view control);
const PanelControl* panel_control(std::string_view control);
bool stands_in(const Panel&, ui::Size);
// The panels of a column, from the top; `few`: only the panels of a first start.
std::vector<const Panel*> panels_of(PanelColumn, ui::Size, bool few);
// The panels of a small window: those behind tabs, and the one above the tabs.
std::vector<const Panel*> tab_panels();
const Panel& panel_above_tabs();

// The panel's plot, or its plots, one a run, with the words of its row.
std::vector<plot::PlotSpec> plots_of(const Panel&, const LabView&, view::LabData&, const PlotOptions&,
                                     Metric);
std::string help_of(const Panel&, Metric);

}  // namespace normscope::panels
