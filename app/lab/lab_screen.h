// The Lab: run cards, architecture diagram, settings, plots, transport. It is state plus draw() without a window: it
// reads a LabView, returns ScreenRequests and knows no trainer, so window, screenshot and tests run the same code.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/diagram/diagram.h"
#include "app/lab/transport.h"
#include "app/panels/panels.h"
#include "app/panels/plot_cell.h"
#include "app/panels/plot_specs.h"
#include "app/plot/plot.h"
#include "app/settings/settings.h"
#include "app/ui/ui.h"
#include "app/view/pending_edits.h"
#include "app/view/screen.h"

namespace normscope::lab {

// Lets a user move a gap between the Lab's panels: by dragging or by arrows, while a double click (or Enter)
// gives the layout's own place back. It keeps a fraction of the room, so that the place fits every window. Where the
// layout leaves no room to move, there is no gap to take. LabScreen uses it.

enum class Gap : uint8_t { Left, Time, Settings, Loss, Rate, First, Second, Count };

// Fractions of the room that the two sides of a gap share; 0: the layout's own place.
using Splits = std::array<float, static_cast<size_t>(Gap::Count)>;

// The size in logical px of the side before the gap, from `least` to `most`.
struct SplitRange {
  float own, least, most;
};

// How much of `room` the side before the gap takes. For columns the two sides stand side by side, else
// one over the other.
float split(ui::Ui&, Splits&, Gap, const ui::Rect& room, SplitRange);

// A control that exists and is not drawn now: in another tab, in a menu.
struct Elsewhere {
  std::string name, help;
};

class LabScreen {
 public:
  // Fills `area`, the window below the top bar. Clock figures print as a dash when `clock` is false.
  ScreenRequests draw(ui::Ui&, const ui::Rect& area, const LabView&, bool clock);

  // Says that this frame's commands were posted; the last of them has this ticket.
  void posted(session::Ticket ticket);

  diagram::DiagramState& diagram() { return diagram_; }
  const diagram::DiagramState& diagram() const { return diagram_; }
  TransportState& transport() { return transport_; }
  const TransportState& transport() const { return transport_; }
  std::vector<Elsewhere> elsewhere(const ui::Registry&, const LabView&);
  // Brings a control into sight that stands in another tab, in a menu or below the end of a panel.
  void reveal(std::string_view control, const ui::Registry&);
  // Shared by all plots and the diagram: the step, and the layer and step under the mouse.
  const panels::PlotOptions& shown() const { return plot_; }
  // Where the gaps between the panels stand.
  Splits& splits() { return splits_; }
  const Splits& splits() const { return splits_; }
  // Whether only the plots of a first start are shown, with a button for the others.
  bool& few() { return few_; }
  // Whether the window was opened without runs of its own: the Lab then offers to start some.
  bool& without_runs() { return without_runs_; }

 private:
  // Passed between the parts of one draw().
  struct Frame {
    ui::Ui& ui;
    const LabView& view;   // as it is now: what commands refer to
    const LabView& shown;  // as it stood at the cursor: cards, diagram, labels and sentences
    std::vector<session::Command>& commands;
    ui::Size size;
    bool clock = false;    // figures that depend on the machine's speed are shown
    float pad_right = 16;  // of all plots over time, so that their cursors stand in one line
    bool compact() const { return size == ui::Size::Compact; }
  };

  void stay_at_measured(const LabView&);
  void suppose(const Frame&);
  void remember_diagram(const ui::Registry&);
  std::optional<LabView> with_held(const LabView& view);
  void draw_panels(Frame&, Frame& measured, ui::Rect, float gap);
  void draw_left(Frame&, ui::Rect);
  void draw_architecture(Frame&, const ui::Rect&, bool switched);
  void draw_settings_panel(Frame&, const ui::Rect&, bool switched);
  void draw_switch(Frame&, const ui::Rect& head);
  // Draws the panels of a column, one below the other, in the order of their places in the table.
  void draw_column(Frame&, ui::Rect, panels::PanelColumn);
  void draw_panel(Frame&, const panels::Panel&, const ui::Rect&);
  void draw_more(Frame&, const ui::Rect&);
  void draw_start(Frame&, const ui::Rect&);
  void draw_steps(Frame&, const panels::Panel&, const ui::Rect&);
  void draw_strips(Frame&, const panels::Panel&, const ui::Rect&, bool with_panel);
  void draw_by_layer(Frame&, const panels::Panel&, const ui::Rect&);
  void draw_triangles(Frame&, const panels::Panel&, const ui::Rect&, bool with_panel);
  void compact_head(Frame&, const ui::Rect&);
  std::vector<plot::PlotSpec> compact_plot(Frame&, const ui::Rect&, const panels::Panel&);
  void draw_compact(Frame&, ui::Rect);
  // The panel's plots, and its metric, as they are chosen now.
  std::vector<plot::PlotSpec> plots(Frame&, const panels::Panel&);
  panels::Metric& metric_of(const panels::Panel&);
  panels::CellOptions cell_options(const Frame&, const panels::Panel&);
  ui::Rect strips_panel(Frame&, const panels::Panel&, const ui::Rect&, plot::PlotSpec head);
  ui::Rect triangles_panel(Frame&, const panels::Panel&, const ui::Rect&, const plot::PlotSpec& head);
  void triangles_scale(Frame&, const ui::Rect&, const plot::HeatMap&);
  // Draws the triangles: β² or weights over depth.
  void draw_weights_choice(Frame&, const ui::Rect&, const std::string& name);
  void batch_button(Frame&, const panels::Panel&, const ui::Rect&);
  void draw_matrix_choice(Frame&, const panels::Panel&, const ui::Rect&, const std::string& name);
  void draw_stack_choice(Frame&, const ui::Rect&, const std::string& name);
  // Draws the choices of a strip: lines of layers or of one layer's heads; lines or a map.
  void draw_lines_choice(Frame&, const panels::Panel&, const ui::Rect&);
  bool chooses_lines(const Frame&, const panels::Panel&);
  void map_scale(Frame&, const ui::Rect&);
  void draw_map_key(Frame&, const panels::Panel&, const ui::Rect& row, float from);
  void map_hit(Frame&, const plot::PlotSpec&, const plot::PlotHit&);
  float matrix_width() const { return plot_.matrix > 5 || plot_.stream > 0 ? 92.f : 50.f; }
  void layer_of_series(const std::string& id);
  void rate_handles(Frame&, const plot::PlotHit&, const plot::PlotSpec&);
  void time_hit(Frame&, const std::string& name, const plot::View&, const plot::PlotHit&);
  void depth_hit(const plot::PlotHit&, int layers);

  diagram::DiagramState diagram_;
  TransportState transport_;
  settings::SettingsState settings_;
  view::PendingEdits pending_;
  view::LabData data_;
  panels::PlotOptions plot_;
  panels::CellState cells_;
  Splits splits_{};
  bool few_ = false, without_runs_ = false;
  std::map<std::string, panels::Metric> metrics_;  // as chosen, by the panel's id
  std::optional<int> hover_layer_;                 // set in this frame, shown in the next
  std::optional<double> hover_step_;
  float over_time_pad_ = 0;      // room that the labels right of the plots over time needed in the last frame
  session::Suppose supposed_;    // that the Lab trains beside its instant runs
  std::optional<RunView> held_;  // the newest of these while a norm is held, and until it is run D
  std::vector<session::EditField> edited_;   // the newest change of a setting
  int measured_step_ = -1;                   // the last step seen at which the whole batch was measured
  int left_tab_ = 0;                         // medium, compact: diagram or settings
  ui::Size layout_ = ui::Size::Full;         // of the last frame
  std::vector<Elsewhere> diagram_controls_;  // as they were when the diagram's tab was left
  int plot_tab_ = 0;                         // compact: which plot stands below the loss
};

/// The part of a written line that stands in `room` characters. It cuts between characters
/// and adds no ellipsis, because the line is a window on an endless text. Of "translation ← source" the source stays
/// in sight, on at most 3/5 of the room.
std::string line_that_fits(std::string_view text, size_t room);

}  // namespace normscope::lab
