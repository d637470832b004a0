// The player puts hands on the pictures of app/course/pictures. See player.h.
#include <algorithm>

#include "app/course/pictures/walk.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kStepRow = 44, kSentenceLine = 18;

/// `draw_sentence` writes what a picture says at the lower end of `rest`, and returns it.
const std::string& draw_sentence(Ui& ui, Rect& rest, const std::string& sentence) {
  const TextStyle style{Face::Sans, type::body};
  const float high = ui.paint().wrapped_height(rest.w, style, sentence, kSentenceLine);
  ui.paint().text_wrapped(rest.take_bottom(high, 4), style, ui.theme().ink2, sentence, kSentenceLine);
  return sentence;
}

}  // namespace

/// `draw_walk` shows the step under the hand, and before a hand was there the last one that is known.
void Player::draw_walk(Ui& ui, Rect rect, const Figure& figure) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto state = measurer_->state();
  const FigureData data = step_data(figure, *state);
  const auto [first, last] = walk_steps(*lesson(), figure, data);
  const bool known = last >= first;
  Rect foot = rect.take_bottom(kStepRow, 6);
  const auto chosen = walked_.find(figure.id);
  double step = chosen != walked_.end() ? chosen->second : last;
  step = std::clamp<double>(step, first, std::max(first, last));
  if (known) {
    const int32_t end = lesson()->curve(figure.walk.front())->to;
    const TextStyle bold{Face::Bold, type::title};
    const float room = p.text_width(bold, word("course.walk.step", {{"step", end}})) + 14;
    const Rect label = foot.take_left(room);
    if (draw_slider(ui, foot, "lesson/walk/step", step,
                    {static_cast<double>(first), static_cast<double>(end)}, word("course.help.walk_step"))) {
      step = std::clamp<double>(step, first, last);
      walked_[figure.id] = step;
    }
    p.text_in({label.x, label.y, label.w, 22}, bold, t.ink,
              word("course.walk.step", {{"step", static_cast<int32_t>(step)}}));
  }
  const Walk walk = walk_at(*lesson(), figure, data, static_cast<int32_t>(step));
  const std::string sentence = draw_sentence(
      ui, rect, known ? walk_sentence(walk, *course_.words) : word("course.figure.not_trained"));
  paint_walk(p, t, walk, rect, *course_.words);
  ui.mark("lesson/walk", rect, sentence, word("course.help.walk"));
}

}  // namespace normscope::lessons
