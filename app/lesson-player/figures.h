// The figures of a lesson: a plot, a map, a tape, or one of the pictures of app/course/pictures, each with the state
// in which the learner left it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/course/pictures/pictures.h"
#include "app/course/tapes.h"
#include "app/lesson-player/lesson_context.h"
#include "app/plot/plot.h"
#include "app/plot/plot_layout.h"
#include "app/ui/ui.h"

namespace normscope::lesson_player {

class PredictPage;

// A user runs the instructions of a lesson's tapes forward and backward, one at a time by a button or an arrow
// key. A tape is shown as a table, or as a network that follows one number through it.
class TapeHand {
 public:
  void draw(ui::Ui& ui, ui::Rect rect, LessonContext& context, const course::Figure& figure);
  /// Whether instructions are left that the user may run; false for a figure without a tape.
  bool left(const LessonContext& context, const course::Figure& figure);
  /// Puts each tape after its last instruction, even if the user has not run it.
  void run_all(const course::Lesson& lesson);
  void rewind() { done_.clear(); }

 private:
  const course::TapeTable& table(const LessonContext& context, const course::Figure& figure);
  static size_t end(const LessonContext& context, const course::TapeTable& table);
  void move(const LessonContext& context, const course::Figure& figure, int by);

  std::map<std::string, size_t> done_;  ///< by tape: its instructions that were run
  std::optional<course::TapeTable> table_;
  std::tuple<std::string, size_t, course::Changes>
      table_of_;  ///< the tape, its instructions that were run, changes
  Message error_;
};

class Figures {
 public:
  /// The figure that the current step shows. `show` selects the figure of a step, if the step has one of this name.
  const course::Figure& shown(const LessonContext& context) const;
  void show(const course::Lesson& lesson, course::StepKind step, std::string_view figure);
  /// Shows a figure in which one of these curves grows, if the shown one has none of them and the user has chosen none.
  void follow(const LessonContext& context, const std::set<std::string>& growing);
  /// Draws title, note and the choice of figures, and takes their height from `rest`.
  void draw_head(ui::Ui& ui, ui::Rect& rest, const LessonContext& context);
  /// `predict` is the page that takes the prediction in the figure; null on all other pages.
  void draw(ui::Ui& ui, const ui::Rect& rect, LessonContext& context, PredictPage* predict = nullptr);
  TapeHand tapes;

 private:
  using Rect = ui::Rect;
  course::FigureData data(const course::Figure& figure, const LessonContext& context) const;
  void draw_plot(ui::Ui& ui, Rect rect, LessonContext& context, PredictPage* predict);
  void draw_gap(ui::Ui& ui, const Rect& area, const plot::PlotSpec& plot, const LessonContext& context);
  void draw_rivers(ui::Ui& ui, Rect rect, LessonContext& context, const course::Figure& figure);
  void draw_river(ui::Ui& ui, std::string_view name, Rect rect, LessonContext& context,
                  const course::Figure& figure);
  void draw_walk(ui::Ui& ui, Rect rect, LessonContext& context, const course::Figure& figure);
  void draw_chain(ui::Ui& ui, Rect rect, LessonContext& context, const course::Figure& figure);
  void draw_bars(ui::Ui& ui, Rect rect, LessonContext& context, const course::Figure& figure);
  course::BarsHand hold_bars(ui::Ui& ui, const Rect& picture, const LessonContext& context,
                             const SmallTape& tape, const course::Bars& bars, course::BarsHand hand);

  std::array<int, 4> chosen_{};    ///< by step
  std::array<bool, 4> by_hand_{};  ///< by step: whether the user chose
  std::map<std::string, plot::View> views_;
  std::map<std::string, double> balls_;                  ///< by figure: the rate that its ball was dragged to
  std::map<std::string, double> walked_;                 ///< by figure: the step or depth that the user chose
  std::map<std::string, course::BarsHand> bars_;         ///< by figure
  std::optional<std::pair<double, double>> held_scale_;  ///< axis of x in the bars, while one is dragged
};

/// From values to px, for a plot whose values lie within `area`.
plot::PlotMap map_of(const plot::PlotSpec& plot, const ui::Rect& area);
/// Draws the panel of a page's figure and returns the rectangle inside its margin.
ui::Rect figure_panel(ui::Ui& ui, const ui::Rect& rect, const LessonContext& context);
/// figure_foot() takes the lower end of `rest`, with `line` below a line.
inline constexpr float kSliderFoot = 92;  ///< height of a foot with a slider
ui::Rect figure_foot(ui::Ui& ui, ui::Rect& rest, const LessonContext& context, float height,
                     bool line = true);

/// The text of a run's row in draw_runs(), which draws a row per run and leaves `beside` px free at the right.
struct RunNote {
  std::string words{};
  bool hidden = false;
};
/// The title of what a page shows at its right, and a note below it.
void draw_figure_title(ui::Ui& ui, ui::Rect& rest, const LessonContext& context, const std::string& title,
                       const std::string& note,
                       const std::function<void(ui::Rect& head, ui::TextStyle style)>& tabs = {});

/// Draws the figure of a case at the end of a lesson, as far as it is measured.
void draw_case_figure(ui::Ui& ui, ui::Rect rect, const LessonContext& context,
                      const course::Lesson& experiment, const MeasureState& state, plot::View& view);

float runs_height(const LessonContext& context);
void draw_runs(ui::Ui& ui, ui::Rect& rest, const LessonContext& context,
               const std::function<RunNote(const course::LessonRun&)>& note = {}, float beside = 0);

// A slider has a track, the numbers that it can stop at, and a knob that mouse and arrow keys move.

struct SliderRange {
  double low = 0, high = 1, step = 1;
  std::vector<double> values{};  ///< the only values it can stop at; empty: every step
  std::string unit{};
  bool log = false;                  ///< equal distances are equal factors
  double share(double value) const;  ///< where a value lies, 0 to 1
  double at(double share) const;
};

/// True when the user moved it.
bool slider(ui::Ui& ui, const ui::Rect& rect, std::string_view name, double& value, const SliderRange& range,
            std::string_view help, bool takes_focus = false);

// The right column after the prediction: the figure, and below it one more experiment with a setting that the learner
// chooses. On Explain the experiment answers a puzzle.

class Experiment {
 public:
  void draw(ui::Ui& ui, const ui::Rect& rect, LessonContext& context);
  /// Called once when a measurement has ended.
  void measured(const LessonContext& context);

 private:
  void draw_setting(ui::Ui& ui, ui::Rect rect, LessonContext& context);

  bool solved_ = false;  ///< the puzzle
};

}  // namespace normscope::lesson_player
