#include "app/lesson-player/lesson_context.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/course/curves.h"
#include "app/course/lesson.h"
#include "app/course/tables.h"
#include "app/diagram/diagram.h"
#include "app/lesson-player/figures.h"
#include "app/ui/widgets.h"
#include "app/view/diagram_model.h"
#include "engine/core/boundary.h"
#include "engine/model/residual.h"
#include "training/spec/small_size.h"

namespace normscope::lesson_player {

using namespace course;

StepKind step_of(PageKind page) {
  switch (page) {
    case PageKind::Predict:
      return StepKind::Predict;
    case PageKind::Run:
      return StepKind::Run;
    case PageKind::Compare:
    case PageKind::Challenge:
      return StepKind::Compare;
    default:
      return StepKind::Explain;
  }
}

PageKind page_of(StepKind step) {
  constexpr PageKind kPages[] = {PageKind::Predict, PageKind::Run, PageKind::Compare, PageKind::Explain};
  return kPages[static_cast<size_t>(step)];
}

void Scroll::restart() {
  at = 0;
  followed.clear();
}

void Scroll::move(ui::Ui& ui, const ui::Rect& rect, float room, float furthest) {
  if (rect.contains(ui.mouse())) at -= ImGui::GetIO().MouseWheel * 40;
  if (ui.shortcut("PageDown")) at += room * 0.8f;
  if (ui.shortcut("PageUp")) at -= room * 0.8f;
  at = std::clamp(at, 0.f, furthest);
}

void Scroll::follow_focus(const ui::Ui& ui, const std::string& name, const ui::Rect& rect,
                          const ui::Rect& seen) {
  constexpr float kMargin = 8;
  if (!ui.focus_visible() || ui.focused() != name || followed == name) return;
  followed = name;
  if (rect.y < seen.y + kMargin) at -= seen.y + kMargin - rect.y;
  if (rect.bottom() > seen.bottom() - kMargin) at += rect.bottom() - seen.bottom() + kMargin;
}

LessonContext::LessonContext(const Course& course, size_t index, Measurer& measurer, Measurer& case_measurer,
                             Progress& progress, const std::string& folder)
    : course(course),
      index(index),
      lesson(course.lessons[index]),
      measurer(measurer),
      case_measurer(case_measurer),
      progress(progress),
      folder(folder),
      figures(std::make_unique<Figures>()),
      experiment(std::make_unique<Experiment>()) {
  reference_error = guarded("lesson " + lesson.id, [&] { reference = load_results(lesson); });
}

LessonContext::~LessonContext() = default;

void LessonContext::leave() {
  if (index + 1 < course.lessons.size())
    turn.lesson = index + 1;
  else
    turn.page = course.why ? PageKind::Why : PageKind::Review;
}

void LessonContext::measure() {
  measured = false;
  measurer.start(lesson, changes());
}

bool LessonContext::just_measured() {
  const auto now = state();
  return !measured && now->done && now->lesson == lesson.id && (measured = true);
}

bool LessonContext::is_own(const MeasureState& state) const {
  return state.lesson == lesson.id && (state.running || state.done || !state.curves.empty());
}

double LessonContext::number(const std::string& measure) const {
  return evaluate(lesson, *lesson.measure(measure), state()->curves);
}

double LessonContext::knob_value(const Knob& knob) const {
  const auto it = knobs.find(knob.id);
  return it != knobs.end() ? it->second : first_value(lesson, knob);
}

std::string LessonContext::chosen_value(const Challenge::Choice& choice) const {
  const auto it = chosen.find(choice.field);
  return it != chosen.end() ? it->second : get_field(lesson.run(lesson.challenge->run)->spec, choice.field);
}

Changes LessonContext::changes() const {
  Changes out;
  for (const Knob& knob : lesson.knobs) {
    const double v = knob_value(knob);
    if (v == first_value(lesson, knob)) continue;
    if (is_slot(knob)) {  // all slots of a run together are its wiring
      out[knob.run].merge(
          wiring_of_slots(lesson, knob.run, [this](const Knob& one) { return knob_value(one); }));
      continue;
    }
    out[knob.run][knob.field] =
        v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{:.6g}", v);
  }
  if (const auto& task = lesson.challenge)
    for (const Challenge::Choice& choice : task->choices)
      if (const std::string value = chosen_value(choice);
          value != get_field(lesson.run(task->run)->spec, choice.field))
        out[task->run][choice.field] = value;
  return out;
}

Changes LessonContext::shown_changes() const {
  const auto now = state();
  return is_own(*now) ? now->changes : changes();
}

FigureData LessonContext::figure_data() const {
  FigureData data{.reference = seeds()};
  if (reference) data.level = reference->level;
  data.changes = shown_changes();
  return data;
}

FlowContext LessonContext::flow() const {
  FlowContext c;
  c.lesson = &lesson;
  c.words = course.words;
  const auto now = state();
  const bool own = measured && now->lesson == lesson.id;
  c.number = [this, now, own](const std::string& measure) -> std::optional<double> {
    if (!own) return std::nullopt;
    if (measure == kChanged) return now->changes.empty() ? 0 : 1;
    return evaluate(lesson, *lesson.measure(measure), now->curves);
  };
  c.unknown = now->running ? tr("(being measured)") : tr("(not measured)");
  c.text = [this, now, own, changes = shown_changes()](const Inline& piece) -> std::string {
    if (piece.kind == Inline::Kind::Name) return run_label(lesson, piece.text, changes);
    if (piece.kind == Inline::Kind::Sample) {
      const auto it = now->texts.find(piece.text);
      return !own || it == now->texts.end() ? "–" : it->second;
    }
    const Measure& m = *lesson.measure(piece.text);
    if (piece.kind == Inline::Kind::Value)
      return own ? shown(evaluate(lesson, m, now->curves), m, *lesson.words) : "–";
    if (!reference || !reference->measures.contains(m.id)) return "–";
    const Spread& s = reference->measures.at(m.id).spread;
    return piece.kind == Inline::Kind::Reference ? shown(s.mean, m, *lesson.words)
                                                 : range_text(s, m, *lesson.words);
  };
  c.knob = [this](const Knob& knob) { return shown_value(knob, knob_value(knob)); };
  c.can_drag = !now->running;
  if (compact()) c.line = 25;
  return c;
}

session::ReplaceRuns LessonContext::runs() const {
  session::ReplaceRuns out;
  out.play = locked();
  out.known = locked();
  for (const LessonRun& run : lesson.runs) {
    out.runs.push_back(spec_of(lesson, run.id, 1, changes()));
    out.edits.push_back(run.edits);
    out.letters += run.id;
  }
  return out;
}

session::ReplaceRuns LessonContext::small_runs() const {
  session::ReplaceRuns out = runs();
  out.known = false;
  out.instant = true;
  for (RunSpec& spec : out.runs) spec = at_small_size(std::move(spec));
  return out;
}

namespace {

using namespace ui;

constexpr float kName = 26, kBetween = 24;  // the run's name above its picture; the gap between two pictures
constexpr float kNarrowest = 183;           // in which every word of a stack has room
constexpr float kGlyphWidth = 86, kGlyphHeight = 46;
constexpr float kSpare = 36;  // height that may stay unused

/// One of the pictures: its drawing, and the part of it that is lit.
struct One {
  const OpeningRun& opening;
  const RunView& run;
  view::Stacks stacks;
  OpeningPlace place;
};

/// Opens the layer of the lit place if `opened`.
std::vector<diagram::StackRows> rows_of(const One& one, bool opened) {
  std::vector<diagram::StackRows> rows;
  for (const view::Side side : {view::Side::Encoder, view::Side::Main}) {
    if (side == view::Side::Encoder && !one.stacks.both) continue;
    const view::Stack stack = one.stacks.of(side);
    const bool here = opened && side == one.place.at.side;
    const int layer =
        one.place.at.layer == view::kFinal ? stack.layers() - 1 : std::max(one.place.at.layer, 0);
    rows.push_back({side, stack.cross, view::diagram_rows(stack, here ? layer : -1),
                    stack.wiring.embedding != NormKind::None,
                    stream_layout(stack.wiring).beside != NormKind::None});
  }
  return rows;
}

float height_of(const One& one, float width, bool opened) {
  return diagram::layout_small({0, 0, width, 0}, rows_of(one, opened)).content_height;
}

/// Where the lit place is drawn. A scale has its own place in an open layer alone.
std::optional<Rect> lit_place(const diagram::DiagramLayout& layout, const OpeningPlace& place) {
  if (!place.skip_scale) return diagram::place_of(layout, place.at);
  const diagram::StackLayout* stack = layout.stack_layout(place.at.side);
  for (const diagram::RowLayout& row : stack ? stack->rows : std::vector<diagram::RowLayout>{})
    for (const diagram::SublayerLayout& s : row.subs)
      if (row.row.first == place.at.layer && s.sub == place.at.sub) return s.pill;
  return {};
}

/// Draws a scale of a closed layer: its letter on the stream, where the branch leaves it.
void paint_closed_scale(Ui& ui, const One& one, const diagram::DiagramLayout& layout) {
  const view::SlotId& at = one.place.at;
  const diagram::StackLayout* stack = layout.stack_layout(at.side);
  const std::string words =
      diagram::skip_words(view::wiring_of(one.stacks.of(at.side).wiring, at.layer, at.sub), {}).text;
  for (const diagram::RowLayout& row : stack ? stack->rows : std::vector<diagram::RowLayout>{})
    for (const diagram::SmallSlots& small : row.small) {
      if (small.sub != at.sub || at.layer < row.row.first || at.layer > row.row.last) continue;
      const Rect pill = centred(small.enter.centre(), 20, 14);
      ui.paint().fill(pill, ui.theme().panel, 7);
      ui.paint().outline(pill, ui.theme().ink, 1.6f, 7);
      ui.paint().text_in(pill, {Face::Bold, type::tick}, ui.theme().ink, words.substr(0, words.find(' ')),
                         Align::Centre);
    }
}

void paint_one(Ui& ui, const One& one, const Rect& area, bool opened, const LabView& view,
               view::LabData& data) {
  diagram::DiagramState state;
  state.selected = one.run.letter;
  if (!one.place.skip_scale) state.hovered = one.place.at;
  const int32_t last = one.run.history ? one.run.history->last_step() : 0;
  // The step before the last is drawn, as a scale at the end is known to the model alone.
  const diagram::DiagramInput input{view, data, std::max(last - 1, 0)};
  const diagram::DiagramLayout layout = diagram::layout_small(area, rows_of(one, opened));
  diagram::paint_diagram(ui, state, input, layout, one.stacks, static_cast<int>(&one.run - view.runs.data()));
  if (const auto lit = lit_place(layout, one.place))
    ui.paint().outline(lit->inset(-4), ui.theme().ink, 1.6f, radius::token + 4);
  if (one.place.skip_scale) paint_closed_scale(ui, one, layout);
}

/// Draws the wiring of each stack as a glyph, for a room too small for a diagram.
void draw_glyphs(Ui& ui, const Rect& area, const One& one, const Words& words) {
  const Theme& t = ui.theme();
  const Colour line = t.runs[static_cast<size_t>(one.run.letter - 'A')].line;
  if (!one.stacks.both) return view::draw_wiring_glyph(ui, {area.x, area.y}, one.run.spec->model, line);
  float x = area.x;
  for (const view::Side side : {view::Side::Encoder, view::Side::Main}) {
    const std::string name = side == view::Side::Main ? words.tr("decoder") : words.tr("encoder");
    view::draw_wiring_glyph(ui, {x, area.y}, one.run.spec->model, line, side);
    ui.paint().text({x + kGlyphWidth, area.y + 35}, {Face::Sans, type::body}, t.ink2, name);
    x += area.w / 2;
  }
}

}  // namespace

void OpeningPicture::take_up(const Lesson& lesson, const Changes& changes) {
  if (lesson_ == &lesson && changes_ == changes) return;
  lesson_ = &lesson;
  changes_ = changes;
  view_ = {};
  for (const OpeningRun& opening : lesson.opening) {
    RunView run;
    run.letter = opening.run[0];
    run.name = lesson.run(opening.run)->name;
    run.spec = std::make_shared<const RunSpec>(spec_of(lesson, opening.run, 1, changes));
    // A scale whose start is measured on a first batch has no value before it.
    const view::Stacks stacks = view::stacks_of(run.spec->model);
    for (const view::Side side : {view::Side::Encoder, view::Side::Main}) {
      if (side == view::Side::Encoder && !stacks.both) continue;
      const view::Stack stack = stacks.of(side);
      for (int layer = 0; layer < stack.layers(); ++layer)
        for (const view::Sub sub : stack.subs()) {
          const Wiring& wiring = view::wiring_of(stack.wiring, layer, sub);
          const Scale& skip = wiring.skip;
          const float start =
              wiring.branch.kind == Scale::Kind::Toward ? 1 - wiring.branch.value : skip.value;
          run.skip_scales.push_back(
              skip.profile == Scale::Profile::None ? start : std::numeric_limits<float>::quiet_NaN());
        }
    }
    view_.runs.push_back(std::move(run));
  }
}

void OpeningPicture::add_numbers(const Lesson& lesson, const MeasureState* measured) {
  data_.begin_frame();
  for (size_t i = 0; i < view_.runs.size(); ++i) {
    view_.runs[i].history = nullptr;
    if (!measured) continue;
    const auto it = measured->histories.find(lesson.opening[i].run);
    if (it != measured->histories.end() && it->second->last_step() > 0) view_.runs[i].history = it->second;
  }
}

void OpeningPicture::draw(Ui& ui, const Rect& room, const Lesson& lesson, const Changes& changes,
                          const MeasureState* measured) {
  take_up(lesson, changes);
  add_numbers(lesson, measured);
  std::vector<One> all;
  for (size_t i = 0; i < lesson.opening.size(); ++i) {
    const ModelConfig& model = view_.runs[i].spec->model;
    const auto place = opening_place(model, lesson.opening[i].slot);
    if (place) all.push_back({lesson.opening[i], view_.runs[i], view::stacks_of(model), *place});
  }
  if (all.empty()) return;
  const float width = std::min((room.w - kBetween) / 2, 260.f);
  const auto wide = [&](const One& one) { return one.stacks.both ? room.w : width; };
  const auto needed = [&](bool opened) {
    float most = 0;
    for (const One& one : all) most = std::max(most, height_of(one, wide(one), opened));
    return most;
  };
  const float free = room.h - kName, open = needed(true), closed = needed(false);
  const bool opened = open <= free, whole = width >= kNarrowest && closed <= free;
  if (!whole && kGlyphHeight > free) return;
  const float high = whole ? std::min(free, (opened ? open : closed) + kSpare) : kGlyphHeight;

  Painter& p = ui.paint();
  std::string lit;
  float x = room.x;
  for (const One& one : all) {
    const int letter = one.run.letter - 'A';
    const Rect area{x, room.y + kName, wide(one), high};
    tile(ui, {x, room.y, 18, 18}, letter);
    const TextStyle name{Face::Bold, type::body};
    p.text_in({x + 26, room.y, area.w - 26, 18}, name, ui.theme().ink,
              fitting(p, name, area.w - 26, {one.run.name, ""}));
    if (whole)
      paint_one(ui, one, area, opened, view_, data_);
    else
      draw_glyphs(ui, area, one, *lesson.words);
    lit += fmt::format("{}{}: {}", lit.empty() ? "" : ", ", one.opening.run, one.opening.slot);
    x = area.right() + kBetween;
  }
  ui.mark("lesson/opening", {room.x, room.y, room.w, kName + high}, lit,
          lesson.words->tr(
              "The wiring of the runs, in small: flow goes up. Ringed: the place that matters. Bars: "
              "gradients."));
}

using namespace ui;
using namespace course;

namespace {

constexpr float kFade = 36, kBoxPad = 16;

/// Fades the page where it continues past its edge, so that no line is cut in half.
void fade_out(Painter& p, const Rect& edge, Colour to, bool downwards) {
  constexpr int kSteps = 12;  // one over the other
  const float step = edge.h / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const float gone = step * static_cast<float>(i);
    p.fill({edge.x, downwards ? edge.y + gone : edge.y, edge.w, edge.h - gone}, to.alpha(0.3f));
  }
}

/// Draws the scroll bar: the share of the page that is seen, and where.
void draw_bar(Ui& ui, float right, float y, float room, float high, float at, float furthest) {
  if (furthest <= 0) return;
  const float bar = high * high / (high + furthest);
  ui.paint().fill({right - 8, y + (room - bar) * at / furthest, 4, bar}, ui.theme().control, 2);
}

}  // namespace

// Controls scrolled out of sight do not answer the mouse; the keyboard reaches them and scrolls them into sight.
// ImGui restores its clip rectangle from its own stack, so this clip goes around a painter's, never inside one.
HandsWithin::HandsWithin(const Ui& ui, const Rect& seen) {
  const float s = ui.scale();
  ImGui::PushClipRect({seen.x * s, seen.y * s}, {seen.right() * s, seen.bottom() * s}, true);
}
HandsWithin::~HandsWithin() { ImGui::PopClipRect(); }

TextColumn::TextColumn(Ui& ui, Rect& room, LessonContext& context, Of of, std::string task)
    : flow(context.flow()), ui_(ui), context_(context), of_(of), task_(std::move(task)) {
  // Of the smallest window, 1024 wide, a phone shows 520: on one side the text, on the other what is in the figure.
  const float narrow = std::max(440.f, 476 - (ui.size().x - 1024));
  const bool compact = context.compact();
  rect_ = room.take_left(compact ? narrow : 600.f, compact ? 6 : space::gap);
  panel(ui, rect_, {});
  ui.mark("lesson/text", rect_, context.lesson.title, context.tr("The text of the step."));
  const float width = std::min(520.f, rect_.w - 48), top = compact ? 14.f : 30.f;
  rest = {rect_.x + (rect_.w - width) / 2, rect_.y + top, width, 10000};
  const float box = task_.empty() ? 0 : box_height(task_), height = context.scroll.text_height;
  pinned_ = !task_.empty() && top + height + 18 + box + 12 > rect_.h;
  seen = rect_.inset(1);
  if (pinned_) seen.h -= box + 22;
  room_ = seen.h - top;
  furthest_ = std::max(0.f, height + (pinned_ ? 8.f : 16.f) - room_);
  context.scroll.move(ui, rect_, room_, furthest_);
  if (of == Of::Controls) hands_.emplace(ui, seen);
  ui.paint().push_clip(seen);
  rest.y = from_ = rest.y - context.scroll.at;
  flow.seen = of == Of::Prose && context.scroll.readable.h > 0 ? context.scroll.readable : seen;
  flow.used = &used_;
  if (of == Of::Prose) flow.formulas = &formulas_;
}

void TextColumn::head(Head kind) {
  Painter& p = ui_.paint();
  const Theme& t = ui_.theme();
  const Lesson& lesson = context_.lesson;
  const bool compact = context_.compact(), task = kind == Head::Challenge;
  p.text_in(rest.take_top(20, 4), {Face::Sans, type::body}, t.ink3,
            context_.tr(
                task ? "Challenge of lesson {number}, about {minutes} minutes"
                     : "Lesson {number}, about {minutes} minutes",
                {{"number", lesson.number}, {"minutes", task ? lesson.challenge->minutes : lesson.minutes}}));
  const TextStyle big{Face::Bold, compact ? 22.f : type::lesson};
  rest.take_top(p.text_wrapped(rest, big, t.ink, lesson.title, big.px * 1.3f), 10);
  if (kind == Head::Question) {
    rest.take_top(
        p.text_wrapped(rest, {Face::Sans, type::prose}, t.ink2, lesson.question, compact ? 24.f : 26.f),
        compact ? 8 : 12);
    p.hairline({rest.x, rest.y}, {rest.right(), rest.y}, t.border);
    rest.take_top(compact ? 12 : 18);
  } else if (!compact) {
    rest.take_top(8);
  }
}

void TextColumn::prose(const Prose& text) {
  KnobDrag dragged;
  rest.take_top(lesson_player::flow(ui_, rest, text, flow, true, &dragged));
  if (dragged.knob.empty()) return;
  const Knob& knob = *context_.lesson.knob(dragged.knob);
  context_.knobs[knob.id] =
      std::clamp(context_.knob_value(knob) + dragged.steps * knob.step, knob.low, knob.high);
}

float TextColumn::box_height(std::string_view text) const {
  return ui_.paint().wrapped_height(rest.w, {Face::Sans, type::run_name}, text,
                                    context_.compact() ? 22.f : 25.f) +
         52;
}

void TextColumn::draw_box(const Rect& box, std::string_view title, std::string_view text, Colour fill) {
  Painter& p = ui_.paint();
  p.fill(box, fill, radius::panel);
  Rect inside = box.inset(kBoxPad, 12);
  p.text_in(inside.take_top(22, 6), {Face::Bold, type::run_name}, ui_.theme().ink, title);
  p.text_wrapped(inside, {Face::Sans, type::run_name}, ui_.theme().ink, text,
                 context_.compact() ? 22.f : 25.f);
}

void TextColumn::box(std::string_view title, std::string_view text) {
  draw_box(rest.take_top(box_height(text), 10).inset(-kBoxPad, 0), title, text, ui_.theme().sunk);
}

void TextColumn::close(bool opening) {
  Painter& p = ui_.paint();
  const Theme& t = ui_.theme();
  if (of_ == Of::Prose && !context_.reference_error.empty())
    rest.take_top(
        p.text_wrapped(rest, {Face::Sans, type::body}, t.error, words::spoken(context_.reference_error), 18));
  context_.scroll.text_height = rest.y - from_;
  if (of_ == Of::Prose) draw_edges();
  p.pop_clip();
  hands_.reset();
  float end = rest.y;
  if (!task_.empty()) {
    const float y = pinned_ ? seen.bottom() + 8 : rest.y + 18;
    if (pinned_) p.hairline({seen.x, seen.bottom()}, {seen.right(), seen.bottom()}, t.border);
    const Rect box{rest.x - kBoxPad, y, rest.w + 2 * kBoxPad, box_height(task_)};
    draw_box(box, context_.tr("Your prediction"), task_, t.accent_soft);
    ui_.mark("lesson/task", box, task_, context_.tr("What is asked."));
    end = box.bottom();
  }
  if (opening) {
    const auto state = context_.state();
    context_.opening.draw(ui_, {rest.x, end + 26, rest.w, rect_.bottom() - end - 42}, context_.lesson,
                          context_.shown_changes(),
                          context_.locked() && context_.is_own(*state) ? state.get() : nullptr);
  }
  draw_bar(ui_, rect_.right(), rect_.y + 12, room_ - 12, room_, context_.scroll.at, furthest_);
}

/// Fades what continues past an edge; where a formula would be cut, the page ends above its line. A button scrolls on.
void TextColumn::draw_edges() {
  const Rect text = seen.inset(7, 0);  // within the round corners
  Scroll& scroll = context_.scroll;
  const bool above = scroll.at > 0, below = scroll.at < furthest_;
  const float first = text.y + (above ? kFade : 0), last = text.bottom() - (below ? kFade : 0);
  float from = first, to = last;
  for (bool moved = true; moved;) {  // one line may reach into the next
    moved = false;
    for (const Rect& formula : formulas_) {
      const bool at_top = above && formula.y < from && formula.bottom() > from;
      const bool at_end = below && formula.y < to && formula.bottom() > to;
      if (at_top) from = formula.bottom();
      if (at_end) to = formula.y;
      moved |= at_top || at_end;
    }
  }
  const std::string& help = context_.tr("The text of the step.");
  for (size_t i = 0; i < formulas_.size(); ++i)
    ui_.mark(fmt::format("lesson/formula/{}", i), formulas_[i], "", help);
  scroll.readable = {text.x, from, text.w, to - from};
  ui_.mark("lesson/readable", scroll.readable, "", help);
  const Colour panel = ui_.theme().panel;
  if (from > first)
    ui_.paint().fill({text.x, text.y, text.w, from - text.y}, panel);
  else if (above)
    fade_out(ui_.paint(), {text.x, text.y, text.w, kFade}, panel, false);
  if (to < last)
    ui_.paint().fill({text.x, to, text.w, text.bottom() - to}, panel);
  else if (below)
    fade_out(ui_.paint(), {text.x, last, text.w, kFade}, panel, true);
  if (below &&
      icon_button(ui_, "lesson/more", {seen.right() - 33, seen.bottom() - 28, 24, 24}, Icon::ChevronDown,
                  context_.tr("The text goes on: scroll, press PageDown or click."), {.quiet = true}))
    scroll.at += (to - seen.y) * 0.8f;
}

void draw_scrolled(Ui& ui, const Rect& rect, const Rect& room, LessonContext& context,
                   const std::function<float(float y)>& content) {
  Painter& p = ui.paint();
  Scroll& scroll = context.scroll;
  Rect seen = room;
  if (scroll.text_height > room.h) {  // a way on below, for whom no wheel is at hand
    const Rect foot = seen.take_bottom(26, 4);
    ButtonOptions more{.enabled = scroll.at + seen.h + 1 < scroll.text_height,
                       .quiet = true,
                       .icon = Icon::ChevronDown,
                       .style = {Face::Sans, type::body}};
    if (button(ui, "lesson/more", centred(foot.centre(), 150, 26), context.tr("More below"),
               context.tr("Moves on, as wheel, PageDown and PageUp do."), more))
      scroll.at += seen.h * 0.8f;
  }
  const float furthest = std::max(0.f, scroll.text_height - seen.h);
  scroll.move(ui, rect, seen.h, furthest);
  scroll.readable = seen;
  {
    const HandsWithin hands(ui, seen);
    p.push_clip(seen);
    scroll.text_height = content(seen.y - scroll.at);
    p.pop_clip();
  }
  draw_bar(ui, rect.right(), seen.y, seen.h, seen.h, scroll.at, furthest);
}

}  // namespace normscope::lesson_player
