#include "app/lesson-player/lesson_context.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "app/course/tables.h"
#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/view/wiring_glyph.h"
#include "engine/model/residual.h"

namespace normscope::lessons {
using namespace course;
namespace {

using namespace ui;

constexpr float kName = 26, kBetween = 24;  // the run's name above its picture; the gap between two pictures
constexpr float kNarrowest = 183;           // in which every word of a stack has room
constexpr float kGlyphWidth = 86, kGlyphHeight = 46;
constexpr float kSpare = 36;  // height that may stay unused

/// One of the pictures: what is drawn, and what of it is lit.
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

/// Draws what fits a small room: the wiring of each stack.
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
  const Theme& t = ui.theme();
  std::string lit;
  float x = room.x;
  for (const One& one : all) {
    const int letter = one.run.letter - 'A';
    const Rect area{x, room.y + kName, wide(one), high};
    tile(ui, {x, room.y, 18, 18}, letter);
    const TextStyle name{Face::Bold, type::body};
    p.text_in({x + 26, room.y, area.w - 26, 18}, name, t.ink,
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

}  // namespace normscope::lessons
