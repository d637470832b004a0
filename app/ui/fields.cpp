// Controls that can be typed into or chosen from: number field, text field, choice, row.
#include <imgui.h>
#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::ui {
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
  // While a button is down the box must wait: it would take the keyboard from what that button presses.
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

// The share of the track, 0..1.
double limited(const FieldOptions& o, double v, bool soft_ends) {
  if (soft_ends || o.hard_lo) v = std::max(v, o.lo);
  if (soft_ends || o.hard_hi) v = std::min(v, o.hi);
  return o.integer ? std::round(v) : v;
}

// Gives round values while dragging: whole steps, or two digits on a logarithmic track.
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

// Draws box, label and note at the left and unit at the right, and returns the place of the value
// between them. The value always fits: in a narrow field the note goes first, then the unit, then the end of the
// label.
Rect field_frame(Ui& ui, const Rect& r, std::string_view label, std::string_view note, std::string_view unit,
                 float value_width, bool strong_border, bool enabled) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  p.fill(r, t.field, radius::field);
  p.outline(r, strong_border ? t.ink3 : t.border, 1, radius::field);
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

}  // namespace

bool parse_number(std::string text, double& value) {
  auto replace = [&text](std::string_view from, std::string_view to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  };
  replace("\u2009", "");
  replace("\u00A0", "");
  replace(" ", "");
  replace(",", ".");
  replace("−", "-");
  if (text.empty()) return false;
  char* end = nullptr;
  double v = std::strtod(text.c_str(), &end);
  if (*end || !std::isfinite(v)) return false;
  value = v;
  return true;
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

Change field(Ui& ui, std::string_view name, const Rect& r, std::string_view label, double& value,
             std::string_view help, const FieldOptions& o) {
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::body};
  HitOptions options{.enabled = o.enabled, .arrows = true, .overlap = true, .radius = radius::field};
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
    double typed = value;
    if (typing == Typing::Done && parse_number(ui.edit().buffer, typed)) {
      value = limited(o, typed, false);
      if (value != before) change = Change::Done;
    }
    if (typing != Typing::GoingOn) ui.edit() = {};
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
  ui.paint().outline(r, h.hovered || editing ? t.ink3 : t.border, 1, radius::field);
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
                 help, {.arrows = true});
  if (h.clicked) ui.open_popup(name);
  if (h.arrow_y && count) {
    const int next = std::clamp(selected + (h.arrow_y > 0 ? -1 : 1), 0, count - 1);
    if (!ui.held(name + "/" + labels[next].name)) selected = next;
  }
  ui.paint().fill(r, t.field, radius::field);
  ui.paint().outline(r, h.hovered ? t.ink3 : t.border, 1, radius::field);
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
      Hit hit =
          ui.hit(name + "/" + labels[i].name, item, i == selected ? "on" : "", help, {.tooltip = false});
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
