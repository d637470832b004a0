// What the course found, on its last page (app/course/summary.h), and how far the claim of one lesson reaches, at the end
// of its Explain. See player.h.
#include <imgui.h>

#include <algorithm>

#include "app/course/check.h"
#include "app/course/summary.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

constexpr float kSmallLine = 21, kWhyWidth = 680;

}  // namespace

/// Draws two plain sentences, and behind a fold the rest: what the papers saw, the sources, and what was
/// measured in other settings.
void Player::draw_reach(Ui& ui, Rect& rest, const FlowContext& page) {
  if (reach_in_short_.blocks.empty()) return;
  FlowContext context = page;
  context.px = type::title;
  context.line = kSmallLine;
  context.pale = true;
  rest.take_top(8);
  ui.paint().hairline({rest.x, rest.y}, {rest.right(), rest.y}, ui.theme().border);
  rest.take_top(12);
  ui.paint().text_in(rest.take_top(22, 4), {Face::Bold, type::title}, ui.theme().ink,
                     tr("How far does this reach?"));
  rest.take_top(flow(ui, rest, reach_in_short_, context, true, nullptr), 6);
  ButtonOptions fold;
  fold.quiet = fold.left = true;
  fold.icon = reach_open_ ? Icon::ChevronDown : Icon::ChevronRight;
  fold.style = {Face::Sans, type::body};
  const std::string& label =
      tr(reach_open_ ? "Fold this" : "What the papers saw, and what was measured in other settings");
  const float width = ui.paint().text_width(fold.style, label) + 40;
  const Rect place{rest.x - 8, rest.y, width, 26};
  if (button(ui, "lesson/reach", place, label,
             tr("Shows or hides where the claim was checked again, and the sources."), fold))
    reach_open_ = !reach_open_;
  rest.take_top(26, 8);
  if (!reach_open_) return;
  rest.take_top(flow(ui, rest, reach_in_full_, context, true, nullptr), 10);
  const TextStyle small{Face::Sans, type::body};
  for (const std::string& sentence : reach_)
    rest.take_top(ui.paint().text_wrapped(rest, small, ui.theme().ink2, sentence, 18), 4);
  rest.take_top(8);
  for (const std::string& source : lesson()->sources)
    rest.take_top(ui.paint().text_wrapped(rest, small, ui.theme().ink3, source, 18), 2);
}

/// Reads a lesson's measured numbers, at most one lesson a frame.
const course::Results* Player::results_of(const course::Lesson& lesson) {
  const auto known = results_.find(lesson.id);
  if (known != results_.end()) return known->second ? &*known->second : nullptr;
  if (std::exchange(read_this_frame_, true)) return nullptr;
  std::optional<course::Results>& results = results_[lesson.id];
  try {
    results = load_results(lesson);
  } catch (...) {
    reference_error_ = describe_exception("lesson " + lesson.id);
  }
  return results ? &*results : nullptr;
}

void Player::draw_why(Ui& ui, const Rect& rect) {
  Rect seen = panel(ui, rect, {tr("So why?"), "", "", 0, false});
  seen = {rect.x + space::pad, seen.y, rect.w - 2 * space::pad, rect.bottom() - seen.y - 8};
  const float width = std::min(kWhyWidth, seen.w - 16), left = seen.x + (seen.w - width) / 2;
  read_this_frame_ = false;
  std::string chosen;
  FlowContext context;
  context.words = course_.words;
  context.seen = seen;
  context.ring = [&](const std::string& control, const Rect& place, const std::string& id, bool clicked) {
    follow_focus(ui, control, place, seen);
    if (clicked) chosen = id;
  };
  context.text = [this](const course::Inline& piece) -> std::string {
    if (piece.kind == course::Inline::Kind::Lesson) return std::to_string(course_.find(piece.text)->number);
    const auto [lesson, measure] = measure_named(course_, piece.text);
    const course::Results* const results = results_of(*lesson);
    if (!results || !results->measures.contains(measure->id)) return "–";
    return range_text(results->measures.at(measure->id).spread, *measure, *course_.words);
  };
  draw_scrolled(ui, rect, seen, [&](float y) {
    return flow(ui, {left, y + 10, width, 0}, *course_.why, context, true, nullptr) + 30;
  });
  if (const course::Lesson* const lesson = course_.find(chosen))
    choose(static_cast<size_t>(lesson - course_.lessons.data()));
}

}  // namespace normscope::lessons
