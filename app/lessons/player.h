// The player is the Lessons screen: list, text column, one live figure, and the stepper Predict, Run, Compare, Explain.
// It is state plus draw(), without a window. Nothing that was measured is visible before the prediction is committed or
// skipped. Controls: lesson/list/ID, lesson/step/NAME, lesson/next, lesson/skip, lesson/lab, lesson/draw, lesson/redo,
// lesson/undo, lesson/clear, lesson/slider, lesson/card/ID, lesson/knob/ID, lesson/drag/ID, lesson/again, lesson/more,
// lesson/walk, lesson/walk/step, lesson/bars, lesson/bars/NUMBER, add, times and written,
// lesson/keep, lesson/figure/ID, lesson/plot/ball, lesson/opening, lesson/tape, lesson/tape/next, lesson/tape/back,
// lesson/say/SENTENCE/WORD (numbers), lesson/challenge/train, stop, hint, lab and FIELD, lesson/reach, lesson/why,
// lesson/ring/NUMBER/ID, lesson/review, lesson/review/copy, lesson/review/ID.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/figures.h"
#include "app/course/pictures/bars.h"
#include "app/course/reader.h"
#include "app/course/tapes.h"
#include "app/lessons/flow.h"
#include "app/lessons/progress.h"
#include "app/lessons/worker.h"
#include "app/plot/plot.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "app/view/answer.h"
#include "app/view/desk.h"
#include "app/words/words.h"
#include "engine/core/message.h"

namespace normscope::lessons {

class OpeningPicture;

struct SliderRange {
  double low = 0, high = 1, step = 1;
  std::vector<double> values{};  ///< the only values it can stop at; empty: every step
  std::string unit{};
  bool log = false;                  ///< the same way on it is the same factor
  double share(double value) const;  ///< where a value lies, 0 to 1
  double at(double share) const;
};

/// A page beside the steps: the task after Compare, the sentences to complete after Explain, or, of the whole
/// course, what it found and all predictions.
enum class Aside : uint8_t { None, Challenge, Say, Why, Review };

/// `HandsWithin`, while it lives, lets only a rectangle answer the mouse: everything drawn outside it is scrolled out
/// of sight.
class HandsWithin {
 public:
  HandsWithin(const ui::Ui& ui, const ui::Rect& seen);
  ~HandsWithin();
  HandsWithin(const HandsWithin&) = delete;
  HandsWithin& operator=(const HandsWithin&) = delete;
};

/// The height of a row in the list of lessons, where there is room.
inline constexpr float kListRow = 56;

class Player {
 public:
  Player(course::Course course, std::unique_ptr<Measurer> measurer, std::string progress_path);
  ~Player();

  /// Fills `area`, the window below the top bar. It returns what is to be taken to the Lab, if anything.
  Desk draw(ui::Ui& ui, const ui::Rect& area, const LabView& view);

  const course::Course& course() const { return course_; }
  /// Opens a lesson at a step as if the learner had reached it (earlier steps count as done), for pictures and
  /// tests. An answer from elsewhere is filled in, as far as the lesson can have it, for the learner to commit or to
  /// change; where a prediction was made it waits for a second one.
  void open(std::string_view lesson, course::StepKind step, const view::Answer& answer = {});
  /// The prediction as it stands here, made or in the making; empty where it was skipped or not begun.
  view::Answer answer() const;
  /// For a link to a step: that step comes as soon as the prediction is made or skipped, with the figure of
  /// this name, if it has one.
  void lead_to(course::StepKind step, std::string_view figure);
  /// The figure that this step shows.
  const std::string& figure_id() const { return figure_shown().id; }
  bool measuring() const { return measurer_->state()->running; }
  void stop_measuring() { measurer_->stop(); }
  course::StepKind step() const { return step_; }
  Aside aside() const { return aside_; }
  /// Says that a page of the whole course is open, and none of a lesson.
  bool of_course() const { return aside_ == Aside::Why || aside_ == Aside::Review; }
  const course::Lesson* lesson() const {
    return current_ < course_.lessons.size() ? &course_.lessons[current_] : nullptr;
  }
  LessonProgress& progress(const std::string& id) { return progress_.of(id); }

 private:
  /// What the player says, in the language of the course.
  const std::string& tr(std::string_view english) const { return course_.words->tr(english); }
  std::string tr(std::string_view english, words::Places places) const {
    return course_.words->tr(english, places);
  }
  // player.cpp
  void choose(size_t index);
  void go(course::StepKind step, Aside aside = Aside::None);
  void commit(bool skip);
  void measure();
  void finish_measuring();
  course::Changes changes() const;
  /// What must still be answered here before the button leads on: the prediction, or sentences; empty:
  /// nothing.
  std::string not_ready() const;
  std::string prediction_missing() const;
  bool all_said() const;
  /// Whether the learner may go on without an answer; a lesson left that way is not done.
  bool can_skip() const;
  void skip();
  void leave();
  /// Says that the prediction is committed or skipped, and that no second one is being made.
  bool locked();
  void predict_again();
  /// What the learner's shown run was measured with, or before the first measurement what it will
  /// be.
  course::Changes shown_changes() const;
  bool own_state(const MeasureState& state) const;
  void take_up_prediction();
  void take_answer();
  bool drawn_whole() const;  ///< or nothing is to be drawn
  session::ReplaceRuns runs_of_lesson();
  const course::Figure& figure_shown() const;
  bool curves_known(const std::string& run, const MeasureState& state) const;
  course::FigureData figure_data() const;
  FlowContext flow_context(ui::Ui& ui) const;
  double knob_value(const course::Knob& knob) const;
  LessonProgress judged(LessonProgress p);
  bool as_predicted() const;
  // player_score.cpp
  struct Score {
    std::array<std::string, 3> heads, values;  ///< said, measured, verdict
    std::string thought;                       ///< what is right, and what may have led to what is not
    std::string first;                         ///< the prediction before this one; empty: there is none
  };
  Score scored(const LessonProgress& progress) const;
  float draw_score(ui::Ui& ui, const ui::Rect& rect);
  float draw_value_score(ui::Ui& ui, ui::Rect rect, const Score& score, bool draw) const;
  float draw_order_score(ui::Ui& ui, ui::Rect rect, const Score& score, bool draw) const;
  // player_frame.cpp, player_footer.cpp
  void draw_list(ui::Ui& ui, ui::Rect rect);
  void draw_list_items(ui::Ui& ui, ui::Rect rest);
  float list_rows() const { return static_cast<float>(course_.lessons.size() + (course_.why ? 2 : 1)); }
  struct CoursePage {
    Aside aside;
    const char *control, *title, *what, *help;
    ui::Icon icon;
  };
  void draw_course_row(ui::Ui& ui, const ui::Rect& row, const CoursePage& page, bool one_line);
  ui::Vec draw_list_row(ui::Ui& ui, const ui::Rect& row, bool current, bool hovered, const std::string& title,
                        const std::string& what);
  void draw_body(ui::Ui& ui, ui::Rect& rest, const ui::Rect& seen, std::vector<ui::Rect>& formulas);
  void draw_edges(ui::Ui& ui, const ui::Rect& seen, const std::vector<ui::Rect>& formulas, float furthest);
  void draw_text(ui::Ui& ui, const ui::Rect& rect);
  struct WayOn {
    std::string text, help;
    bool open;
  };
  bool work_left();
  WayOn way_on(bool locked, bool running);
  void go_on(bool locked);
  void draw_hint(ui::Ui& ui, const ui::Rect& left);
  void draw_footer(ui::Ui& ui, const ui::Rect& rect, std::optional<session::ReplaceRuns>& to_lab);
  struct Place {
    std::string name;
    const char* label;
    course::StepKind step;
    Aside aside;
  };
  std::vector<Place> places() const;
  float draw_stepper(ui::Ui& ui, ui::Rect rect);
  void draw_why_grey(ui::Ui& ui, const ui::Rect& room) const;
  float draw_place(ui::Ui& ui, ui::Vec at, const Place& place, int index, int now, bool words);
  float draw_head(ui::Ui& ui, ui::Rect rect);
  float box_height(ui::Ui& ui, float width, std::string_view text) const;
  float draw_box(ui::Ui& ui, const ui::Rect& rect, std::string_view title, std::string_view text,
                 bool yellow);
  void draw_sentence_end(ui::Ui& ui, ui::Rect& rest, const FlowContext& context);
  void draw_reach(ui::Ui& ui, ui::Rect& rest, const FlowContext& context);
  void draw_opening(ui::Ui& ui, const ui::Rect& room);
  // pages/
  void follow_focus(const ui::Ui& ui, const std::string& name, const ui::Rect& rect, const ui::Rect& seen);
  float draw_says(ui::Ui& ui, ui::Rect rest, const ui::Rect& seen);
  std::string draw_words(ui::Ui& ui, ui::Rect& rest, size_t index, const std::string& said,
                         const ui::Rect& seen);
  void draw_review(ui::Ui& ui, const ui::Rect& rect);
  void draw_copy(ui::Ui& ui, const ui::Rect& rect);
  float draw_review_lesson(ui::Ui& ui, const ui::Rect& rect, size_t index, const ui::Rect& seen);
  void open_page(Aside aside);
  void scroll(ui::Ui& ui, const ui::Rect& rect, float room, float furthest);
  void draw_scrolled(ui::Ui& ui, const ui::Rect& rect, const ui::Rect& room,
                     const std::function<float(float y)>& content);
  void draw_why(ui::Ui& ui, const ui::Rect& rect);
  const course::Results* results_of(const course::Lesson& lesson);
  std::string review_sentence();
  void try_again(size_t index);
  float draw_challenge(ui::Ui& ui, ui::Rect rest, const ui::Rect& seen);
  void draw_choices(ui::Ui& ui, ui::Rect& rest, FlowContext& words);
  void draw_training(ui::Ui& ui, ui::Rect& rest, FlowContext& words);
  void draw_outcome(ui::Ui& ui, ui::Rect& rest, const ui::Rect& seen);
  std::string chosen(const course::Challenge::Choice& choice) const;
  void note_try(const MeasureState& state);
  session::ReplaceRuns found_runs();
  void keep_found();
  // player_figure.cpp, player_input.cpp
  bool predicts_by_cards() const;
  bool has_strip() const;  ///< whether it has a setting to run again with
  std::string note_of(const course::Figure& figure) const;
  void draw_figure(ui::Ui& ui, const ui::Rect& rect);
  void draw_figure_head(ui::Ui& ui, ui::Rect& rest, const course::Figure& figure);
  course::FigureData step_data(const course::Figure& figure, const MeasureState& state);
  void draw_plot(ui::Ui& ui, ui::Rect rect);
  void draw_not_trained(ui::Ui& ui, std::string_view name, const ui::Rect& rect) const;
  void draw_ball_words(ui::Ui& ui, ui::Rect& rect, const std::string& words) const;
  // player_tape.cpp
  void run_tapes();
  const course::TapeTable& tape_now(const course::Figure& figure);
  size_t tape_end(const course::TapeTable& table);
  void move_tape(const course::Figure& figure, int by);
  void draw_tape(ui::Ui& ui, ui::Rect rect, const course::Figure& figure);
  void show_tape(ui::Ui& ui, ui::Rect rect, const course::TapeTable& table) const;
  // player_network.cpp
  std::string formula_now(const course::Figure& figure, const course::TapeTable& table, size_t place) const;
  void show_network(ui::Ui& ui, const ui::Rect& rect, const course::Figure& figure,
                    const course::TapeTable& table);
  // player_pictures.cpp
  void draw_rivers(ui::Ui& ui, ui::Rect rect, const course::Figure& figure);
  void draw_river(ui::Ui& ui, std::string_view name, ui::Rect rect, const course::Figure& figure);
  void draw_walk(ui::Ui& ui, ui::Rect rect, const course::Figure& figure);
  void draw_chain(ui::Ui& ui, ui::Rect rect, const course::Figure& figure);
  void draw_bars(ui::Ui& ui, ui::Rect rect, const course::Figure& figure);
  course::BarsHand hold_knobs(ui::Ui& ui, ui::Rect rect, const course::Bars& bars, course::BarsHand hand);
  course::BarsHand hold_bars(ui::Ui& ui, const ui::Rect& picture, const SmallTape& tape,
                             const course::Bars& bars, course::BarsHand hand);
  // player_sketch.cpp
  void hold_sketch(ui::Ui& ui, const ui::Rect& rect, const plot::PlotSpec& plot);
  void show_sketch(ui::Ui& ui, const plot::PlotSpec& plot);
  void add_said(plot::PlotSpec& plot, double value) const;
  void draw_gap(ui::Ui& ui, const ui::Rect& rect, const plot::PlotSpec& plot);
  // player_figure.cpp, player_input.cpp
  struct CardHand {
    size_t held, over;  ///< indices of the dragged card and the one under it; the card count: none
    float drag = 0;
    std::vector<bool> lit;                            ///< by card: whether it is under the mouse
    std::optional<std::pair<size_t, size_t>> move{};  ///< from index to index
  };
  void draw_cards(ui::Ui& ui, ui::Rect rect);
  float cards_room() const;  ///< the height below which cards become low ones
  const course::Prediction::Card* card_of(const std::string& id) const;
  CardHand hold_cards(ui::Ui& ui, const ui::Rect& first);
  void show_cards(ui::Ui& ui, const ui::Rect& first, const CardHand& hand) const;
  /// True when the user moved it.
  bool draw_slider(ui::Ui& ui, ui::Rect rect, std::string_view name, double& value, const SliderRange& range,
                   std::string_view help);
  void draw_sketch_buttons(ui::Ui& ui, ui::Rect rest);
  void draw_runs(ui::Ui& ui, ui::Rect rect);
  std::string puzzle_words() const;
  float puzzle_height(ui::Ui& ui, float width) const;
  void draw_strip(ui::Ui& ui, ui::Rect rect);
  // pages/player_keep.cpp
  bool can_keep() const;  ///< whether the learner's wiring is measured
  void draw_keep_button(ui::Ui& ui, ui::Rect& head);
  void draw_keep_words(ui::Ui& ui, ui::Rect& rest);
  void sketch_to(size_t index, double y);
  std::vector<double> sketch_grid() const;

  course::Course course_;
  std::unique_ptr<Measurer> measurer_;
  Progress progress_;
  std::unique_ptr<OpeningPicture> opening_;
  size_t current_ = 0;
  course::StepKind step_ = course::StepKind::Predict;
  ui::Size size_ = ui::Size::Full;
  std::optional<course::Results> reference_;
  Message reference_error_;
  course::Prose explained_;         ///< the text of Explain above its heading
  course::Prose reach_in_short_;    ///< and below it: the first paragraph
  course::Prose reach_in_full_;     ///< and the others
  std::vector<std::string> reach_;  ///< what was measured in other settings, one sentence each
  bool reach_open_ = false;
  bool read_this_frame_ = false;                                   ///< one more lesson into results_
  std::map<std::string, std::optional<course::Results>> results_;  ///< by lesson, for the page So why

  ui::Rect sketch_area_;  ///< the plot of this frame
  ui::Hit sketch_hit_;
  std::vector<double> sketch_;               ///< Draw: y at the points of the grid so far
  std::vector<std::vector<double>> before_;  ///< for undo
  std::vector<std::string> order_;
  double value_ = 0;
  std::map<std::string, double> knobs_;        ///< by id; absent: as the run says
  std::map<std::string, std::string> chosen_;  ///< of the challenge, by field; absent: as the run says
  Aside aside_ = Aside::None;
  std::string copied_;    ///< for the clipboard
  std::string followed_;  ///< the control that the page last scrolled to
  Message found_fault_;   ///< why the session of the ways found could not be kept
  std::string folder_;    ///< of what is kept between starts; empty: nothing is kept
  std::optional<session::ReplaceRuns> found_asked_;  ///< the ways found that are to be opened in the Lab
  bool measured_ = false;                            ///< the measurer's state is of this lesson, and done
  LessonProgress judged_;                            ///< the current prediction beside what was measured last
  std::vector<std::string> faults_;                  ///< of that prediction; see course/exercises.h
  std::optional<course::Changes> said_of_;         ///< the changes of a prediction committed in this sitting
  bool touched_ = false;                           ///< the user has moved the prediction
  bool again_ = false;                             ///< a second prediction is being made
  view::Answer offered_;                           ///< from a link
  course::StepKind next_ = course::StepKind::Run;  ///< where the prediction leads
  bool solved_ = false;
  std::string progress_path_;            ///< empty: nothing is kept
  std::optional<course::Changes> kept_;  ///< the changes of the run whose wiring was kept last
  std::string kept_as_;
  Message keeping_failed_;
  std::array<int, 4> figure_{};
  std::map<std::string, plot::View> views_;
  std::map<std::string, double> balls_;      ///< by figure: the rate that its ball was dragged to
  std::map<std::string, size_t> tape_done_;  ///< by tape: its instructions that were run
  std::optional<course::TapeTable> tape_;    ///< of tape_of_ (tape, instructions), with tape_changes_
  std::pair<std::string, size_t> tape_of_;
  course::Changes tape_changes_;
  Message tape_error_;
  std::map<std::string, double> walked_;                 ///< by figure: the step or depth that the hand chose
  std::map<std::string, course::BarsHand> bars_;         ///< by figure
  std::optional<std::pair<double, double>> held_scale_;  ///< of the bars, while one is held
  float scroll_ = 0, text_height_ = 0;
  ui::Rect readable_{};  ///< of the page in the last frame: what no edge fades
  bool fresh_ = true;    ///< the step was just opened: give its main control the keyboard
};

}  // namespace normscope::lessons
