// The Lab screen: run cards, architecture diagram, settings, plots, transport. draw() reads a LabView and returns
// ScreenRequests; it needs neither a window nor the trainer, so window, screenshots and tests run the same code.
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

// The gaps between the Lab's panels, which a user moves by mouse or arrow keys; a double click or Enter restores the
// layout's own position. A position is kept as a fraction of the space that both sides share, so that it fits every
// window. A gap that could move by less than 10 px is no control.

enum class Gap : uint8_t { Left, Time, Settings, Loss, Rate, First, Second, Count };

// By gap: the first side's fraction of the space that both sides share; 0: the layout's own position.
using Splits = std::array<float, static_cast<size_t>(Gap::Count)>;

// The size in logical px of the side before the gap: the layout's `own`, and the limits for a user.
struct SplitRange {
  float own, least, most;
};

// Draws and handles a gap of `room` and returns the px that the side before it takes: a width for Gap::Left and
// Gap::Time, else a height.
float split(ui::Ui&, Splits&, Gap, const ui::Rect& room, SplitRange);

// A control that is not drawn now, because it is in another tab or in a closed menu.
struct Elsewhere {
  std::string name, help;
};

class LabScreen {
 public:
  // Fills `area`, the window below the top bar. Clock figures print as a dash when `clock` is false.
  ScreenRequests draw(ui::Ui&, const ui::Rect& area, const LabView&, bool clock);

  // Must be called after the commands of a frame were posted, with the ticket of the last one.
  void posted(session::Ticket ticket);

  diagram::DiagramState& diagram() { return diagram_; }
  const diagram::DiagramState& diagram() const { return diagram_; }
  TransportState& transport() { return transport_; }
  const TransportState& transport() const { return transport_; }
  std::vector<Elsewhere> elsewhere(const ui::Registry&, const LabView&);  // for the palette
  // Makes a control visible: opens its tab or menu, scrolls the settings to it, or shows all plots.
  void reveal(std::string_view control, const ui::Registry&);
  // What all plots and the diagram share: the cursor's step, the layer and step under the mouse, the user's choices.
  const panels::PlotOptions& shown() const { return plot_; }
  // The positions of the gaps, which a session keeps.
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
    const LabView& view;   // the present state, to which commands refer
    const LabView& shown;  // the state at the cursor's step, for cards, diagram and plots
    std::vector<session::Command>& commands;
    ui::Size size;
    bool clock = false;  // figures that depend on the machine's speed are shown
    const LabView* held =
        nullptr;  // while a norm is held: the view with it dropped, now and at the cursor's step
    const LabView* held_then = nullptr;
    float pad_right = 16;  // PlotSpec::pad_right of all plots over time, so that their cursors are aligned
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
  // The panel's plots with the present choices, and the metric that is chosen for it.
  std::vector<plot::PlotSpec> plots(Frame&, const panels::Panel&);
  panels::Metric& metric_of(const panels::Panel&);
  panels::CellOptions cell_options(const Frame&, const panels::Panel&);
  ui::Rect strips_panel(Frame&, const panels::Panel&, const ui::Rect&, plot::PlotSpec head);
  ui::Rect triangles_panel(Frame&, const panels::Panel&, const ui::Rect&, const plot::PlotSpec& head);
  void triangles_scale(Frame&, const ui::Rect&, const plot::HeatMap&);
  // Draws the list that chooses between triangles of β² and of weights over depth.
  void draw_weights_choice(Frame&, const ui::Rect&, const std::string& name);
  void batch_button(Frame&, const panels::Panel&, const ui::Rect&);
  void draw_matrix_choice(Frame&, const panels::Panel&, const ui::Rect&, const std::string& name);
  void draw_stack_choice(Frame&, const ui::Rect&, const std::string& name);
  // Draws the list that chooses what strips show: lines by layer or by head of a layer, or lines or a map.
  void draw_lines_choice(Frame&, const panels::Panel&, const ui::Rect&);
  bool chooses_lines(const Frame&, const panels::Panel&);
  void map_scale(Frame&, const ui::Rect&);
  void draw_map_key(Frame&, const panels::Panel&, const ui::Rect& row, float from);
  void map_hit(Frame&, const plot::PlotSpec&, const plot::PlotHit&);
  float matrix_width() const { return plot_.matrix > 5 || plot_.stream > 0 ? 92.f : 50.f; }
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
  std::map<std::string, panels::Metric> metrics_;  // the chosen metric, by the panel's id
  std::optional<int> hover_layer_;                 // set in this frame, shown in the next
  std::optional<double> hover_step_;
  float over_time_pad_ = 0;      // pad_right that the labels of the plots over time needed in the last frame
  session::Suppose supposed_;    // the last request for hypothetical instant runs
  std::optional<RunView> held_;  // the newest such run for a dragged norm, until run D replaces it
  std::vector<session::EditField> edited_;   // the newest change of a setting
  int measured_step_ = -1;                   // the last step seen at which the whole batch was measured
  int left_tab_ = 0;                         // medium, compact: 0 diagram, 1 settings
  ui::Size layout_ = ui::Size::Full;         // of the last frame
  std::vector<Elsewhere> diagram_controls_;  // as they were when the diagram's tab was left
  int plot_tab_ = 0;                         // compact: index in tab_panels() of the plot below the loss
};

/// The beginning of a sampled text that fits `room` characters, without an ellipsis, because the text is an excerpt
/// anyway. Of "translation ← source" both parts are cut: the source keeps at most 3/5 of the room.
std::string line_that_fits(std::string_view text, size_t room);

}  // namespace normscope::lab
