// The table of the Lab's panels, one row for each plot: the function that makes its PlotSpec, its position in each
// layout, the names of its controls and file, its title, question and search words. LabScreen draws the rows, and
// elsewhere() lists their controls for the palette. A new panel is a row of panels.cpp and its function.
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

// How a panel is drawn, and what a drag on it does.
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
  bool medium = true;                      // false: left out of the medium layout, for lack of room
  float least = 0;                         // minimum height in logical px
  float share = 0;          // height as a share of what the rows with `first` leave of the column ...
  bool first = false;       // ... or, if set, as a share of the whole column
  const char* tab = "";     // name of its tab in the compact layout; empty: no tab
  bool above_tabs = false;  // stands above the tabs in the compact layout
  bool at_first = false;    // among the few panels of a first start
};

struct PanelControl {
  const char* name;  // suffix to the panel's id: "/peak"
  const char *title, *help, *words;
};

using PlotsOf = std::vector<plot::PlotSpec> (*)(const LabView&, view::LabData&, const PlotOptions&, Metric);

struct Panel {
  const char* id;  // prefix of its controls' names: "plot/loss", "plot/loss/menu"
  Form form;
  Place place;
  const char* title = "";          // the technical term; empty: title, question and axis are the metric's
  const char* question = "";       // the same in plain words, after the title
  const char* brief = "";          // the question in fewer words, for a narrow title row
  const char* term = "";           // glossary entry; empty: none
  const char* axis = "";           // the measured number, for files and text
  const char* help = "";           // follows the metric's help, if the panel has a metric
  const char* file = "";           // normscope-FILE.svg, normscope-FILE-A.svg; empty: named by the metric
  const char* words = "";          // more words by which the palette finds it
  std::optional<Metric> metric{};  // shown at first; a list behind the title changes it
  const char* lists = "";          // suffix to its lists' names: plot/matrix-below, plot/stack-over-time
  bool one_stack = false;          // a list chooses one stack of an encoder-decoder; else both are shown
  bool at_cursor = true;           // the runs as they stood at the cursor's step; else as they are now
  bool speaks_on_lines = false;    // no sentence below the title, as labels on the lines say the same
  std::span<const PanelControl> controls{};  // at most one
  PlotsOf plots;
};

// All panels, in the order of the compact layout's tabs.
std::span<const Panel> panels();
// Looks a panel up by its id; nullptr when there is none.
const Panel* find_panel(std::string_view id);
// The panel of a control, by the first two parts of its name: "plot/loss/menu/svg" -> plot/loss; nullptr: none.
const Panel* panel_of(std::string_view control);
const PanelControl* panel_control(std::string_view control);
bool stands_in(const Panel&, ui::Size);
// The panels of a column, from the top; `few`: only the panels of a first start.
std::vector<const Panel*> panels_of(PanelColumn, ui::Size, bool few);
// The panels of a small window: those behind tabs, and the one above the tabs.
std::vector<const Panel*> tab_panels();
const Panel& panel_above_tabs();

// The panel's plot, or one plot per run (Strips, Triangles), with the texts that its row supplies.
std::vector<plot::PlotSpec> plots_of(const Panel&, const LabView&, view::LabData&, const PlotOptions&,
                                     Metric);
std::string help_of(const Panel&, Metric);

}  // namespace normscope::panels
