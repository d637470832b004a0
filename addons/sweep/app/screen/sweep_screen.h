// On the left the axes of the sweep and how to run it elsewhere, in the middle the grid with its profiles
// and key, on the right the cell under the mouse and the brushed region, at the bottom the training controls. It is
// state plus draw(), without a window; draw() returns what the screen asks of the rest of the app. Controls:
// sweep/preset/NAME, sweep/across/..., sweep/up/..., sweep/rest, sweep/steps, sweep/seeds, sweep/metric, sweep/form,
// sweep/copy, sweep/export/..., sweep/grid, sweep/corner/N, sweep/key/low, sweep/key/high, sweep/open,
// sweep/region/..., sweep/play, sweep/stop, sweep/cores.
#pragma once

#include "addons/sweep/app/grid_picture.h"
#include "app/plot/plot.h"
#include "app/view/screen.h"

namespace normscope::sweep {

/// The part of the Sweep screen that a session and a link keep.
struct KeptSweep {
  Plan plan;
  Metric metric = Metric::Loss;
  bool operator==(const KeptSweep&) const = default;
};

ScreenSettings settings_of(const KeptSweep& kept);
/// The same without regions of more seeds, which a link leaves out.
ScreenSettings link_of(KeptSweep kept);
KeptSweep sweep_from(const ScreenSettings& settings);
/// Throws Error for settings that name a file, ask for much work or cannot be trained.
void check_link(const ScreenSettings& settings);

struct OpenRun {
  char letter = 'A';
  std::shared_ptr<const RunSpec> spec;
};

class SweepScreen : public AppScreen {
 public:
  explicit SweepScreen(std::unique_ptr<Worker> trainer);

  /// Fills `area`, the window below the top bar. With `clock` false nothing is written that depends on the
  /// machine's speed.
  ScreenRequests draw(ui::Ui& ui, const ui::Rect& area, const LabView& view, bool clock,
                      lab::TransportState&) override;
  /// Leaves other runs that train their share of the cores.
  void turn(const LabView& view) override { trainer_->share(view.playing); }
  const Plan& plan() const { return plan_; }
  /// Switches to the plan; if the sweep is training, training goes on with the new plan. A plan that cannot be
  /// trained changes only the message.
  void show(Plan plan);
  bool busy() const override;  ///< it reads from the store, or trains
  KeptSweep sweep() const { return {settled_, metric_}; }
  void show_kept(const KeptSweep& kept);
  ScreenSettings kept() const override { return settings_of(sweep()); }
  void restore(const ScreenSettings& kept) override {
    if (!kept.empty()) show_kept(sweep_from(kept));
  }
  ScreenSettings linked() const override { return link_of(sweep()); }
  /// Takes the name of a preset.
  void begin(const std::string& preset) override;
  bool has_changes() const override { return true; }
  bool can_take_back(bool undo) const override { return undo ? can_undo() : can_redo(); }
  void take_back(bool undo) override { (void)(undo ? this->undo() : redo()); }
  /// Restores the plan before the last change, or the one before an undo; false: there is none.
  bool undo() { return step_back(undo_, redo_); }
  bool redo() { return step_back(redo_, undo_); }
  /// True also while the user drags part of a plan: undo then drops it.
  bool can_undo() const { return !undo_.empty() || (!settled_.axes.empty() && !(plan_ == settled_)); }
  bool can_redo() const { return !redo_.empty(); }
  std::optional<Place> chosen() const { return chosen_; }
  const std::optional<Brush>& brush() const { return brush_; }
  Metric metric() const { return metric_; }
  const std::string& message() const { return message_; }

 private:
  enum class Left : uint8_t { Grid, Axes, Elsewhere };
  using State = std::shared_ptr<const SweepState>;

  // sweep_screen.cpp
  void change(Plan next, bool done = true);
  void edit(size_t which, const Axis& axis, bool done = true);
  bool take(Plan next, bool done);
  bool let_go();
  void refuse(const std::string& why);
  bool step_back(std::vector<Plan>& from, std::vector<Plan>& to);
  void play_or_pause();
  void stop();
  void open_cell(const Place& place);
  void keys(ui::Ui& ui);
  Place beside(const Place& from, int across, int up) const;
  void move(const ui::Ui& ui, int across, int up, bool brushes);
  const RunSpec* spec_at(const Place& place) const;  ///< of a cell that can be trained, else null
  std::optional<Place> shown_cell() const;
  void find_open(const LabView& view);
  double seconds_before(const LabView& view) const;
  void draw_bar(ui::Ui& ui, const ui::Rect& bar, bool clock);
  void draw_status(ui::Ui& ui, const ui::Rect& words, bool clock);
  void draw_runs(ui::Ui& ui, const ui::Rect& rect);
  void draw_elsewhere(ui::Ui& ui, const ui::Rect& rect);
  void save(const std::string& ending);
  // side_panels.cpp
  void draw_axes(ui::Ui& ui, const ui::Rect& rect);
  void draw_presets(ui::Ui& ui, ui::Rect& rest);
  void attempt(const std::function<void()>& change);
  void draw_axis(ui::Ui& ui, ui::Rect& rest, size_t which);
  void draw_setting(ui::Ui& ui, const ui::Rect& rect, size_t which);
  void draw_rail(ui::Ui& ui, const ui::Rect& rect, size_t which);
  void hold_handle(ui::Ui& ui, const ui::Rect& line, size_t which, size_t handle);
  void draw_range(ui::Ui& ui, ui::Rect row, size_t which);
  void draw_typed(ui::Ui& ui, const ui::Rect& row, size_t which);
  void draw_rest(ui::Ui& ui, ui::Rect rest);
  void draw_rest_of_runs(ui::Ui& ui, const ui::Rect& row);
  // grid_panel.cpp
  void draw_grid_panel(ui::Ui& ui, const ui::Rect& rect);
  GridPicture picture() const;
  void point_at(const ui::Ui& ui, std::optional<Place> place, bool pressed);
  void hold_grid(ui::Ui& ui, const GridLayout& at);
  void draw_brush(ui::Ui& ui, const GridLayout& at);
  void draw_profiles(ui::Ui& ui, const GridLayout& at, const ui::Rect& above, const ui::Rect& beside);
  void draw_scale_words(ui::Ui& ui, const GridLayout& at, const ui::Rect& top);
  plot::PlotSpec line_plot() const;
  void draw_line_plot(ui::Ui& ui, const ui::Rect& rect);
  void draw_key(ui::Ui& ui, const ui::Rect& rect);
  void hold_ends(ui::Ui& ui, const ui::Rect& key);
  // side_panels.cpp
  void draw_right(ui::Ui& ui, ui::Rect rect);
  void draw_cell_panel(ui::Ui& ui, const ui::Rect& rect);
  void draw_curves(ui::Ui& ui, const ui::Rect& rect, const Cell& cell);
  plot::PlotSpec curves_of(const Cell& cell);
  void draw_region(ui::Ui& ui, const ui::Rect& rect);
  void draw_region_rows(ui::Ui& ui, ui::Rect rest);

  std::unique_ptr<Worker> trainer_;
  Plan plan_;
  Plan settled_;  ///< the plan before a drag that has not ended
  std::vector<Plan> undo_, redo_;
  RunSpec base_;                 ///< of the plan
  std::vector<StudyRun> runs_;   ///< of the plan
  double flop_ = 0;              ///< of all their steps
  double seconds_ = kUnknown;    ///< estimate for the missing runs, from the Lab's steps
  bool wants_training_ = false;  ///< play was pressed after the last pause or stop
  std::string message_;          ///< what was refused last
  State state_;                  ///< the trainer's state of this frame
  /// The grid of the plan: the trainer's, or an empty one until the trainer has it. Never null.
  std::shared_ptr<const Grid> grid_ = std::make_shared<const Grid>();
  State grid_of_;  ///< the state that grid_ was taken from
  ColourScale scale_;
  ui::Size size_ = ui::Size::Full;
  Metric metric_ = Metric::Loss;
  std::optional<Place> chosen_, hovered_, pinned_;
  std::optional<ui::Vec> lies_at_;  ///< position of the mouse when a key chose a cell
  std::optional<Brush> brush_;
  std::optional<Place> drag_from_;
  std::array<double, 2> key_{0, 1};  ///< ends of the colours, as shares of the scale
  int form_ = 0, right_tab_ = 0;
  Left left_ = Left::Grid;
  std::array<std::string, 2> typed_{}, search_{};
  /// The handle that the user holds, with the axis and its rail as they were when it was taken.
  struct HandleDrag {
    size_t which = 0, handle = 0;
    Axis axis;
    Rail rail;
    int frame = 0;       ///< the frame it was drawn in last
    bool moved = false;  ///< a press without a movement changes nothing
  };
  std::optional<HandleDrag> held_;
  std::vector<OpenRun> open_;                  ///< runs of the Lab in this frame
  std::vector<std::pair<Place, char>> tiles_;  ///< cells that are open in the Lab
  plot::View curve_view_, line_view_;
  ScreenRequests asked_;
};

}  // namespace normscope::sweep
