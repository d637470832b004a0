// The player's footer has the stepper, the way on, the way to the Lab. See player.h.
#include <algorithm>

#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

/// The four steps, and what the lesson has beside them.
std::vector<Player::Place> Player::places() const {
  std::vector<Place> all;
  for (StepKind kind : kSteps) {
    all.push_back({to_string(kind), title_of(kind), kind, Aside::None});
    if (kind == StepKind::Compare && lesson()->challenge)
      all.push_back({"challenge", "Challenge", kind, Aside::Challenge});
  }
  if (!lesson()->says.empty()) all.push_back({"say", "Say", StepKind::Explain, Aside::Say});
  return all;
}

/// Its right end.
float Player::draw_stepper(Ui& ui, Rect rect) {
  constexpr size_t kFar = 5;  // so many stand further apart
  const std::vector<Place> all = places();
  float wanted = 0;
  for (const Place& place : all)
    wanted += 44 + ui.paint().text_width({Face::Bold, type::run_name}, tr(place.label));
  int now = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].step == step_ && all[i].aside == aside_) now = static_cast<int>(i);
  float x = rect.x;
  for (size_t i = 0; i < all.size(); ++i) {
    const int index = static_cast<int>(i);
    const bool words = size_ != Size::Compact || wanted <= rect.w || index == now;
    x = draw_place(ui, {x, rect.centre().y}, all[i], index, now, words) + 10;
    if (i + 1 == all.size() || size_ == Size::Compact) continue;
    const float gap = all.size() > kFar ? 12 : 30;
    ui.paint().hairline({x, rect.centre().y}, {x + gap, rect.centre().y}, ui.theme().strong);
    x += gap + 10;
  }
  return x;
}

/// Draws one place with its left edge there; returns the right edge.
float Player::draw_place(Ui& ui, Vec at, const Place& place, int index, int now, bool words) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float r = size_ == Size::Compact ? 12.f : 14.5f;
  const bool open = static_cast<int>(place.step) <= progress_.of(lesson()->id).step;
  const bool current = index == now, passed = index < now;
  const TextStyle style{current ? Face::Bold : Face::Sans, type::run_name};
  const Rect box{at.x, at.y - r, 2 * r + (words ? 10 + p.text_width(style, tr(place.label)) : 0), 2 * r};
  HitOptions options;
  options.enabled = open && !current;
  if (ui.hit("lesson/step/" + place.name, box,
             current  ? "here"
             : passed ? "done"
             : open   ? "open"
                      : "later",
             open ? tr(place.label) + "."
                  : tr("{step}: comes after the steps before it.", {{"step", tr(place.label)}}),
             options)
          .clicked)
    go(place.step, place.aside);
  const Vec c{at.x + r, at.y};
  if (current)
    p.accent_disc(t, c, r);
  else if (passed)
    p.circle(c, r, t.inverse);
  else
    p.ring(c, r - 0.7f, t.strong, 1.4f);
  if (passed) {
    const Vec points[] = {{c.x - 5, c.y}, {c.x - 1, c.y + 4}, {c.x + 5, c.y - 4}};
    p.polyline(points, t.on_inverse, 2);
  } else {
    p.text_in(centred(c, 2 * r, 2 * r), {Face::Bold, type::title}, current ? t.on_accent : t.ink3,
              std::to_string(index + 1), Align::Centre);
  }
  if (words)
    p.text_in({at.x + 2 * r + 10, at.y - r, box.right() - at.x - 2 * r - 8, 2 * r}, style,
              current || passed ? t.ink : t.ink3, tr(place.label));
  return box.right();
}

/// The lesson's runs, each under its letter. A trained run is at its end, and the rest plays;
/// before the commitment all are paused at step 0, so that nothing is given away.
session::ReplaceRuns Player::runs_of_lesson() {
  session::ReplaceRuns out;
  out.play = out.known = locked();
  for (const LessonRun& run : lesson()->runs) {
    out.runs.push_back(spec_of(*lesson(), run.id, 1, changes()));
    out.edits.push_back(run.edits);
    out.letters += run.id;
  }
  return out;
}

/// Left of the stepper: the list of lessons where it has no room elsewhere, or what to do now.
void Player::draw_hint(Ui& ui, const Rect& left) {
  if (size_ == Size::Compact) {
    if (button(ui, "lesson/course", {left.x, left.centre().y - 15, 104, 30},
               tr("Lesson {number}", {{"number", lesson()->number}}),
               tr("All lessons, with minutes and progress.")))
      ui.open_popup("lesson/course");
    const float wanted = kListRow * list_rows() + 16;
    const float h = std::min(wanted, left.y - 12);  // all of them, in lower rows where there is no room
    const Rect list{left.x, left.y - h - 6, 280, h};
    if (ui.begin_popup("lesson/course", list)) {
      draw_list_items(ui, list.inset(8));
      ui.end_popup();
    }
  } else if (size_ == Size::Full) {
    const auto state = measurer_->state();
    std::string hint = words::spoken(progress_.notice());
    if (hint.empty() && aside_ == Aside::Say) hint = not_ready();
    if (hint.empty() && aside_ == Aside::None)
      hint = step_ == StepKind::Predict && !locked() && !not_ready().empty() ? not_ready()
             : step_ == StepKind::Predict                                    ? tr("Arrow keys work too")
             : state->running                                                ? state->doing
             : progress_.of(lesson()->id).skipped                            ? tr("Without a prediction")
                                                  : tr("Prediction saved for next time");
    ui.paint().text_in(left, {Face::Sans, type::body}, ui.theme().ink3, hint);
  }
}

/// Says that the page's own button is the yellow one, because it has something to do: instructions not run
/// yet, or settings of the challenge other than those trained last. Otherwise the button that leads on is yellow, so
/// that a screen has one yellow button.
bool Player::work_left() {
  if (aside_ == Aside::Challenge) {
    const auto state = measurer_->state();
    return !state->running && !changes().empty() && !(measured_ && state->changes == changes());
  }
  if (aside_ != Aside::None || has_strip() || predicts_by_cards()) return false;
  const Figure& figure = figure_shown();
  if (figure.tape.empty()) return false;
  const TapeTable& table = tape_now(figure);
  return table.done < tape_end(table);
}

/// What the button that leads on does at this step.
Player::WayOn Player::way_on(bool locked, bool running) {
  if (of_course())
    return {tr("To lesson {number}", {{"number", lesson()->number}}), tr("Back to the lesson."), true};
  const bool ready = locked || not_ready().empty();
  switch (step_) {
    case StepKind::Predict:
      return {locked ? tr("Next: Run") : tr("Commit and run"),
              locked  ? tr("To the measurement.")
              : ready ? tr("Locks the prediction and measures.")
                      : tr("{what}. A click where it stands counts.", {{"what", not_ready()}}),
              ready};
    case StepKind::Run:
      return {measured_ ? tr("Next: Compare")
              : running ? tr("Measuring …")
                        : tr("Run"),
              measured_ ? tr("Your prediction beside the measurement.") : tr("Measures now."), !running};
    case StepKind::Compare:
      if (lesson()->challenge && aside_ == Aside::None)
        return {tr("Next: Challenge"),
                tr("A task for a run of your own, about {minutes} minutes.",
                   {{"minutes", lesson()->challenge->minutes}}),
                true};
      if (aside_ == Aside::Challenge && progress_.of(lesson()->id).tries.empty())
        return {tr("Skip the challenge"), tr("On without a run of your own; it can be made later."), true};
      return {tr("Next: Explain"), tr("What is behind it."), true};
    case StepKind::Explain:
      break;
  }
  if (!lesson()->says.empty() && aside_ == Aside::None)
    return {tr("Next: Say"), tr("Three sentences to complete."), true};
  const bool more = current_ + 1 < course_.lessons.size(), committed = progress_.of(lesson()->id).committed;
  const std::string missing = not_ready();
  if (!committed)
    return {more ? tr("Next lesson") : tr(course_.why ? "So why?" : "Review"),
            tr("The prediction was skipped, so this lesson is not marked as done."), missing.empty()};
  const std::string text =
      more ? tr("Done: next lesson") : tr(course_.why ? "Done: so why?" : "Done: review");
  if (!missing.empty()) return {text, missing + ".", false};
  return {text,
          more ? tr("Marks this lesson as done.") : tr("Marks this lesson as done; then the last page."),
          true};
}

/// Called when that button was pressed.
void Player::go_on(bool locked) {
  if (of_course()) return void(aside_ = Aside::None);
  if (step_ == StepKind::Predict && !locked) return commit(false);
  if (step_ == StepKind::Predict) return go(StepKind::Run);
  if (step_ == StepKind::Run && measured_) return go(StepKind::Compare);
  if (step_ == StepKind::Run) return measure();
  if (step_ == StepKind::Compare && lesson()->challenge && aside_ == Aside::None)
    return go(StepKind::Compare, Aside::Challenge);
  if (step_ == StepKind::Compare) return go(StepKind::Explain);
  if (!lesson()->says.empty() && aside_ == Aside::None) return go(StepKind::Explain, Aside::Say);
  LessonProgress& progress = progress_.of(lesson()->id);
  progress.done = progress.done || (progress.committed && not_ready().empty());
  progress_.save();
  leave();
}

/// Goes to what comes after this lesson.
void Player::leave() {
  if (current_ + 1 < course_.lessons.size()) return choose(current_ + 1);
  open_page(course_.why ? Aside::Why : Aside::Review);
}

bool Player::can_skip() const {
  if (aside_ == Aside::Say) return !not_ready().empty();
  const LessonProgress* const progress = progress_.find(lesson()->id);
  return step_ == StepKind::Predict && !(progress && (progress->committed || progress->skipped));
}

void Player::skip() {
  if (aside_ == Aside::Say) return leave();
  commit(true);
}

void Player::draw_footer(Ui& ui, const Rect& rect, std::optional<session::ReplaceRuns>& to_lab) {
  Painter& p = ui.paint();
  p.fill(rect, ui.theme().panel);
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, ui.theme().border);
  const bool compact = size_ == Size::Compact;
  const bool running = measurer_->state()->running;
  const Rect left{rect.x + (compact ? 10.f : 24.f), rect.y, compact ? 110.f : 240.f, rect.h};
  draw_hint(ui, left);
  const bool review = of_course();
  // In a small window the words of the steps need what the buttons leave.
  const float steps_at = compact ? left.right() + 6 : size_ == Size::Full ? rect.x + 285 : rect.x + 24;
  const float steps_end =
      review ? steps_at : draw_stepper(ui, {steps_at, rect.y, rect.right() - steps_at - 388, rect.h});

  // As it is before the buttons: what one of them changes shows in the next frame.
  const bool locked = this->locked();
  const float h = compact ? 32.f : space::lesson_button_h, y = rect.centre().y - h / 2;
  Rect right{rect.x, y, rect.w - (compact ? 10.f : 14.f), h};
  const WayOn way = way_on(locked, running);
  ButtonOptions primary, quiet;
  quiet.quiet = true;
  primary.primary = !work_left();
  primary.enabled = way.open;
  if (button(ui, "lesson/next", right.take_right(compact ? 130.f : 178.f, 8), way.text, way.help, primary))
    go_on(locked);
  if (review) return;
  if (!lesson()->runs.empty() && button(ui, "lesson/lab", right.take_right(compact ? 120.f : 178.f, 8),
                                        compact ? tr("To the Lab") : tr("Take this to the Lab"),
                                        locked ? tr("Opens these runs in the Lab.")
                                               : tr("Opens these runs in the Lab, paused at step 0.")))
    to_lab = runs_of_lesson();
  if (step_ == StepKind::Predict && locked &&
      button(ui, "lesson/redo", right.take_right(compact ? 104.f : 120.f, 8), tr("Predict again"),
             tr("A second prediction; the first is kept beside it."), quiet))
    predict_again();
  if (can_skip() &&
      button(ui, "lesson/skip", right.take_right(compact ? 60.f : 72.f, 8), tr("Skip"),
             aside_ == Aside::Say ? tr("On without these sentences; this lesson is not marked as done.")
                                  : tr("Goes on without a prediction; that is remembered."),
             quiet))
    skip();
  if (step_ == StepKind::Run && running &&
      button(ui, "lesson/stop", right.take_right(72, 8), tr("Stop"), tr("Stops the measurement."), quiet))
    measurer_->stop();
  // On a large screen it stands at the left: draw_hint().
  if (size_ != Size::Full && (aside_ == Aside::Say || !locked))
    draw_why_grey(ui, {steps_end, y, right.right() - steps_end - 4, h});
}

/// Says left of the buttons, where there is room, why the one that leads on is grey; its help says so
/// too.
void Player::draw_why_grey(Ui& ui, const Rect& room) const {
  const std::string why = not_ready();
  for (const float px : {type::body, type::tick})
    if (const TextStyle style{Face::Sans, px}; ui.paint().text_width(style, why) <= room.w) {
      ui.paint().text_in(room, style, ui.theme().ink3, why, Align::Right);
      return;
    }
}

}  // namespace normscope::lessons
