// Buttons, tabs, segments, badges, tiles and panels, icons, and fields for numbers and text.
#include "app/ui/widgets.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <regex>

#include "app/words/words.h"

namespace normscope::ui {
namespace {

struct BoxStyle {
  Colour fill, border, ink;
  float border_width = 1;
};

BoxStyle button_box(const Theme& t, const ButtonOptions& o, const Hit& h) {
  BoxStyle b{t.panel, t.control, t.ink};
  if (o.primary) {
    b = {h.held      ? mix(t.accent, t.on_accent, 0.12f)
         : h.hovered ? mix(t.accent, rgb(0xFFFFFF), 0.25f)
                     : t.accent,
         t.accent_outline, t.on_accent, line::outline};
  } else if (h.held) {
    b.fill = t.trough;
  } else if (h.hovered) {
    b.fill = t.dark ? t.field : t.sunk;
  }
  if (o.quiet && !h.hovered && !h.held) b.fill.a = b.border.a = 0;
  if (o.selected) {
    b.border = t.ink;
    b.border_width = line::selected;
  }
  if (!o.enabled) b = {t.field, t.border, t.ink3.alpha(0.7f)};
  return b;
}

Hit button_frame(Ui& ui, std::string_view name, const Rect& r, std::string_view value, std::string_view help,
                 const ButtonOptions& o, BoxStyle& box) {
  Hit h =
      ui.hit(name, r, value, help, {.enabled = o.enabled, .selected = o.selected, .radius = radius::button});
  box = button_box(ui.theme(), o, h);
  ui.paint().fill(r, box.fill, radius::button);
  ui.paint().outline(r, box.border, box.border_width, radius::button);
  return h;
}

}  // namespace

namespace {
constexpr float kTwoLines = 30;  // px of a button that is high enough for a label in two lines
}

bool button(Ui& ui, std::string_view name, const Rect& r, std::string_view label, std::string_view help,
            const ButtonOptions& o) {
  BoxStyle box;
  Hit h = button_frame(ui, name, r, label, help, o, box);
  Rect inner = r.inset(8, 0);
  if (o.icon != Icon::None) {
    const float size = 14, gap = 6;
    float width = size + gap + ui.paint().text_width(o.style, label);
    float left = std::max(inner.x, r.centre().x - width / 2);
    draw_icon(ui.paint(), o.icon, {left + size / 2, r.centre().y}, size, box.ink);
    inner = {left + size + gap, r.y, inner.right() - left - size - gap, r.h};
    ui.paint().text_in(inner, o.style, box.ink, label);
  } else if (const size_t space = label.find(' ');
             space != label.npos && r.h >= kTwoLines && ui.paint().text_width(o.style, label) > inner.w) {
    const float line = kTwoLines / 2, top = r.centre().y - line;
    ui.paint().text_in({inner.x, top, inner.w, line}, o.style, box.ink, label.substr(0, space),
                       Align::Centre);
    ui.paint().text_in({inner.x, top + line, inner.w, line}, o.style, box.ink, label.substr(space + 1),
                       Align::Centre);
  } else {
    ui.paint().text_in(inner, o.style, box.ink, label, o.left ? Align::Left : Align::Centre);
  }
  return h.clicked;
}

bool icon_button(Ui& ui, std::string_view name, const Rect& r, Icon icon, std::string_view help,
                 const ButtonOptions& o, std::string_view value) {
  BoxStyle box;
  Hit h = button_frame(ui, name, r, value, help, o, box);
  draw_icon(ui.paint(), icon, r.centre(), std::min(r.w, r.h) * (o.primary ? 0.46f : 0.52f), box.ink);
  return h.clicked;
}

bool tab(Ui& ui, std::string_view name, const Rect& r, std::string_view label, std::string_view key_hint,
         bool selected, std::string_view help) {
  const Theme& t = ui.theme();
  Hit h = ui.hit(name, r, selected ? "selected" : "", help, {.selected = selected, .radius = radius::field});
  TextStyle style{selected ? Face::Bold : Face::Sans, type::title};
  Painter& p = ui.paint();
  float width = p.text_width(style, label);
  float hint = key_hint.empty() ? 0 : 7 + p.text_width({Face::Mono, type::tick}, key_hint);
  Rect text = centred(r.centre(), width + hint, r.h);
  p.text_in(text, style, selected || h.hovered ? t.ink : t.ink2, label);
  if (hint > 0) {
    text.take_left(width + 7);
    p.text_in(text.inset(-1, 0), {Face::Mono, type::tick}, t.ink3, key_hint, Align::Right);
  }
  if (selected) {
    Rect under{r.x, r.bottom() - 4, r.w, 4};
    p.fill(under, t.accent);
    if (!t.dark) p.hairline({under.x, under.y}, {under.right(), under.y}, t.ink);
  }
  return h.clicked;
}

std::string_view shown_label(std::string_view name) {
  const std::string* label = words::of_window().find(fmt::format("controls.label.{}", name));
  return label ? std::string_view(*label) : name;
}

std::vector<words::Label> labels_of(const std::vector<std::string>& names) {
  std::vector<words::Label> labels;
  for (const std::string& name : names) labels.push_back({name, std::string(shown_label(name))});
  return labels;
}

float segmented_width(Ui& ui, std::span<const words::Label> labels) {
  float width = 4;
  for (const words::Label& label : labels)
    width += ui.paint().text_width({Face::Bold, type::body}, label.shown) + 22;
  return width;
}

bool segmented(Ui& ui, std::string_view name, const Rect& r, std::span<const words::Label> labels,
               int& selected, std::string_view help, std::span<const std::string> helps,
               std::span<const std::string> refusals) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  HitOptions outer{.arrows = Arrows::Either, .overlap = true, .tooltip = false};
  const std::string_view now =
      selected >= 0 && selected < int(labels.size()) ? std::string_view(labels[selected].name) : "";
  Hit box = ui.hit(name, r, now, help, outer);
  p.fill(r, t.field, 6);
  p.outline(r, t.control, 1, 6);
  const int before = selected, count = int(labels.size());
  const auto refusal = [&](int i) {
    return size_t(i) < refusals.size() ? std::string_view(refusals[size_t(i)]) : std::string_view{};
  };
  int move = box.arrow_x - box.arrow_y;
  if (move && count) {
    const int by = move > 0 ? 1 : -1;  // past refused segments
    for (int next = selected < 0 ? 0 : selected + by; next >= 0 && next < count; next += by)
      if (refusal(next).empty() && !ui.held(std::string(name) + "/" + labels[next].name)) {
        selected = next;
        break;
      }
  }

  std::vector<float> widths;
  for (const words::Label& label : labels)
    widths.push_back(p.text_width({Face::Bold, type::body}, label.shown));
  float spare = r.w - 4 - std::accumulate(widths.begin(), widths.end(), 0.f);
  float pad = count ? spare / float(count) : 0;
  Rect rest = r.inset(2);
  for (int i = 0; i < count; ++i) {
    Rect segment = rest.take_left(widths[i] + pad);
    HitOptions inner{.enabled = refusal(i).empty(), .focusable = false};
    const std::string_view own = !inner.enabled             ? refusal(i)
                                 : size_t(i) < helps.size() ? std::string_view(helps[size_t(i)])
                                                            : help;
    Hit h = ui.hit(std::string(name) + "/" + labels[i].name, segment, i == selected ? "on" : "", own, inner);
    if (h.clicked) selected = i;
    if (i == selected)
      p.fill(segment, t.inverse, 5);
    else if (h.hovered && inner.enabled)
      p.fill(segment, t.trough, 5);
    TextStyle style{i == selected ? Face::Bold : Face::Sans, type::body};
    p.text_in(segment, style,
              i == selected   ? t.on_inverse
              : inner.enabled ? t.ink2
                              : t.control,
              labels[i].shown, Align::Centre);
  }
  return selected != before;
}

float badge_width(Ui& ui, std::string_view text, Icon icon, bool compact) {
  TextStyle style{Face::Bold, compact ? type::tick : type::body};
  float height = compact ? badge_height_compact : badge_height;
  return ui.paint().text_width(style, text) + (icon == Icon::None ? 0 : height * 0.6f + 5) + height * 0.8f;
}

float badge(Ui& ui, Vec at, std::string_view text, BadgeKind kind, Icon icon, bool compact, float flash) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  float height = compact ? badge_height_compact : badge_height;
  Rect r{at.x, at.y, badge_width(ui, text, icon, compact), height};
  bool filled = kind != BadgeKind::Outline;
  Colour ink = filled ? t.on_inverse : t.ink;
  if (filled)
    p.fill(r, t.inverse, height / 2);
  else
    p.outline(r, t.strong, 1, height / 2);
  if (flash > 0) p.outline(r.inset(-2), t.ink.alpha(flash), 2, height / 2 + 2);
  Rect inner = r.inset(height * 0.4f, 0);
  if (icon != Icon::None) {
    float size = height * 0.6f;
    draw_icon(p, icon, {inner.x + size / 2, r.centre().y}, size, ink);
    inner.take_left(size + 5);
  }
  p.text_in(inner, {Face::Bold, compact ? type::tick : type::body}, ink, text);
  return r.w;
}

void tile(Painter& p, const Theme& t, const Rect& r, int run, bool dashed) {
  const RunLook& look = t.runs[run];
  const std::string letter(1, look.letter);
  // The pictures have a 16 px letter on 30 px and 11 px on 16 px; the size is the nearest below in the table.
  TextStyle style{Face::Bold, type::tick};
  for (const float px : type::sizes)
    if (px <= 7.f + r.h * 0.3f) style.px = px;
  if (dashed) {
    p.dashed_outline(r, look.text, 1.5f, {3, 2}, radius::tile);
    p.text_in(r, style, look.text, letter, Align::Centre);
  } else {
    p.fill(r, look.tile, radius::tile);
    p.text_in(r, style, look.tile_letter, letter, Align::Centre);
  }
}

bool tile_button(Ui& ui, std::string_view name, const Rect& r, int run, bool selected,
                 std::string_view help) {
  Hit h = ui.hit(name, r, selected ? "selected" : "", help, {.selected = selected, .radius = radius::tile});
  tile(ui, r, run);
  if (selected)
    ui.paint().outline(r.inset(-4), ui.theme().ink, line::selected, radius::tile + 3);
  else if (h.hovered)
    ui.paint().outline(r.inset(-4), ui.theme().control, 1, radius::tile + 3);
  return h.clicked;
}

void depth_square(Ui& ui, const Rect& r, int layer, int layers) {
  ui.paint().fill(r, depth_colour(ui.theme(), layer, layers), 2);
}

std::string fitting(const Painter& p, TextStyle style, float width,
                    std::initializer_list<std::string> texts) {
  for (const std::string& text : texts)
    if (p.text_width(style, text) <= width) return text;
  return "";
}

std::string behind_title(const Painter& p, float room, std::string_view question, std::string_view brief,
                         std::string_view note) {
  const TextStyle style{Face::Sans, type::body};
  const auto joined = [&](std::string_view first) {
    return std::string(first) + (first.empty() || note.empty() ? "" : "   ") + std::string(note);
  };
  for (const std::string& text :
       {joined(question), std::string(question), std::string(brief), std::string(note)})
    if (!text.empty() && p.text_width(style, text) <= room) return text;
  return "";
}

bool text_whole(Ui& ui, const Rect& room, Colour ink, const std::string& text, Align align) {
  constexpr float kLine = 15;
  Painter& p = ui.paint();
  const TextStyle line{Face::Sans, type::body}, small{Face::Sans, type::tick};
  if (p.text_width(line, text) <= room.w) {
    p.text_in(room, line, ink, text, align);
    return true;
  }
  std::vector<std::string> lines = p.wrap(room.w, small, text);
  const bool whole = lines.size() <= 2;
  // A path is long, and the reason stands behind it.
  if (!whole) lines = p.wrap(room.w, small, p.fit_words(small, text, room.w / 3));
  for (size_t i = 2; i < lines.size(); ++i) lines[1] += " " + lines[i];
  lines.resize(std::min<size_t>(lines.size(), 2));
  Rect rest{room.x, room.y + (room.h - kLine * static_cast<float>(lines.size())) / 2, room.w, room.h};
  for (const std::string& each : lines) p.text_in(rest.take_top(kLine), small, ink, each);
  return whole;
}

Rect panel(Ui& ui, const Rect& r, const PanelOptions& o) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  p.fill(r, o.raised ? t.raised : t.panel, radius::panel);
  p.outline(r, t.border, line::border, radius::panel);
  Rect content = r.inset(space::pad, 0);
  content.h -= space::pad * 0.6f;
  if (!o.title.empty()) {
    Rect row = content.take_top(space::title_row);
    row.take_right(o.right);
    const TextStyle title{Face::Bold, type::title}, note{Face::Sans, type::body};
    float width = p.text_in(row, title, t.ink, o.title);
    const std::string name = o.term.empty() ? "title/" + o.title : "title/term/" + o.term;
    if (!ui.registry().find(name))
      ui.mark(name, {row.x, row.y, width, row.h}, o.title, tr("The title of a panel."));
    row.take_left(width + 12);
    if (const std::string behind = behind_title(p, row.w, o.question, o.brief, o.note); !behind.empty())
      p.text_in(row, note, t.ink3, behind);
  } else {
    content.take_top(space::pad * 0.6f);
  }
  if (!o.sentence.empty()) {
    Rect row = content.take_top(space::sentence_row);
    p.text_in(row.moved(0, -7), {Face::Sans, type::body}, t.ink2, o.sentence);
  }
  return content;
}

void colour_scale(Painter& p, const Rect& bar, int pieces, bool to_ends,
                  const std::function<Colour(float share)>& colour) {
  const auto n = static_cast<float>(pieces);
  for (int i = 0; i < pieces; ++i) {
    const auto at = static_cast<float>(i);
    const float share = to_ends ? at / (n - 1) : (at + 0.5f) / n;
    if (bar.h > bar.w)
      p.fill({bar.x, bar.y + bar.h / n * at, bar.w, bar.h / n + 0.5f}, colour(1 - share));
    else
      p.fill({bar.x + bar.w * at / n, bar.y, bar.w / n + 0.5f, bar.h}, colour(share));
  }
}

void spotlight(Painter& p, const Theme& t, const Rect& rect) {
  for (const auto& [out, alpha] : {std::pair{2.f, 0.9f}, std::pair{5.f, 0.4f}})
    p.outline(rect.inset(-out), t.accent.alpha(alpha), 3, 8 + out);
}

ScreenRoom screen_room(const Rect& area, Size size) {
  const bool compact = size == Size::Compact;
  const float margin = compact ? 8 : space::margin, gap = compact ? 6 : space::gap;
  Rect rest = area;
  const Rect bar = rest.take_bottom(compact ? 50.f : 76.f);
  return {bar, rest.inset(margin, gap), gap};
}

void flag(Painter& p, const Theme& t, const Rect& track, float x, const std::string& text) {
  const float w = std::max(34.f, p.text_width({Face::MonoMedium, type::body}, text) + 14);
  const Rect box{std::clamp(x - w / 2, track.x - 8, track.right() - w + 8), track.y - 30, w, 18};
  p.line({x, box.bottom()}, {x, track.centre().y + 9}, t.ink, 1.6f);
  p.accent_box(t, box, 4);
  p.text_in(box, {Face::MonoMedium, type::body}, t.on_accent, text, Align::Centre);
}

// The icons are drawn as shapes, without an icon font. widgets.h declares them.

namespace {

constexpr float pi = std::numbers::pi_v<float>;

// A triangle pointing right (dir 1) or left (dir -1), its middle at c.
void arrowhead(Painter& p, Vec c, float half, float dir, Colour colour) {
  Vec tip{c.x + dir * half, c.y}, up{c.x - dir * half, c.y - half * 1.15f},
      down{c.x - dir * half, c.y + half * 1.15f};
  const Vec points[] = {dir > 0 ? up : down, tip, dir > 0 ? down : up};
  p.polygon(points, colour);
}

void chevron(Painter& p, Vec c, float s, bool down, Colour colour) {
  float a = s * 0.28f, b = s * 0.16f;
  const Vec right_points[] = {{c.x - b, c.y - a}, {c.x + b, c.y}, {c.x - b, c.y + a}};
  const Vec down_points[] = {{c.x - a, c.y - b}, {c.x, c.y + b}, {c.x + a, c.y - b}};
  p.polyline(down ? std::span<const Vec>(down_points) : std::span<const Vec>(right_points), colour,
             s * 0.11f);
}

void half_disc(Painter& p, Vec c, float s, Colour colour) {
  float r = s * 0.4f;
  p.ring(c, r, colour, s * 0.1f);
  std::vector<Vec> half;
  for (int i = 0; i <= 16; ++i) {
    float angle = -pi / 2 + pi * float(i) / 16;
    half.push_back(c + Vec{std::cos(angle), std::sin(angle)} * r);
  }
  p.polygon(half, colour);
}

// A falling line that ends in an arrow: the loss goes down.
void falling(Painter& p, Vec c, float s, Colour colour) {
  float w = s * 0.13f;
  const Vec path[] = {{c.x - s * 0.42f, c.y - s * 0.30f},
                      {c.x - s * 0.12f, c.y + s * 0.02f},
                      {c.x + s * 0.04f, c.y - s * 0.06f},
                      {c.x + s * 0.36f, c.y + s * 0.30f}};
  const Vec head[] = {{c.x + s * 0.42f, c.y + s * 0.02f},
                      {c.x + s * 0.40f, c.y + s * 0.34f},
                      {c.x + s * 0.08f, c.y + s * 0.34f}};
  p.polyline(path, colour, w);
  p.polyline(head, colour, w);
}

void bookmark(Painter& p, Vec c, float s, Colour colour) {
  float w = s * 0.28f, h = s * 0.42f;
  const Vec left[] = {{c.x - w, c.y - h}, {c.x, c.y - h}, {c.x, c.y + h * 0.45f}, {c.x - w, c.y + h}};
  const Vec right[] = {{c.x, c.y - h}, {c.x + w, c.y - h}, {c.x + w, c.y + h}, {c.x, c.y + h * 0.45f}};
  p.polygon(left, colour);
  p.polygon(right, colour);
}

void undo(Painter& p, Vec c, float s, Colour colour) {
  p.arc({c.x, c.y + s * 0.06f}, s * 0.3f, -pi * 0.8f, pi * 0.55f, colour, s * 0.1f);
  arrowhead(p, {c.x - s * 0.3f, c.y - s * 0.1f}, s * 0.16f, -1, colour);
}

// A circular arrow, almost a whole turn.
void restart(Painter& p, Vec c, float s, Colour colour) {
  p.arc(c, s * 0.32f, -pi * 0.25f, pi * 1.4f, colour, s * 0.1f);
  arrowhead(p, {c.x + s * 0.26f, c.y - s * 0.3f}, s * 0.17f, 1, colour);
}

void file(Painter& p, Vec c, float s, Colour colour) {
  float w = s * 0.28f, h = s * 0.38f, fold = s * 0.2f;
  const Vec path[] = {{c.x - w, c.y - h},
                      {c.x + w - fold, c.y - h},
                      {c.x + w, c.y - h + fold},
                      {c.x + w, c.y + h},
                      {c.x - w, c.y + h}};
  p.polyline(path, colour, s * 0.09f, true);
}

}  // namespace

void draw_icon(Painter& p, Icon icon, Vec c, float s, Colour colour) {
  switch (icon) {
    case Icon::None:
      break;
    case Icon::Play:
      return arrowhead(p, {c.x + s * 0.05f, c.y}, s * 0.38f, 1, colour);
    case Icon::Pause:
      p.fill(centred({c.x - s * 0.2f, c.y}, s * 0.2f, s * 0.8f), colour, 1);
      p.fill(centred({c.x + s * 0.2f, c.y}, s * 0.2f, s * 0.8f), colour, 1);
      break;
    case Icon::Step:
      arrowhead(p, {c.x - s * 0.08f, c.y}, s * 0.32f, 1, colour);
      p.line({c.x + s * 0.34f, c.y - s * 0.37f}, {c.x + s * 0.34f, c.y + s * 0.37f}, colour, s * 0.17f);
      break;
    case Icon::First:
      arrowhead(p, {c.x + s * 0.08f, c.y}, s * 0.32f, -1, colour);
      p.line({c.x - s * 0.34f, c.y - s * 0.37f}, {c.x - s * 0.34f, c.y + s * 0.37f}, colour, s * 0.17f);
      break;
    case Icon::Reset:
      return restart(p, c, s, colour);
    case Icon::Theme:
      return half_disc(p, c, s, colour);
    case Icon::Help:
      p.text_in(centred(c, s, s), {Face::Bold, type::title}, colour, "?", Align::Centre);
      break;
    case Icon::Search:
      p.ring({c.x - s * 0.07f, c.y - s * 0.07f}, s * 0.29f, colour, s * 0.1f);
      p.line({c.x + s * 0.14f, c.y + s * 0.14f}, {c.x + s * 0.38f, c.y + s * 0.38f}, colour, s * 0.11f);
      break;
    case Icon::ChevronRight:
      return chevron(p, c, s, false, colour);
    case Icon::ChevronDown:
      return chevron(p, c, s, true, colour);
    case Icon::Undo:
      return undo(p, c, s, colour);
    case Icon::Close:
      p.line({c.x - s * 0.26f, c.y - s * 0.26f}, {c.x + s * 0.26f, c.y + s * 0.26f}, colour, s * 0.11f);
      p.line({c.x - s * 0.26f, c.y + s * 0.26f}, {c.x + s * 0.26f, c.y - s * 0.26f}, colour, s * 0.11f);
      break;
    case Icon::Bookmark:
      return bookmark(p, c, s, colour);
    case Icon::Minus:
      p.line({c.x - s * 0.42f, c.y}, {c.x + s * 0.42f, c.y}, colour, s * 0.19f);
      break;
    case Icon::Learning:
      return falling(p, c, s, colour);
    case Icon::File:
      return file(p, c, s, colour);
  }
}

// Controls that can be typed into or chosen from: number field, text field, choice, row.

namespace {

enum class Typing { GoingOn, Done, Cancelled };

// Draws the text box of the control that is being edited, over `r`. Enter, Tab and a click elsewhere
// commit, Escape cancels.
Typing edit_text(Ui& ui, const Rect& r, TextStyle style) {
  Ui::Edit& edit = ui.edit();
  const float scale = ui.scale();
  const Fonts::Entry& face = ui.fonts()[style.face];
  const float size = style.px * face.factor;
  ImGui::PushFont(face.font, size);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(0, std::max(0.f, (r.h * scale - ImGui::GetFontSize()) / 2)));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.f);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImU32(0));
  ImGui::SetCursorScreenPos({r.x * scale, r.y * scale});
  ImGui::SetNextItemWidth(r.w * scale);
  // While a mouse button is down, the box waits, or it would take the keyboard from the control that is being pressed.
  const bool waits = edit.fresh && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (edit.fresh && !waits) ImGui::SetKeyboardFocusHere();
  const ImGuiID id = ImGui::GetID("##edit");
  if (edit.reload && ImGui::GetActiveID() == id)
    if (ImGuiInputTextState* typed = ImGui::GetInputTextState(id)) {
      typed->ReloadUserBufAndMoveToEnd();
      edit.reload = false;
    }
  const ImGuiInputTextFlags secret = edit.secret ? ImGuiInputTextFlags_Password : ImGuiInputTextFlags_None;
  ImGui::InputText("##edit", &edit.buffer, ImGuiInputTextFlags_AutoSelectAll | secret);
  bool left = ImGui::IsItemDeactivated() && !edit.fresh;
  edit.fresh = waits;
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) return Typing::Cancelled;
  if (left || (!edit.tab && ImGui::IsKeyPressed(ImGuiKey_Tab, false))) return Typing::Done;
  return Typing::GoingOn;
}

void begin_edit(Ui& ui, std::string_view name, std::string text) {
  ui.edit() = {std::string(name), std::move(text), true};
}

std::string field_text(const FieldOptions& o, double v) { return o.format ? o.format(v) : number(v, 4); }

double least_of(const FieldOptions& o) { return std::isnan(o.least) ? o.lo : o.least; }

// Keeps a moved value within what is possible (`track`: within the track), and rounds it in an integer field.
double limited(const FieldOptions& o, double v, bool track) {
  v = std::clamp(v, track ? std::max(o.lo, least_of(o)) : least_of(o),
                 track ? std::min(o.hi, o.most) : o.most);
  return o.integer ? std::round(v) : v;
}

// Rounds a dragged value: to whole steps, or to two digits on a logarithmic track.
double rounded_drag(const FieldOptions& o, double v) {
  if (!o.log) return o.step > 0 ? o.lo + std::round((v - o.lo) / o.step) * o.step : v;
  double unit = std::pow(10, std::floor(std::log10(v)) - 1);
  return std::round(v / unit) * unit;
}

// The next of 1, 2, 5, 10 ... above or below v.
double log_step(double v, int direction) {
  double decade = std::pow(10, std::floor(std::log10(v) + 1e-9));
  double m = v / decade;
  const double up[] = {2, 5, 10}, down[] = {0.5, 1, 2, 5};
  if (direction > 0) {
    for (double u : up)
      if (m < u - 1e-9) return u * decade;
    return 20 * decade;
  }
  for (int i = 3; i >= 0; --i)
    if (m > down[i] + 1e-9) return down[i] * decade;
  return 0.2 * decade;
}

// Draws box, label and note at the left and unit at the right, and returns the rectangle of the value between them. The
// value always fits: a narrow field omits the note first, then the unit, then the end of the label.
Rect field_frame(Ui& ui, const Rect& r, std::string_view label, std::string_view note, std::string_view unit,
                 float value_width, bool strong_border, bool enabled) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  p.fill(r, t.field, radius::field);
  p.outline(r, strong_border ? t.ink3 : t.control, 1, radius::field);
  constexpr float gap = 8, unit_gap = 6;
  const TextStyle body{Face::Sans, type::body}, small{Face::Sans, type::tick};
  const float label_width = label.empty() ? 0 : p.text_width(body, label) + gap;
  Rect inner = r.inset(std::clamp((r.w - value_width) / 2, 2.f, 9.f), 0);
  const float unit_width = p.text_width(small, unit);
  if (!unit.empty() && label_width + value_width + unit_gap + unit_width <= inner.w)
    p.text_in(inner.take_right(unit_width, unit_gap), small, t.ink3, unit, Align::Right);
  const float room = std::max(0.f, inner.w - value_width - gap);
  if (!label.empty() && room > 0) {
    Rect place = inner;
    place.w = std::min(label_width - gap, room);
    inner.take_left(p.text_in(place, body, enabled ? t.ink2 : t.ink3, label), gap);
  }
  if (!note.empty() && p.text_width(small, note) + gap + value_width <= inner.w)
    inner.take_left(p.text_in(inner, small, t.ink3, note), gap);
  return inner;
}

/// A typed number, taken apart: the digits between the signs that separate them.
struct TypedParts {
  bool sound = false;
  std::string sign, exponent;       // "-", "e-5"
  std::vector<std::string> groups;  // of digits
  std::string signs;                // what separates them: ',' '.' ' ' '\''
};

TypedParts parts_of(std::string_view typed) {
  std::string text(typed);
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  };
  for (const char* space : {"\u2009", "\u202F", "\u00A0"}) replace(space, " ");
  replace("\u2019", "'");
  replace("\u2212", "-");
  const bool has_power = text.find("10⁻") != text.npos || text.find("×10") != text.npos;
  constexpr std::string_view kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (has_power) {  // as a field shows it: 3.1×10⁻⁷, 10⁻⁶
    replace("×10", "e");
    replace("10⁻", "1e-");
    replace("⁻", "-");
    for (size_t digit = 0; digit < std::size(kRaised); ++digit)
      replace(kRaised[digit], std::to_string(digit));
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  text.erase(0, text.find_first_not_of(' '));
  static const std::regex form(R"(([-+]?) ?(\d*(?:[,. ']\d+)*)([eE][-+]?\d{1,5})?)");
  TypedParts parts;
  std::smatch found;
  if (text.size() > 60 || !std::regex_match(text, found, form) || found[2].length() == 0) return parts;
  parts = {.sound = true, .sign = found[1], .exponent = found[3], .groups = {""}, .signs = ""};
  for (const char c : found[2].str())
    if (c >= '0' && c <= '9') {
      parts.groups.back() += c;
    } else {
      parts.signs += c;
      parts.groups.emplace_back();
    }
  return parts;
}

// Whether the digits are grouped as in 16 000: one to three, which do not begin with 0, and three in each later group.
bool in_threes(const std::vector<std::string>& groups) {
  const std::string& first = groups.front();
  return !first.empty() && first.size() <= 3 && first[0] != '0' &&
         std::all_of(groups.begin() + 1, groups.end(), [](const std::string& g) { return g.size() == 3; });
}

// Why a field does not take what was typed, or "" where it takes it.
std::string refusal_of(const FieldOptions& o, std::string_view typed, const Typed& read) {
  const words::Place text{"text", std::string(typed)};
  switch (read.kind) {
    case Typed::Kind::Nonsense:
      return tr("“{text}” is no number.", {text});
    case Typed::Kind::Fraction:
      return tr("“{text}” is no whole number, and only whole numbers are possible here.", {text});
    case Typed::Kind::TwoMeanings:
      return tr("“{text}” can mean {one} or {other}: write it without a sign between the thousands.",
                {text, {"one", number(read.value, 9)}, {"other", number(read.value / 1000, 9)}});
    case Typed::Kind::Number:
      break;
  }
  if (read.value < least_of(o))
    return tr("{value} is too little: the least that is possible here is {least}.",
              {{"value", number(read.value, 6)}, {"least", field_text(o, least_of(o))}});
  if (read.value > o.most)
    return tr("{value} is too much: the most that is possible here is {most}.",
              {{"value", number(read.value, 6)}, {"most", field_text(o, o.most)}});
  return "";
}

}  // namespace

Typed typed_number(std::string_view typed, bool whole) {
  const TypedParts parts = parts_of(typed);
  if (!parts.sound) return {};
  const auto read = [&](std::string digits) {
    const double value = std::strtod((parts.sign + digits + parts.exponent).c_str(), nullptr);
    if (!std::isfinite(value)) return Typed{};
    return Typed{whole && value != std::round(value) ? Typed::Kind::Fraction : Typed::Kind::Number, value};
  };
  std::string all;
  for (const std::string& group : parts.groups) all += group;
  const std::string& signs = parts.signs;
  const bool grouped =
      in_threes(parts.groups) && signs.find_first_not_of(signs.substr(0, 1)) == std::string::npos;
  if (signs.empty()) return read(all);
  const char last = signs.back();
  const bool may_be_decimal = (last == ',' || last == '.') && signs.find(last) + 1 == signs.size();
  if (!may_be_decimal) return grouped ? read(all) : Typed{};
  const std::vector<std::string> whole_part(parts.groups.begin(), parts.groups.end() - 1);
  const std::string decimals = parts.groups.back(),
                    decimal = all.substr(0, all.size() - decimals.size()) + "." + decimals;
  if (signs.size() > 1) {  // "1.000,5": what stands before the decimals is grouped by one other sign
    const bool sound = in_threes(whole_part) && signs.find_first_not_of(signs[0]) + 1 == signs.size();
    return sound ? read(decimal) : Typed{};
  }
  const bool may_be_grouped = grouped && parts.exponent.empty();
  if (may_be_grouped && whole) return read(all);
  if (may_be_grouped && std::string(1, last) != words::say("format.decimal"))
    return {Typed::Kind::TwoMeanings, read(all).value};
  return read(decimal);
}

double to_track(const FieldOptions& o, double v) {
  double t =
      o.log ? (std::log(v) - std::log(o.lo)) / (std::log(o.hi) - std::log(o.lo)) : (v - o.lo) / (o.hi - o.lo);
  return std::isfinite(t) ? std::clamp(t, 0.0, 1.0) : 0.0;
}

double from_track(const FieldOptions& o, double t) {
  return o.log ? o.lo * std::pow(o.hi / o.lo, t) : o.lo + (o.hi - o.lo) * t;
}

double next_value(const FieldOptions& o, double value, int by) {
  return limited(o, o.log ? log_step(value, by) : value + by * o.step, false);
}

namespace {

// Takes what was typed as the value, or says why not: after Enter the text stays, to be mended.
Change take_typed(Ui& ui, std::string_view name, const FieldOptions& o, double& value) {
  if (ui.edit().buffer == field_text(o, value))
    return Change::None;  // which may show fewer digits than it has
  const Typed typed = typed_number(ui.edit().buffer, o.integer);
  if (const std::string why = refusal_of(o, ui.edit().buffer, typed); !why.empty()) {
    ui.object(name, why);
    ui.edit().fresh =
        ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
    return Change::None;
  }
  return std::exchange(value, typed.value) != typed.value ? Change::Done : Change::None;
}

}  // namespace

Change field(Ui& ui, std::string_view name, const Rect& r, std::string_view label, double& value,
             std::string_view help, const FieldOptions& o) {
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::body};
  HitOptions options{
      .enabled = o.enabled, .arrows = Arrows::Either, .overlap = true, .radius = radius::field};
  const bool editing = ui.edit().name == name;
  Hit h = ui.hit(name, r, field_text(o, value), help, options);
  Change change = Change::None;
  const double before = value;
  if (h.pressed) ui.press_value() = value;
  if (!editing && h.dragging) {
    double moved = from_track(o, to_track(o, ui.press_value()) + double(h.drag.x) / std::max(40.f, r.w - 16));
    value = limited(o, rounded_drag(o, std::clamp(moved, o.lo, o.hi)), true);
    change = h.released ? Change::Done : value != before ? Change::Live : Change::None;
  } else if (!editing && h.clicked) {
    begin_edit(ui, name, field_text(o, value));
  }
  if (int move = h.arrow_x + h.arrow_y; move && !editing) {
    value = next_value(o, value, move);
    if (value != before) change = Change::Done;
  }

  const std::string shown = field_text(o, value);
  Rect place = field_frame(ui, r, label, o.note, o.unit, ui.paint().text_width(mono, shown),
                           h.hovered || h.held || editing, o.enabled);
  if (o.track && o.hi > o.lo) {
    float length = float(to_track(o, value)) * (r.w - 10);
    Colour ink = h.held ? t.ink : t.ink3;
    ui.paint().fill({r.x + 5, r.bottom() - 3, length, 2}, ink);
  }
  if (ui.edit().name == name) {
    Typing typing = edit_text(ui, {place.x, r.y, place.w, r.h}, mono);
    if (typing == Typing::Done) change = take_typed(ui, name, o, value);
    if (typing != Typing::GoingOn && !ui.edit().fresh) ui.edit() = {};
  } else {
    ui.paint().text_in(place, mono, o.enabled ? t.ink : t.ink3, shown,
                       label.empty() ? Align::Centre : Align::Right);
  }
  return change;
}

bool text_field(Ui& ui, std::string_view name, const Rect& r, std::string_view hint, std::string& value,
                std::string_view help, bool secret) {
  const Theme& t = ui.theme();
  HitOptions options{.overlap = true, .radius = radius::field};
  const bool editing = ui.edit().name == name;
  std::string dots;
  for (size_t i = 0; secret && i < value.size(); ++i) dots += "•";
  const std::string& shown = secret ? dots : value;
  Hit h = ui.hit(name, r, shown, help, options);
  if (h.clicked && !editing) begin_edit(ui, name, value);
  if (ui.edit().name == name) ui.edit().secret = secret;
  ui.paint().fill(r, t.field, radius::field);
  ui.paint().outline(r, h.hovered || editing ? t.ink3 : t.control, 1, radius::field);
  Rect inner = r.inset(9, 0);
  if (ui.edit().name == name) {
    Typing typing = edit_text(ui, inner, {Face::Sans, type::body});
    if (typing == Typing::GoingOn) {
      value = ui.edit().buffer;  // lists that filter while one types
      return false;
    }
    if (typing == Typing::Done) value = ui.edit().buffer;
    ui.edit() = {};
    return typing == Typing::Done;
  }
  ui.paint().text_in(inner, {Face::Sans, type::body}, value.empty() ? t.ink3 : t.ink,
                     value.empty() ? hint : std::string_view(shown));
  return false;
}

bool row(Ui& ui, std::string_view name, const Rect& r, std::string_view label, std::string_view note,
         std::string_view value, std::string_view help, bool chevron) {
  Hit h = ui.hit(name, r, value, help, {.radius = radius::field});
  const TextStyle mono{Face::Mono, type::body};
  float width = ui.paint().text_width(mono, value) + (chevron ? 16.f : 0.f);
  Rect place = field_frame(ui, r, label, note, "", width, h.hovered || h.held, true);
  if (chevron)
    draw_icon(ui.paint(), Icon::ChevronDown, place.take_right(12, 4).centre(), 14, ui.theme().ink2);
  ui.paint().text_in(place, mono, ui.theme().ink, value, Align::Right);
  return h.clicked;
}

bool choice(Ui& ui, std::string_view name_view, const Rect& r, std::span<const words::Label> labels,
            int& selected, std::string_view help) {
  const Theme& t = ui.theme();
  const std::string name(name_view);
  const int before = selected, count = int(labels.size());
  const TextStyle style{Face::Bold, type::body};
  Hit h = ui.hit(name, r, selected >= 0 && selected < count ? std::string_view(labels[selected].name) : "",
                 help, {.arrows = Arrows::Up});
  if (h.clicked) ui.open_popup(name);
  if (h.arrow_y && count) {
    const int next = std::clamp(selected + (h.arrow_y > 0 ? -1 : 1), 0, count - 1);
    if (!ui.held(name + "/" + labels[next].name)) selected = next;
  }
  ui.paint().fill(r, t.field, radius::field);
  ui.paint().outline(r, h.hovered ? t.ink3 : t.control, 1, radius::field);
  Rect inner = r.inset(9, 0);
  draw_icon(ui.paint(), Icon::ChevronDown, inner.take_right(10, 4).centre(), 14, t.ink2);
  if (selected >= 0 && selected < count) ui.paint().text_in(inner, style, t.ink, labels[selected].shown);

  const float row_height = 28;
  float width = r.w;
  for (const words::Label& label : labels)
    width = std::max(width, ui.paint().text_width(style, label.shown) + 28);
  Rect list{r.x, r.bottom() + 4, width, row_height * float(count) + 8};
  if (list.bottom() > ui.size().y - 4) list.y = std::max(4.f, r.y - 4 - list.h);
  if (list.right() > ui.size().x - 4) list.x = ui.size().x - 4 - list.w;
  if (ui.begin_popup(name, list)) {
    Rect rest = list.inset(4);
    for (int i = 0; i < count; ++i) {
      Rect item = rest.take_top(row_height);
      Hit hit = ui.hit(name + "/" + labels[i].name, item, i == selected ? "on" : "", help,
                       {.selected = i == selected, .tooltip = false});
      if (hit.hovered) ui.paint().fill(item, t.sunk, radius::field);
      ui.paint().text_in(item.inset(8, 0), {i == selected ? Face::Bold : Face::Sans, type::body}, t.ink,
                         labels[i].shown);
      if (hit.clicked) {
        selected = i;
        ui.focus(name);
        ui.close_popup();
      }
    }
    ui.end_popup();
  }
  return selected != before;
}

std::string file_menu(Ui& ui, std::string_view name, const Rect& icon, std::string_view help,
                      std::span<const FileRow> rows, const FileMenuOptions& options) {
  ButtonOptions quiet, line;
  quiet.quiet = line.quiet = line.left = true;
  quiet.enabled = options.enabled;
  line.style = {Face::Sans, type::body};
  if (icon_button(ui, name, icon, Icon::File, help, quiet)) ui.open_popup(name);
  if (options.enabled && *options.shortcut && ui.shortcut(options.shortcut, name)) ui.open_popup(name);
  float width = 160;
  for (const FileRow& row : rows) width = std::max(width, ui.paint().text_width(line.style, row.label) + 40);
  const Rect list{icon.right() - width, icon.bottom() + 4, width,
                  28 * static_cast<float>(rows.size()) + 12 + options.foot_height};
  if (!ui.begin_popup(name, list)) return "";
  std::string chosen;
  Rect rest = list.inset(6);
  if (options.foot) options.foot(rest.take_bottom(options.foot_height));
  for (const FileRow& row : rows) {
    if (!button(ui, fmt::format("{}/{}", name, row.ending), rest.take_top(28).inset(0, 1), row.label,
                row.help, line))
      continue;
    chosen = row.ending;
    ui.close_popup();
  }
  ui.end_popup();
  return chosen;
}

}  // namespace normscope::ui
