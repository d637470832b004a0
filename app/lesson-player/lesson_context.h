// The context of a lesson is shared by its pages: the lesson and its reference numbers, what the learner has set, and
// what is measured with it. It lives as long as the lesson is open.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/figures.h"
#include "app/course/reader.h"
#include "app/lesson-player/flow.h"
#include "app/lesson-player/progress.h"
#include "app/lesson-player/worker.h"
#include "app/plot/plot_spec.h"
#include "app/ui/ui.h"
#include "app/view/lab_data.h"
#include "app/view/screen.h"

namespace normscope::lesson_player {

class Experiment;
class Figures;

/// The four steps of a lesson with its Challenge and Case, then the pages of the whole course.
enum class PageKind : uint8_t { Predict, Run, Compare, Challenge, Explain, Case, Why, Review };
course::StepKind step_of(PageKind page);  ///< Explain for the pages of the course
PageKind page_of(course::StepKind step);
inline bool of_course(PageKind page) { return page >= PageKind::Why; }

/// The scroll position, in px, of a page that is taller than its room.
struct Scroll {
  float at = 0, text_height = 0;
  ui::Rect readable{};   ///< the part of the text that no edge faded, in the last frame
  std::string followed;  ///< the control with the focus that the page last scrolled to

  void restart();
  /// Scrolls by wheel and keys over `rect`, to `furthest` at most.
  void move(ui::Ui& ui, const ui::Rect& rect, float room, float furthest);
  /// Brings the control into sight when it takes the keyboard's focus.
  void follow_focus(const ui::Ui& ui, const std::string& name, const ui::Rect& rect, const ui::Rect& seen);
};

/// The navigation that a page asks for; the player carries it out once the page is drawn.
struct Turn {
  std::optional<size_t> lesson{};
  bool again = false;  ///< to a second prediction
  std::optional<PageKind> page{};
};

// The opening picture is what a lesson opens with: the small diagram of one or two of its runs, painted by the
// diagram's own painter from the trained specification, with the opening's place lit. Once a run has taken a step its
// sub-layers show the norm of their gradient. The picture is as large as the room allows: the layer of the lit place
// open, all layers closed, or the wiring alone as on a run card; nothing where none of these fits. Control:
// lesson/opening.
class OpeningPicture {
 public:
  /// `measured` is the state of these runs; null before the prediction, when none of their results may be seen.
  void draw(ui::Ui& ui, const ui::Rect& room, const course::Lesson& lesson, const course::Changes& changes,
            const MeasureState* measured);

 private:
  void take_up(const course::Lesson& lesson, const course::Changes& changes);
  void add_numbers(const course::Lesson& lesson, const MeasureState* measured);

  const course::Lesson* lesson_ = nullptr;
  course::Changes changes_;
  LabView view_;  ///< one run per picture, in the order of the lesson's `opening`
  view::LabData data_;
};

struct LessonContext {
  LessonContext(const course::Course& course, size_t index, Measurer& measurer, Measurer& case_measurer,
                Progress& progress, const std::string& folder);
  ~LessonContext();

  const course::Course& course;
  const size_t index;
  const course::Lesson& lesson;
  Measurer& measurer;
  Measurer& case_measurer;  ///< of the case at the end, so that the lesson's own measurement stays
  Progress& progress;
  const std::string& folder;  ///< for data kept between starts; empty: nothing is kept
  std::optional<course::Results> reference;
  Message reference_error;
  std::unique_ptr<Figures> figures;
  std::unique_ptr<Experiment> experiment;
  OpeningPicture opening;
  PageKind page = PageKind::Predict;
  PageKind left = PageKind::Predict;  ///< the step to which a page of the course leads back
  ui::Size size = ui::Size::Full;
  Scroll scroll;
  bool fresh = true;      ///< the prediction was just opened: its main control takes the keyboard
  bool again = false;     ///< a second prediction is being made
  bool measured = false;  ///< the measurer's state is of this lesson, and done
  const std::set<std::string>* interrupted =
      nullptr;                                   ///< lessons that go on being measured when they are opened
  std::optional<course::Changes> predicted_for;  ///< the changes of a prediction committed in this sitting
  std::map<std::string, double> knobs;           ///< by id; absent: as the run says
  std::map<std::string, std::string> chosen;     ///< of the challenge, by field; absent: as the run says
  ScreenRequests requests;                       ///< of this frame
  Turn turn;

  const std::string& tr(std::string_view english) const { return course.words->tr(english); }
  std::string tr(std::string_view english, words::Places places) const {
    return course.words->tr(english, places);
  }
  bool compact() const { return size == ui::Size::Compact; }
  LessonProgress& kept() const { return progress.of(lesson.id); }
  /// Whether the prediction is committed or skipped, and no second one is being made.
  bool locked() const { return (kept().committed || kept().skipped) && !again; }
  const course::Results* seeds() const { return reference ? &*reference : nullptr; }

  course::StepKind step() const { return step_of(of_course(page) ? left : page); }
  /// To the next lesson, or behind the last to the pages of the course.
  void leave();

  void measure();
  /// True once, when the measurement of this lesson has ended.
  bool just_measured();
  std::shared_ptr<const MeasureState> state() const { return measurer.state(); }
  bool is_own(const MeasureState& state) const;
  /// The measure's value in the learner's own run.
  double number(const std::string& measure) const;

  double knob_value(const course::Knob& knob) const;
  std::string chosen_value(const course::Challenge::Choice& choice) const;
  course::Changes changes() const;
  /// The changes with which the shown curves were measured; before the first measurement changes().
  course::Changes shown_changes() const;
  course::FigureData figure_data() const;
  FlowContext flow() const;
  /// The lesson's runs for the Lab, each under its letter. A trained run is at its end, and the rest plays; before the
  /// commitment all are paused at step 0, so that nothing is given away.
  session::ReplaceRuns runs() const;
  /// The same small and instant, to answer Lesson::what_if.
  session::ReplaceRuns small_runs() const;
};

// A page of the Lessons screen fills the room between the list and the footer, and supplies text and action of the
// footer's button lesson/next. The pages are in pages/.

/// The button lesson/next.
struct WayOn {
  std::string text, help;
  bool open = true;
};

class Page {
 public:
  virtual ~Page() = default;
  virtual void draw(ui::Ui& ui, ui::Rect rect, LessonContext& context) = 0;
  virtual WayOn way_on(const LessonContext& context) const = 0;
  virtual void go_on(LessonContext& context) = 0;
  /// What must be answered before lesson/next works; empty: nothing.
  virtual std::string missing(const LessonContext&) const { return ""; }
  /// The help of the button lesson/skip; empty: the page has none.
  virtual std::string skip_help(const LessonContext&) const { return ""; }
  virtual void skip(LessonContext&) {}
  /// Whether the page's own button has something to do: it is yellow then. Otherwise lesson/next is yellow, so that a
  /// screen has one yellow button.
  virtual bool work_left(LessonContext&) const { return false; }
  /// Called once when a measurement of the lesson has ended, whichever page is shown.
  virtual void measured(LessonContext&) {}
};

/// A page of the whole course leads back to the lesson.
class CoursePage : public Page {
 public:
  WayOn way_on(const LessonContext& context) const override {
    return {context.tr("To lesson {number}", {{"number", context.lesson.number}}),
            context.tr("Back to the lesson.")};
  }
  void go_on(LessonContext& context) override { context.turn.page = context.left; }
};

using Pages = std::vector<std::unique_ptr<Page>>;  // by kind
void add_lesson_pages(Pages& pages, const LessonContext&);
void add_course_pages(Pages& pages);

/// The last page of a lesson asks a new case, then trains it. Its file is case_page.cpp.
std::unique_ptr<Page> make_case_page(const LessonContext&);

/// The button lesson/next of a lesson's last page, given the page's missing(); finish_lesson() is its action.
WayOn way_out(const LessonContext& context, const std::string& missing);
void finish_lesson(LessonContext& context, bool complete);

// The first page asks for a prediction: by drawing a curve, by putting cards in order, or by a slider, each in its own
// file. Nothing that was measured is visible before it is committed or skipped.

class PredictPage : public Page {
 public:
  void draw(ui::Ui& ui, ui::Rect rect, LessonContext& context) override;
  WayOn way_on(const LessonContext& context) const override;
  void go_on(LessonContext& context) override;
  std::string missing(const LessonContext& context) const override;
  std::string skip_help(const LessonContext& context) const override;
  void skip(LessonContext& context) override { commit(context, true); }
  bool work_left(LessonContext& context) const override;

  /// Locks the prediction; from here on measurements may be seen.
  void commit(LessonContext& context, bool skip);
  /// Takes up the prediction that was made, or begins one; `begin_again` begins a second, and the first stays in
  /// force until the second is committed.
  virtual void take_up(const LessonContext& context) = 0;
  void begin_again(LessonContext& context);
  /// An answer from a link is filled in, as far as the question can have it, for the learner to commit or to change;
  /// where a prediction was made, it waits for a second one.
  void offer(const view::Answer& answer, const LessonContext& context);
  view::Answer answer(const LessonContext& context) const;
  /// Whether the answer can be committed; if not, opening a later step skips the prediction.
  virtual bool complete(const LessonContext&) const { return true; }
  /// Whether the lesson's spotlight is lit, until the user has found its control.
  virtual bool wants_spotlight() const { return false; }
  /// Called before and after the plot is drawn, for a prediction that is made in the figure.
  virtual void before_plot(ui::Ui&, const ui::Rect&, LessonContext&, plot::PlotSpec&) {}
  virtual void after_plot(ui::Ui&, LessonContext&, const plot::PlotSpec&) {}

  PageKind next = PageKind::Run;  ///< where the prediction leads, for a link to a later step

 private:
  virtual void start_anew(const LessonContext& context) = 0;
  virtual void take(const view::Answer& offered, const LessonContext& context) = 0;
  virtual view::Answer given(const LessonContext& context) const = 0;
  /// What is to be done before it can be committed; empty: nothing.
  virtual std::string to_do(const LessonContext& context) const = 0;
  virtual void keep(LessonProgress& progress) const = 0;
  virtual void forget() {}
  virtual void draw_right(ui::Ui& ui, ui::Rect rest, LessonContext& context) = 0;

  view::Answer offered_;
};

std::unique_ptr<PredictPage> make_predict_page(const LessonContext& context);

/// Whether a figure shows the number that is asked for.
bool asks_value_of(const course::Lesson& lesson, const course::Figure& figure);
/// Moves the names of levels to the side where add_said() draws no stroke.
void keep_levels_clear(const course::Prediction& asked, double value, plot::PlotSpec& plot);
/// Adds a predicted value as a highlighter's stroke across the plot, with its name where there is room.
void add_said(const course::Prediction& asked, double value, const std::string& words, plot::PlotSpec& plot);

// The text column is the left panel of a lesson's page: its head, its text, which scrolls, and below it the task,
// which does not. It is drawn from the constructor to close().

/// While an object lives, controls answer the mouse only within `seen`: the rest is scrolled out of sight.
class HandsWithin {
 public:
  HandsWithin(const ui::Ui& ui, const ui::Rect& seen);
  ~HandsWithin();
  HandsWithin(const HandsWithin&) = delete;
  HandsWithin& operator=(const HandsWithin&) = delete;
};

class TextColumn {
 public:
  enum class Of : uint8_t { Prose, Controls };  ///< controls out of sight do not answer the mouse
  /// Takes its room from the left of `room`. If the text is taller than its panel, only the text scrolls, and the
  /// task stays in sight below it.
  TextColumn(ui::Ui& ui, ui::Rect& room, LessonContext& context, Of of, std::string task = "");

  enum class Head : uint8_t {
    Lesson,
    Question,
    Challenge
  };  ///< number, minutes and title; Question: also the lesson's question
  void head(Head kind = Head::Lesson);
  void prose(const course::Prose& text);  ///< its numbers may be dragged
  void box(std::string_view title, std::string_view text);
  /// Ends the text and draws the task, and with `opening` the opening picture in the remaining room.
  void close(bool opening = false);

  ui::Rect rest;     ///< below what was drawn
  ui::Rect seen;     ///< of the text
  FlowContext flow;  ///< a term is underlined once on the page

 private:
  float box_height(std::string_view text) const;
  void draw_box(const ui::Rect& box, std::string_view title, std::string_view text, ui::Colour fill);
  void draw_edges();

  ui::Ui& ui_;
  LessonContext& context_;
  Of of_;
  std::string task_;
  ui::Rect rect_;
  bool pinned_ = false;
  float room_ = 0, furthest_ = 0, from_ = 0;
  std::optional<HandsWithin> hands_;
  std::set<const view::Term*> used_;
  std::vector<ui::Rect> formulas_;
};

/// Draws a page of the course that may be taller than `room`. `content` draws from `y` downwards and returns its
/// height.
void draw_scrolled(ui::Ui& ui, const ui::Rect& rect, const ui::Rect& room, LessonContext& context,
                   const std::function<float(float y)>& content);

}  // namespace normscope::lesson_player
