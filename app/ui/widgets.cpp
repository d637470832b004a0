// Buttons, tabs, segments, badges, tiles and panels. fields.cpp has what can be typed into.
#include "app/ui/widgets.h"

#include <fmt/format.h>

#include <numeric>

namespace normscope::ui {
namespace {

struct BoxStyle {
  Colour fill, border, ink;
  float border_width = 1;
};

BoxStyle button_box(const Theme& t, const ButtonOptions& o, const Hit& h) {
  BoxStyle b{t.panel, t.strong, t.ink};
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
  Hit h = ui.hit(name, r, value, help, {.enabled = o.enabled, .radius = radius::button});
  box = button_box(ui.theme(), o, h);
  ui.paint().fill(r, box.fill, radius::button);
  ui.paint().outline(r, box.border, box.border_width, radius::button);
  return h;
}

}  // namespace

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
  Hit h = ui.hit(name, r, selected ? "selected" : "", help, {.radius = radius::field});
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
  HitOptions outer{.arrows = true, .overlap = true, .tooltip = false};
  const std::string_view now =
      selected >= 0 && selected < int(labels.size()) ? std::string_view(labels[selected].name) : "";
  Hit box = ui.hit(name, r, now, help, outer);
  p.fill(r, t.field, 6);
  p.outline(r, t.border, 1, 6);
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
                              : t.slot,
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
  Hit h = ui.hit(name, r, selected ? "selected" : "", help, {.radius = radius::tile});
  tile(ui, r, run);
  if (selected)
    ui.paint().outline(r.inset(-4), ui.theme().ink, line::selected, radius::tile + 3);
  else if (h.hovered)
    ui.paint().outline(r.inset(-4), ui.theme().strong, 1, radius::tile + 3);
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
  const bool fits = p.text_width(line, text) <= room.w;
  const float height = fits ? 0 : p.wrapped_height(room.w, small, text, kLine);
  if (fits || height > 2.5f * kLine)
    p.text_in(room, line, ink, text, align);
  else
    p.text_wrapped({room.x, room.y + (room.h - height) / 2, room.w, height}, small, ink, text, kLine);
  return height < 2.5f * kLine;
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

}  // namespace normscope::ui
