// Draws the middle panel: title, sentence, formula and local rule. See instruction_panel.h.
#include "addons/tape-screen/app/instruction_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "addons/tape-screen/app/panel_frame.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr float kFormulaSizes[] = {type::title, type::tick, 9.f};
constexpr float kFormulaLabel = 66, kFormulaGap = 18, kCheckHigh = 176, kCheckLow = 126;

/// Splits a formula at each \quad outside of all braces.
std::vector<std::string> parts_of(const std::string& source) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    if (depth == 0 && source.compare(i, 5, "\\quad") == 0) {
      parts.emplace_back();
      i += 4;
      continue;
    }
    depth += source[i] == '{' ? 1 : source[i] == '}' ? -1 : 0;
    parts.back() += source[i];
  }
  return parts;
}

}  // namespace

/// Takes as few lines as the width allows, and a smaller size where one part alone is too wide.
void InstructionPanel::typeset(const Painter& p, Typeset& set, const std::string& source, float width,
                               float largest) const {
  if (set.source == source && set.width == width && set.largest == largest) return;
  set = {source, width, largest, 0, {}};
  if (source.empty()) return;
  const auto measure = [&](TextStyle style, std::string_view text) { return p.text_width(style, text); };
  std::vector<tex::Layout> boxes;
  for (const float px : kFormulaSizes) {
    if (px > largest) continue;
    boxes.clear();
    for (const std::string& part : parts_of(source))
      boxes.push_back(tex::layout(tex::parse(part), px, true, measure));
    if (std::ranges::all_of(boxes, [&](const tex::Layout& box) { return box.width <= width; })) break;
  }
  for (size_t first = 0; first < boxes.size();) {
    size_t end = first;
    float x = 0, ascent = 0, descent = 0;
    while (end < boxes.size() && (end == first || x + boxes[end].width <= width)) {
      set.pieces.push_back({{x, 0}, boxes[end]});
      x += boxes[end].width + kFormulaGap;
      ascent = std::max(ascent, boxes[end].ascent);
      descent = std::max(descent, boxes[end].descent);
      ++end;
    }
    for (size_t i = first; i < end; ++i) set.pieces[i].at.y = set.height + ascent;
    set.height += ascent + descent + (end < boxes.size() ? 6.f : 0.f);
    first = end;
  }
}

/// Keeps the chosen element while it is an element of what is shown.
void InstructionPanel::settle(Frame& f) {
  const InstructionView& shown = *f.shown;
  if (shown.step != step_ || shown.instruction != instruction_) first_ = 0;
  if (shown.step != step_ || shown.node != node_) {
    h_.reset();
    dragging_h_ = false;
    view_.reset();
  }
  step_ = shown.step;
  instruction_ = shown.instruction;
  node_ = shown.node;
  if (chosen_) {
    const ShownTensor* t = input_of(shown, chosen_->input);
    if (!t || chosen_->row >= static_cast<int64_t>(t->rows) ||
        chosen_->column >= static_cast<int64_t>(t->columns))
      chosen_.reset();
  }
  const ElementCheck* checked = f.given.checked.get();
  if (checked && checked->step == shown.step && checked->node == shown.node && checked->asked == chosen_ &&
      checked->asked_sequence == shown.sequence)
    f.checked = checked;
}

InstructionRequest InstructionPanel::draw(Ui& ui, const Rect& rect, const InstructionInput& given) {
  Frame f{ui, given, given.shown.get()};
  hovered_.reset();
  if (given.head <= 0) panel(ui, rect, {});
  Rect rest = rect.inset(space::pad, 0);
  rest.h -= 8;
  rest.take_top(given.head);
  if (!f.shown) {
    ui.mark("tape/instruction", rect, given.nothing, tr("The instruction under the play head."));
    rest.take_top(12);
    ui.paint().text_wrapped(rest, kBodyWords, ui.theme().ink2, given.nothing, 17);
    return f.asked;
  }
  settle(f);
  ui.mark("tape/instruction", rect,
          fmt::format("{} {}: {}", f.shown->title, f.shown->name, f.shown->sentence),
          tr("The instruction under the play head: what it does, its formula, what it reads and "
             "writes."));
  save(f, save_menu(ui, "tape/instruction", rect, tr("this instruction, its tensors and its check")));
  draw_head(f, rest);
  if (given.part != Part::Tensors) {
    draw_formulas(f, rest);
    const float check = std::min(f.small() ? kCheckLow : kCheckHigh, rest.h);
    draw_check(f, rest.take_bottom(check, 6));
  }
  draw_tensors(f, rest);
  if (f.shown->can_check && !f.checked && given.part != Part::Tensors) f.asked.check = chosen_;
  return f.asked;
}

void InstructionPanel::draw_head(Frame& f, Rect& rest) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  Rect row = rest.take_top(f.given.head > 0 ? 28.f : space::title_row);
  if (f.given.head <= 0) row.take_right(30);  // room for the menu
  const std::string& title = f.shown->title;
  const std::string fits = fitting(p, kTitleBold, row.w, {title, title.substr(0, title.rfind(','))});
  row.take_left(p.text_in(row, kTitleBold, t.ink, fits) + 10);
  p.text_in(row, kBodyMono, t.ink2, fitting(p, kBodyMono, row.w, {f.shown->name}));
  const std::pair<const std::string&, TextStyle> lines[] = {{f.shown->sentence, kBodyBold},
                                                            {f.shown->note, kBodyWords}};
  for (const auto& [text, style] : lines) {
    const float high = text.empty() ? 0 : p.wrapped_height(rest.w, style, text, 17);
    if (high > 0 && high <= rest.h)
      p.text_wrapped(rest.take_top(high, 1), style, style.face == Face::Bold ? t.ink : t.ink2, text, 17);
  }
  rest.take_top(7);
}

void InstructionPanel::draw_formulas(Frame& f, Rect& rest) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const float width = rest.w - kFormulaLabel - 24;
  const float largest = f.small() ? type::tick : type::title;
  typeset(p, forward_, f.shown->formula, width, largest);
  typeset(p, rule_, f.shown->rule, width, largest);
  const bool has_rule = !f.shown->rule.empty();
  const float high = forward_.height + 20 + (has_rule ? rule_.height + 12 : 0);
  if (high > rest.h) return;
  Rect box = rest.take_top(high, 10);
  p.fill(box, t.sunk, 6);
  f.ui.mark(
      "tape/instruction/formula", box,
      has_rule ? tr("{formula}; backward: {rule}", {{"formula", f.shown->formula}, {"rule", f.shown->rule}})
               : f.shown->formula,
      f.shown->source.empty()
          ? f.shown->shapes
          : tr("{shapes}. Source: {source}", {{"shapes", f.shown->shapes}, {"source", f.shown->source}}));
  // The pieces of a formula stand inside each other's boxes, so they are not recorded as texts of the screen.
  ScreenPainter quiet = f.ui.paint_unrecorded();
  box = box.inset(12, 10);
  const std::pair<std::string, const Typeset*> sets[] = {
      {f.shown->phase == Phase::Update ? tr("computes") : tr("forward"), &forward_},
      {tr("local rule"), &rule_}};
  for (const auto& [label, set] : sets) {
    if (set->pieces.empty() || set->source.empty()) continue;
    const Rect part = box.take_top(set->height, 12);
    const float baseline = part.y + set->pieces.front().at.y;
    p.text({part.x, baseline}, kTickWords, t.ink3, label);
    for (const Typeset::Piece& piece : set->pieces)
      tex::draw(quiet, piece.layout, Vec{part.x + kFormulaLabel, part.y} + piece.at, t.ink);
  }
}

}  // namespace normscope::tape_screen
