// The box on Compare has a prediction beside what was measured, and the verdict. See player.h.
#include <algorithm>

#include "app/lessons/player.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

constexpr TextStyle kScoreHead{Face::Sans, type::body}, kScoreWords{Face::Sans, type::title},
    kVerdict{Face::Bold, type::run_name}, kScoreFigure{Face::Mono, type::figure};
constexpr float kScoreLine = 18, kScoreCell = 10;

/// "A → B (last); C": what is in order, each on a line of its own, and what is said of it.
struct InOrder {
  std::vector<std::string> places;
  std::string note;
};

InOrder in_order(std::string words, const std::string& last) {
  InOrder out;
  const std::string end = fmt::format(" ({})", last);  // a card may have semicolons of its own
  if (const size_t at = words.rfind(end); at != words.npos) {
    out.note = words.substr(at + end.size());
    words.resize(at);
  }
  constexpr std::string_view kThen = " → ";
  for (size_t at = words.find(kThen); at != words.npos; at = words.find(kThen)) {
    out.places.push_back(words.substr(0, at));
    words.erase(0, at + kThen.size());
  }
  out.places.push_back(words);
  return out;
}

}  // namespace

/// Fills in the box: said, measured, verdict; and what was said first.
Player::Score Player::scored(const LessonProgress& progress) const {
  const bool drew = lesson()->prediction.kind == course::Prediction::Kind::Draw;
  const bool ordered = lesson()->prediction.kind == course::Prediction::Kind::Order;
  // An answer is right or wrong for the setting that it was given for.
  const bool other = measured_ && !progress.skipped && !as_predicted();
  Score score;
  score.heads = {drew ? tr("You drew, at the end") : tr("You said"),
                 drew ? tr("Measured, at the end") : tr("Measured"),
                 progress.skipped ? tr("Your prediction")
                 : other          ? tr("That was for")
                 : drew           ? tr("Your curve is")
                 : ordered        ? tr("Your order:")
                                  : tr("Your answer is")};
  score.values = {progress.skipped ? tr("nothing##score") : progress.said,
                  measured_                     ? progress.measured
                  : measurer_->state()->running ? tr("measuring …")
                                                : tr("not measured"),
                  progress.skipped ? tr("skipped")
                  : other          ? tr("another setting")
                  : measured_      ? progress.score
                                   : ""};
  if (measured_ && !progress.skipped && !other) {
    score.thought = right_in_words(*lesson(), reference_ ? &*reference_ : nullptr, progress);
    if (const std::string thought = course::thought_behind(*lesson(), faults_); !thought.empty())
      score.thought += (score.thought.empty() ? "" : " ") +
                       tr("A thought that leads there: {thought}", {{"thought", thought}});
  }
  if (const Told& first = progress.first; !first.said.empty())
    score.first =
        tr("Your first prediction: {said}{comma}{score}",
           {{"said", first.said}, {"comma", first.score.empty() ? "" : ", "}, {"score", first.score}});
  return score;
}

float Player::draw_score(Ui& ui, const Rect& rect) {
  const LessonProgress& progress = measured_ ? judged_ : progress_.of(lesson()->id);
  if (progress.measured.empty() || step_ != course::StepKind::Compare || aside_ != Aside::None) return 0;
  const Score score = scored(progress);
  const bool order = lesson()->prediction.kind == course::Prediction::Kind::Order;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto room_for = [&](const std::string& text) {
    return text.empty() ? 0 : p.wrapped_height(rect.w, kScoreWords, text, kScoreLine) + 6;
  };
  const float thought = room_for(score.thought), first = room_for(score.first);
  const float high =
      order ? draw_order_score(ui, rect, score, false) : draw_value_score(ui, rect, score, false);
  const Rect box{rect.x - 16, rect.y, rect.w + 32, 24 + high + thought + first};
  p.fill(box, t.sunk, radius::panel);
  const Rect inside = box.inset(16, 12);
  if (order)
    draw_order_score(ui, inside, score, true);
  else
    draw_value_score(ui, inside, score, true);
  Rect below{inside.x, inside.y + high, inside.w, thought + first};
  p.text_wrapped(below.take_top(thought).inset(0, 6), kScoreWords, t.ink, score.thought, kScoreLine);
  p.text_wrapped(below.inset(0, 6), kScoreWords, t.ink2, score.first, kScoreLine);
  ui.mark("lesson/score", box, score.values[2], tr("Your prediction beside the measurement."));
  return box.h + 18;
}

/// Has three cells beside each other. It returns the height, and draws only if told to.
float Player::draw_value_score(Ui& ui, Rect rect, const Score& score, bool draw) const {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float width = rect.w / 3;
  const bool narrow =
      p.text_width(kVerdict, score.values[2]) > width - 2;  // "within the five seeds", on a small window
  const float high =
      narrow ? std::max(32.f, p.wrapped_height(width - kScoreCell, kVerdict, score.values[2], 20)) : 32;
  // What was said and what was measured compare at one size.
  const auto large = [&](size_t i) {
    return p.text_width(kScoreFigure, score.values[i]) <= width - kScoreCell - 8;
  };
  const TextStyle& figure = large(0) && large(1) ? kScoreFigure : kScoreWords;
  for (size_t i = 0; draw && i < 3; ++i) {
    Rect cell = rect.take_left(width);
    cell.w -= kScoreCell;
    const std::string& head = score.heads[i];
    p.text_in(cell.take_top(18, 6), kScoreHead, t.ink3,
              i == 1 ? fitting(p, kScoreHead, cell.w, {head, tr("Measured")}) : head);
    if (i == 2 && narrow)
      p.text_wrapped(cell, kVerdict, t.ink, score.values[i], 20);
    else
      p.text_in({cell.x, cell.y, cell.w + 8, 28}, i == 2 ? kVerdict : figure, t.ink, score.values[i]);
  }
  return 24 + high;
}

/// Has the verdict, and below it both orders, a card in a line, so that they compare side by side.
float Player::draw_order_score(Ui& ui, Rect rect, const Score& score, bool draw) const {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const course::Prediction& q = lesson()->prediction;
  const float top = rect.y, width = rect.w / 2;
  Rect verdict = rect.take_top(20, 8);
  if (draw) {
    const float head = p.text_in(verdict, kScoreHead, t.ink3, score.heads[2]);
    verdict.take_left(head + 8);
    p.text_in(verdict, kVerdict, t.ink, score.values[2]);
  }
  float high = 0;
  std::string note = tr("from {first} to {last}", {{"first", q.first}, {"last", q.last}});
  for (const size_t i : {0, 1}) {
    Rect cell{rect.x + width * static_cast<float>(i), rect.y, width - (i == 0 ? kScoreCell : 0), 0};
    const Rect head = cell.take_top(18, 4);
    if (draw) p.text_in(head, kScoreHead, t.ink3, score.heads[i]);
    const InOrder order = in_order(score.values[i], q.last);
    for (const std::string& place : order.places) {
      const float line = p.wrapped_height(cell.w, kScoreWords, place, kScoreLine);
      if (draw) p.text_wrapped(cell, kScoreWords, t.ink, place, kScoreLine);
      cell.take_top(line);
    }
    note += order.note;
    high = std::max(high, cell.y - rect.y);
  }
  rect.take_top(high, 6);
  const float below = p.wrapped_height(rect.w, kScoreHead, note, kScoreLine);
  if (draw) p.text_wrapped(rect, kScoreHead, t.ink2, note, kScoreLine);
  return rect.y + below - top;
}

}  // namespace normscope::lessons
