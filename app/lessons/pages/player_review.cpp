// The pages of the whole course end its list: here what all of them share, and the review, predictions beside what was
// measured and a way to make them again. See player.h.
#include <imgui.h>

#include <algorithm>
#include <array>

#include "app/lessons/player.h"
#include "app/lessons/progress.h"
#include "app/lessons/verdict.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

constexpr float kReviewLine = 18, kReviewPad = 10, kAgain = 112, kReviewHead = 24;
constexpr TextStyle kReviewSmall{Face::Sans, type::body};
constexpr TextStyle kReviewWords{Face::Sans, type::title};

/// Has lesson, said, measured, how far off; the button takes what is left.
std::array<Rect, 4> columns(Rect row) {
  row.take_right(kAgain, 12);
  const float w = row.w;
  return {row.take_left(w * 0.40f, 12), row.take_left(w * 0.21f - 12, 12), row.take_left(w * 0.22f - 12, 12),
          row};
}

bool answered(const LessonProgress& p) { return p.committed || p.skipped; }

}  // namespace

void Player::open_page(Aside aside) {
  aside_ = aside;
  scroll_ = 0;
  followed_.clear();
}

/// Draws a row below the lessons, of a page of the whole course.
void Player::draw_course_row(Ui& ui, const Rect& row, const CoursePage& page, bool one_line) {
  const bool current = aside_ == page.aside;
  const Hit h = ui.hit(page.control, row, current ? "open" : "", tr(page.help));
  const Vec middle =
      draw_list_row(ui, row, current, h.hovered, tr(page.title), one_line ? "" : tr(page.what));
  draw_icon(ui.paint(), page.icon, middle, 16, ui.theme().ink2);
  if (!h.clicked) return;
  open_page(page.aside);
  ui.close_popup();
}

/// Moves what is longer than its `room` by wheel and keys, `furthest` at most.
void Player::scroll(Ui& ui, const Rect& rect, float room, float furthest) {
  if (rect.contains(ui.mouse())) scroll_ -= ImGui::GetIO().MouseWheel * 40;
  if (ui.shortcut("PageDown")) scroll_ += room * 0.8f;
  if (ui.shortcut("PageUp")) scroll_ -= room * 0.8f;
  scroll_ = std::clamp(scroll_, 0.f, furthest);
}

/// Draws a page of the course that may be longer than what is seen of it. `content` draws from y on and
/// returns its height.
void Player::draw_scrolled(Ui& ui, const Rect& rect, const Rect& room,
                           const std::function<float(float y)>& content) {
  Painter& p = ui.paint();
  Rect seen = room;
  if (text_height_ > room.h) {  // a way on below, for whom no wheel is at hand
    const Rect foot = seen.take_bottom(26, 4);
    ButtonOptions more;
    more.quiet = true;
    more.icon = Icon::ChevronDown;
    more.style = {Face::Sans, type::body};
    more.enabled = scroll_ + seen.h + 1 < text_height_;
    if (button(ui, "lesson/more", centred(foot.centre(), 150, 26), tr("More below"),
               tr("Moves on, as wheel, PageDown and PageUp do."), more))
      scroll_ += seen.h * 0.8f;
  }
  const float furthest = std::max(0.f, text_height_ - seen.h);
  scroll(ui, rect, seen.h, furthest);
  {
    const HandsWithin hands(ui, seen);
    p.push_clip(seen);
    text_height_ = content(seen.y - scroll_);
    p.pop_clip();
  }
  if (furthest <= 0) return;
  const float bar = seen.h * seen.h / (seen.h + furthest);
  p.fill({rect.right() - 8, seen.y + (seen.h - bar) * scroll_ / furthest, 4, bar}, ui.theme().strong, 2);
}

/// The first answer that was off, as a question; else what there is to say.
std::string Player::review_sentence() {
  size_t made = 0;
  for (const course::Lesson& l : course_.lessons) made += progress_.of(l.id).committed;
  for (const course::Lesson& l : course_.lessons) {
    const LessonProgress& p = progress_.of(l.id);
    if (p.committed && !p.score.empty() && !is_right(p.score, *course_.words))
      return tr("In lesson {number} your answer was: {score}. What would you say now?",
                {{"number", l.number}, {"score", p.score}});
  }
  if (made == 0) return tr("Nothing was predicted yet.");
  return tr("One prediction, and it is not off. | {count} predictions, none of them off.", {{"count", made}});
}

void Player::try_again(size_t index) {
  choose(index);
  step_ = course::StepKind::Predict;
  if (locked()) predict_again();
}

/// Draws one row and returns its height.
float Player::draw_review_lesson(Ui& ui, const Rect& rect, size_t index, const Rect& seen) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const course::Lesson& l = course_.lessons[index];
  const LessonProgress& progress = progress_.of(l.id);
  const bool known = answered(progress) && !progress.measured.empty();
  std::array<Rect, 4> cell = columns(rect);
  std::string asked = l.prediction.ask;
  if (!l.says.empty())
    asked += " " + tr("Sentences right: {right} of {all}.",
                      {{"right", course::said_right(l.says, progress.words)}, {"all", l.says.size()}});
  std::string first;
  if (const Told& told = progress.first; !told.said.empty())
    first = tr("first: {said}{comma}{score}",
               {{"said", told.said}, {"comma", told.score.empty() ? "" : ", "}, {"score", told.score}});
  const std::string words[] = {progress.skipped     ? tr("skipped")
                               : progress.committed ? progress.said
                                                    : "–",
                               known                ? progress.measured
                               : answered(progress) ? tr("not measured yet")
                                                    : "–",
                               known && progress.committed ? progress.score : ""};
  float high = 22 + p.wrapped_height(cell[0].w, kReviewSmall, asked, kReviewLine);
  for (size_t i = 0; i < 3; ++i) {
    float column = p.wrapped_height(cell[i + 1].w, kReviewWords, words[i], kReviewLine);
    if (i == 0 && !first.empty()) column += 4 + p.wrapped_height(cell[1].w, kReviewSmall, first, kReviewLine);
    high = std::max(high, column);
  }
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, t.border);
  for (Rect& one : cell) one.y = rect.y + kReviewPad;
  p.text_in({cell[0].x, cell[0].y, cell[0].w, 20}, {Face::Bold, type::title}, t.ink,
            fmt::format("{}. {}", l.number, l.title));
  p.text_wrapped({cell[0].x, cell[0].y + 22, cell[0].w, 0}, kReviewSmall, t.ink2, asked, kReviewLine);
  for (size_t i = 0; i < 3; ++i) {
    const float down =
        p.text_wrapped(cell[i + 1], kReviewWords, i == 2 ? t.ink : t.ink2, words[i], kReviewLine);
    if (i == 0 && !first.empty())
      p.text_wrapped({cell[1].x, cell[1].y + down + 4, cell[1].w, 0}, kReviewSmall, t.ink3, first,
                     kReviewLine);
  }
  ui.mark("lesson/review/row/" + l.id, {rect.x, rect.y, rect.w, high + 2 * kReviewPad},
          fmt::format("{} | {} | {}", words[0], words[1], words[2]),
          tr("What was predicted and what was measured."));
  const std::string name = "lesson/review/" + l.id;
  const Rect box{rect.right() - kAgain, rect.y + kReviewPad, kAgain, 28};
  if (button(ui, name, box, answered(progress) ? tr("Predict again") : tr("Predict"),
             answered(progress) ? tr("The same prediction once more; the first is kept beside it.")
                                : tr("Opens this lesson's prediction.")))
    try_again(index);
  follow_focus(ui, name, box, seen);
  return high + 2 * kReviewPad;
}

/// Copies all predictions as a line, which can be given to a teacher.
void Player::draw_copy(Ui& ui, const Rect& rect) {
  ButtonOptions options;
  options.enabled = std::any_of(progress_.all().begin(), progress_.all().end(),
                                [](const auto& one) { return answered(one.second); });
  options.style = {Face::Sans, type::body};
  const std::string& label = tr("Copy my predictions");
  const float width = ui.paint().text_width(options.style, label) + 28;
  const Rect place{rect.right() - space::pad - width, rect.y + 6, width, 26};
  if (button(ui, "lesson/review/copy", place, label,
             tr("Copies all predictions as one line, for a teacher who gathers those of a class."), options))
    copied_ = predictions_line(progress_.all());
}

void Player::draw_review(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect seen = panel(ui, rect, {tr("Your predictions, and what was measured"), "", "", 0, false});
  draw_copy(ui, rect);
  seen = {rect.x + space::pad, seen.y, rect.w - 2 * space::pad, rect.bottom() - seen.y - 8};
  p.text_wrapped(seen.take_top(kReviewLine + 4, 8), kReviewWords, t.ink, review_sentence(), kReviewLine);
  const std::array<Rect, 4> head = columns(seen.take_top(kReviewHead));
  const std::string titles[] = {tr("what was asked"), tr("you said"), tr("measured"), tr("how far off")};
  for (size_t i = 0; i < head.size(); ++i)
    p.text_in({head[i].x, head[i].y, head[i].w, kReviewHead}, {Face::Bold, type::body}, t.ink3, titles[i]);
  draw_scrolled(ui, rect, seen, [&](float y) {
    const float from = y;
    for (size_t i = 0; i < course_.lessons.size(); ++i) {
      y += draw_review_lesson(ui, {seen.x, y, seen.w, 0}, i, seen);
      if (aside_ != Aside::Review) break;  // one of them was opened
    }
    return y - from;
  });
}

}  // namespace normscope::lessons
