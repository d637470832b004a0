// The list of kinds of a norm shows every kind that the engine knows, with kinds that belong together under one line.
// See diagram.h.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::diagram {
namespace {

using namespace ui;

constexpr float kWidth = 330, kRow = 27, kCaption = 19, kField = 30;

// Keeps the groups in the engine's order of their first kinds, with kinds of no group at the end.
std::vector<NormKind> ordered_kinds() {
  std::vector<std::string_view> groups;
  for (NormKind kind : kNormKinds) {
    const std::string_view group = view::kind_words(kind).group;
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  std::stable_partition(groups.begin(), groups.end(), [](std::string_view g) { return !g.empty(); });
  std::vector<NormKind> kinds;
  for (std::string_view group : groups)
    for (NormKind kind : kNormKinds)
      if (view::kind_words(kind).group == group) kinds.push_back(kind);
  return kinds;
}

Hit kind_row(Ui& ui, const Rect& row, NormKind kind, bool selected) {
  const view::KindWords& words = view::kind_words(kind);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  HitOptions options;
  options.tooltip = false;
  options.radius = radius::field;
  const Hit hit = ui.hit(fmt::format("diagram/kind/{}", kind == NormKind::None ? "off" : short_name(kind)),
                         row, selected ? "on" : "", fmt::format("{}: {}.", words.name, words.help), options);
  if (hit.hovered) p.fill(row, t.sunk, radius::field);
  Rect line = row.inset(6, 0);
  const Rect token = centred({line.x + 18, line.centre().y}, 36, 20);
  if (kind == NormKind::None) {
    p.dashed_outline(token, t.slot, line::outline, {3, 2.5f}, radius::token);
    p.text_in(token, {Face::Sans, type::tick}, t.ink3, words.token, Align::Centre);
  } else {
    p.accent_box(t, token, radius::token);
    p.text_in(token, {Face::Bold, type::tick}, t.on_accent, words.token, Align::Centre);
  }
  line.take_left(46);
  const float w = p.text_in(line, {selected ? Face::Bold : Face::Sans, type::body}, t.ink, words.name);
  line.take_left(std::max(w + 8, 96.f));
  p.text_in(line, {Face::Sans, type::tick}, t.ink3, words.help);
  return hit;
}

bool lock_row(Ui& ui, const Rect& row, bool locked) {
  ButtonOptions options;
  options.quiet = options.left = true;
  options.style = {Face::Sans, type::body};
  return button(ui, "diagram/kind/lock", row,
                tr(locked ? "Unlock this norm" : "Lock: it stays when others move"),
                tr("A locked norm stays where it is, whatever the others do. Key: L."), options);
}

bool epsilon_row(Ui& ui, const Rect& row, double& epsilon) {
  FieldOptions options;
  options.lo = 1e-12;
  options.hard_hi = options.log = true;
  options.format = [](double v) { return ui::significant(v, 3); };
  return field(ui, "diagram/kind/epsilon", row, tr("epsilon"), epsilon,
               tr("Added to the variance inside this norm, against division by zero; the model's own value "
                  "until another is set here. Alike norms follow, with Alt only this one changes."),
               options) == Change::Done;
}

}  // namespace

KindChoice kind_menu(Ui& ui, const Rect& anchor, NormKind now, bool locked, bool may_lock, double* epsilon) {
  KindChoice choice;
  const std::vector<NormKind> kinds = locked ? std::vector<NormKind>{} : ordered_kinds();
  const bool lockable = may_lock && now != NormKind::None;
  const bool divides = epsilon && !locked && now != NormKind::None && traits_of(now).has_statistics;
  float height =
      12 + kRow * static_cast<float>(kinds.size()) + (lockable ? kRow + 5 : 0) + (divides ? kField + 5 : 0);
  std::string_view group;
  for (NormKind kind : kinds)
    if (group != view::kind_words(kind).group) {
      group = view::kind_words(kind).group;
      height += group.empty() ? 5 : kCaption;
    }
  Rect box{std::min(anchor.x, ui.size().x - kWidth - 4), anchor.bottom() + 6, kWidth, height};
  box.y = std::max(4.f, std::min(box.y, ui.size().y - height - 4));
  if (!ui.begin_popup("diagram/kind", box)) return choice;
  Painter& p = ui.paint();
  Rect rows = box.inset(6);
  group = {};
  for (NormKind kind : kinds) {
    if (group != view::kind_words(kind).group) {
      group = view::kind_words(kind).group;
      if (group.empty())
        rows.take_top(5);
      else
        p.text_in(rows.take_top(kCaption).inset(6, 0), {Face::Sans, type::tick}, ui.theme().ink3, group);
    }
    const Hit hit = kind_row(ui, rows.take_top(kRow).inset(0, 1), kind, kind == now);
    if (hit.clicked) choice.kind = kind;
    if (hit.hovered) choice.hovered = kind;
  }
  if (divides) {
    rows.take_top(5);
    choice.epsilon = epsilon_row(ui, rows.take_top(kField), *epsilon);
  }
  if (lockable) {
    const float y = rows.take_top(5).centre().y;
    if (!kinds.empty()) p.hairline({rows.x + 6, y}, {rows.right() - 6, y}, ui.theme().border);
    choice.lock = lock_row(ui, rows.take_top(kRow).inset(0, 1), locked);
  }
  if (choice.kind || choice.epsilon || choice.lock) ui.close_popup();
  ui.end_popup();
  return choice;
}

}  // namespace normscope::diagram
