#include "app/ui/ui.h"

#include <imgui.h>
#include <imgui_internal.h>  // the queue of input events

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <utility>
#include <vector>

#include "app/words/words.h"
#include "engine/core/error.h"

namespace normscope::ui {
namespace {

constexpr float drag_threshold = 3;  // logical px before a press becomes a drag
// Logical px from the window's edge within which the mouse pans a drawing that is larger than the window.
constexpr float edge_reach = 20;

constexpr ImGuiWindowFlags plain_window = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                          ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                                          ImGuiWindowFlags_NoScrollWithMouse;

// Sets the part of the drawing that ImGui clips to and the renderers show.
void see(ImVec2 begin, ImVec2 size) {
  ImGuiViewport& view = *ImGui::GetMainViewport();
  view.Pos = view.WorkPos = begin;
  view.Size = view.WorkSize = size;
}

bool any_input() {
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key)
    if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), false)) return true;
  return !ImGui::GetIO().InputQueueCharacters.empty();
}

}  // namespace

Ui::Ui(Fonts fonts) : fonts_(std::move(fonts)), theme_(&ui::theme(false)) {
  ImGui::GetIO().ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;  // our own focus ring, see the header
}

void Ui::begin_frame(const FrameOptions& options) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  float scale = effective_scale(options.scale, options.least_scale, display.x, display.y);
  if (scale != scale_ || options.dark != styled_dark_) {
    if (scale_ > 0 && ImGui::IsMousePosValid()) {  // the thing under the mouse stays there
      const Vec under = pointer();
      pan_ = {pan_.x + under.x * (scale - scale_), pan_.y + under.y * (scale - scale_)};
    }
    theme_ = &ui::theme(options.dark);
    apply_style(*theme_, scale);
    scale_ = scale;
    styled_dark_ = options.dark;
  }
  if (!objection_.first.empty() && any_input()) objection_ = {};
  options_ = options;
  size_ = whole_size(scale_, options.least_scale, display.x, display.y);
  animating_ = false;
  move_focus();
  order_.clear();
  region_.clear();
  group_.clear();
  last_arrow_owner_ = std::move(arrow_owner_);
  arrow_owner_.clear();
  explained_.reset();
  tooltip_.clear();
  beside_ = {};
  under_mouse_.clear();
  popup_seen_ = false;
  std::swap(registry_, last_registry_);
  registry_.clear();
  areas_.clear();
  texts_.clear();

  const bool goes_on =
      ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (!goes_on)  // what was pressed is followed wherever the mouse goes
    covered_ = std::ranges::any_of(above_, [&](const Rect& rect) { return rect.contains(pointer()); });
  above_.clear();

  const ImVec2 whole(size_.x * scale_, size_.y * scale_);
  see({0, 0}, whole);
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(whole);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin("##normscope", nullptr, plain_window | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar();
  std::vector<TextRecord>* records = options_.record_text ? &texts_ : nullptr;
  paint_window_.emplace(fonts_, ImGui::GetWindowDrawList(), scale_, 0, records);
  paint_top_.emplace(fonts_, ImGui::GetForegroundDrawList(), scale_, 2, records);
  paint_ = &*paint_window_;
}

void Ui::end_frame() {
  if (!popup_seen_ && popup_request_.empty()) popup_.clear();
  draw_held();
  await_help();
  show_objection();
  draw_tooltip();
  ImGui::End();
  // A control that is gone can keep neither the focus nor the keys.
  if (!focus_.empty() && !registry_.find(focus_)) focus_.clear();
  if (!edit_.name.empty() && !registry_.find(edit_.name)) edit_ = {};
  follow_hand();
}

// Pans a drawing that is larger than the window when the mouse comes near an edge, faster the nearer it is, and when
// Tab moves the focus to a control outside the window.
void Ui::follow_hand() {
  const ImGuiIO& io = ImGui::GetIO();
  const Vec window{io.DisplaySize.x, io.DisplaySize.y}, whole{size_.x * scale_, size_.y * scale_};
  const auto keep = [&](const Rect& px) {
    pan_.x = std::max(std::min(pan_.x, px.x), px.right() - window.x);
    pan_.y = std::max(std::min(pan_.y, px.y), px.bottom() - window.y);
  };
  const float reach = edge_reach * scale_;
  const Vec at{io.MousePos.x - shown_.x, io.MousePos.y - shown_.y};  // in the window
  const bool inside = at.x >= 0 && at.y >= 0 && at.x < window.x && at.y < window.y;
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (ImGui::IsMousePosValid() && (inside || moved))
    keep(Rect{at.x + pan_.x, at.y + pan_.y, 0, 0}.inset(-reach, -reach));
  const Control* focus = focus_visible_ && focus_ != shown_focus_ ? registry_.find(focus_) : nullptr;
  shown_focus_ = focus_;
  if (focus)
    keep(Rect{focus->rect.x * scale_, focus->rect.y * scale_, focus->rect.w * scale_, focus->rect.h * scale_}
             .inset(-reach, -reach));
  const auto within = [](float pan, float room) {
    return std::round(std::clamp(pan, 0.f, std::max(0.f, room)));
  };
  pan_ = {within(pan_.x, std::floor(whole.x - window.x)), within(pan_.y, std::floor(whole.y - window.y))};
  panned_ = {pan_.x - shown_.x, pan_.y - shown_.y};
  shown_ = pan_;
  if (panned_.x != 0 || panned_.y != 0) animating_ = true;
  draw_part(window, whole);
  see({pan_.x, pan_.y}, io.DisplaySize);
}

// Draws position bars along the lower and the right edge of a window that shows a part of the drawing.
void Ui::draw_part(Vec window_px, Vec whole_px) {
  constexpr float thick = 4;
  const Vec from{pan_.x / scale_, pan_.y / scale_}, window{window_px.x / scale_, window_px.y / scale_};
  const Vec whole{whole_px.x / scale_, whole_px.y / scale_};
  const Colour ink = theme_->ink3;
  if (whole_px.x >= window_px.x + 1)
    paint_top_->fill({from.x + from.x / whole.x * window.x, from.y + window.y - thick,
                      window.x / whole.x * window.x, thick},
                     ink, thick / 2);
  if (whole_px.y >= window_px.y + 1)
    paint_top_->fill({from.x + window.x - thick, from.y + from.y / whole.y * window.y, thick,
                      window.y / whole.y * window.y},
                     ink, thick / 2);
}

double Ui::time() const { return ImGui::GetTime(); }

Vec Ui::pointer() const {
  ImVec2 p = ImGui::GetIO().MousePos;
  return {p.x / scale_, p.y / scale_};
}

Vec Ui::mouse() const {
  constexpr Vec nowhere{-1e6f, -1e6f};
  return covered_ && paint_ == &*paint_window_ ? nowhere : pointer();
}

bool Ui::shift() const { return ImGui::GetIO().KeyShift; }
bool Ui::alt() const { return ImGui::GetIO().KeyAlt; }
bool Ui::ctrl() const { return ImGui::GetIO().KeyCtrl; }
bool Ui::typing() const { return !edit_.name.empty() || ImGui::GetIO().WantTextInput; }

void Ui::focus(std::string_view name) { focus_ = name; }

// Follows the keys through the controls of the last frame: Tab to the next stop, F6 to the next region, the arrows, Home
// and End within a group.
void Ui::move_focus() {
  group_took_keys_ = false;
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false) && edit_.name.empty() && popup_.empty()) {
    focus_.clear();
    focus_visible_ = false;
  }
  const bool tab = ImGui::IsKeyPressed(ImGuiKey_Tab), leap = ImGui::IsKeyPressed(ImGuiKey_F6);
  if (ctrl() || alt() || order_.empty()) return;
  if (!tab && !leap) return walk_group();
  if (edit_.tab && !edit_.name.empty()) return;
  if (const Control* const here = focused_stop()) leave(*here);
  focus_ = tab ? next_stop() : next_region();
  focus_visible_ = true;
}

namespace {

// The place after `at` of `count`, or before it; from none to the first or the last.
size_t place_after(size_t at, size_t count, bool back) {
  if (at >= count) return back ? count - 1 : 0;
  return (at + (back ? count - 1 : 1)) % count;
}

}  // namespace

const Control* Ui::focused_stop() const {
  const auto at = std::ranges::find(order_, focus_, [&](size_t i) { return registry_.all()[i].name; });
  return at == order_.end() ? nullptr : &registry_.all()[*at];
}

// The group's controls in reading order: in rows of 6 px from the top, each from the left.
std::vector<const Control*> Ui::members_of(const Control& one) const {
  std::vector<const Control*> members;
  for (const size_t i : order_)
    if (const Control& c = registry_.all()[i]; c.region == one.region && c.group == one.group)
      members.push_back(&c);
  std::ranges::stable_sort(
      members, {}, [](const Control* c) { return std::pair(std::round(c->rect.centre().y / 6), c->rect.x); });
  return members;
}

namespace {

// The key of Ui::left_ for a group.
std::string place_of(const Control& c) { return c.region + "/" + c.group; }

}  // namespace

// Where Tab comes to: the control itself, or one of its group.
const std::string& Ui::entry_of(const Control& stop) const {
  if (stop.group.empty()) return stop.name;
  const std::vector<const Control*> members = members_of(stop);
  const auto left = left_.find(place_of(stop));
  auto entry = left == left_.end() ? members.end() : std::ranges::find(members, left->second, &Control::name);
  if (entry == members.end()) entry = std::ranges::find(members, true, &Control::selected);
  return entry == members.end() ? members.front()->name : (*entry)->name;
}

void Ui::leave(const Control& here) {
  left_[here.region] = here.name;
  if (!here.group.empty()) left_[place_of(here)] = here.name;
}

const std::string& Ui::next_stop() const {
  std::vector<const Control*> stops;  // a group is where its first control was drawn
  const auto same = [](const Control& a, const Control& b) {
    return a.name == b.name || (!a.group.empty() && a.group == b.group && a.region == b.region);
  };
  for (const size_t i : order_)
    if (const Control& c = registry_.all()[i];
        std::ranges::none_of(stops, [&](const Control* stop) { return same(*stop, c); }))
      stops.push_back(&c);
  size_t here = stops.size();
  if (const Control* const focus = focused_stop())
    here = static_cast<size_t>(
        std::ranges::find_if(stops, [&](const Control* stop) { return same(*stop, *focus); }) -
        stops.begin());
  return entry_of(*stops[place_after(here, stops.size(), shift())]);
}

const std::string& Ui::next_region() const {
  std::vector<const Control*> regions;  // of each its first control
  const auto region_of = [](const Control* c) -> const std::string& { return c->region; };
  for (const size_t i : order_)
    if (const Control& c = registry_.all()[i];
        std::ranges::find(regions, c.region, region_of) == regions.end())
      regions.push_back(&c);
  size_t here = regions.size();
  if (const Control* const focus = focused_stop())
    here = static_cast<size_t>(std::ranges::find(regions, focus->region, region_of) - regions.begin());
  const Control& first = *regions[place_after(here, regions.size(), shift())];
  for (const auto* map : {&left_, &entries_})
    if (const auto wanted = map->find(first.region); wanted != map->end())
      for (const size_t i : order_)
        if (const Control& c = registry_.all()[i]; c.region == first.region)
          if (c.name == wanted->second || c.group == wanted->second)
            return c.name == wanted->second ? c.name : entry_of(c);
  return entry_of(first);
}

// Of the arrows, those that the focused control does not take itself walk its group. From outside an open popup they
// enter it.
void Ui::walk_group() {
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key) ? 1 : 0; };
  if (!focus_visible_ || typing() || shift()) return;
  const Control* const here = focused_stop();
  const Control* const taker = here ? here : registry_.find(focus_);
  const Arrows taken = taker ? taker->arrows : Arrows::None;
  int by = 0;
  if (taken == Arrows::None || taken == Arrows::Up)
    by += pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow);
  if (taken == Arrows::None || taken == Arrows::Across)
    by += pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow);
  const bool home = ImGui::IsKeyPressed(ImGuiKey_Home), end = ImGui::IsKeyPressed(ImGuiKey_End);
  if (by == 0 && !home && !end) return;
  const Control& stop = here ? *here : registry_.all()[order_.front()];
  if (stop.group.empty() || (!here && popup_.empty())) return;
  group_took_keys_ = true;
  if (!here) return void(focus_ = entry_of(stop));
  const std::vector<const Control*> members = members_of(stop);
  const auto last = static_cast<std::ptrdiff_t>(members.size()) - 1;
  const auto at = std::ranges::find(members, &stop) - members.begin();
  focus_ = members[static_cast<size_t>(home  ? 0
                                       : end ? last
                                             : std::clamp<std::ptrdiff_t>(at + by, 0, last))]
               ->name;
}

// Whether an enabled control of the last frame is under the mouse that does not contain the centre of `beside`.
bool Ui::drawn_under_mouse(const Rect& beside) const {
  const auto all = last_registry_.all();
  return std::ranges::any_of(all, [&](const Control& c) {
    return c.interactive && c.enabled && c.rect.contains(mouse()) && !c.rect.contains(beside.centre());
  });
}

Hit Ui::hit(std::string_view name_view, const Rect& rect, std::string_view value, std::string_view help,
            const HitOptions& options) {
  const std::string name(name_view);
  if (const std::optional<Hit> stopped = stopped_hit(name, rect, value, help, options)) return *stopped;
  registry_.add({name, rect, std::string(value), std::string(help), options.enabled, true});
  Hit h{.shift = shift(), .alt = alt(), .ctrl = ctrl()};
  if (rect.empty()) return h;
  // The hit area is at least 24 x 24 px, however small the control is drawn, but its margin yields to other controls.
  Rect area = centred(rect.centre(), std::max(rect.w, space::hit_min), std::max(rect.h, space::hit_min));
  if (area.contains(mouse()) && !rect.contains(mouse()) && drawn_under_mouse(rect)) area = rect;
  ImGui::SetCursorScreenPos({area.x * scale_, area.y * scale_});
  if (options.overlap) ImGui::SetNextItemAllowOverlap();
  ImGui::BeginDisabled(!options.enabled);
  h.clicked = ImGui::InvisibleButton(("##" + name).c_str(), {area.w * scale_, area.h * scale_});
  ImGui::EndDisabled();
  // The focus ring is ours, so the mouse still works while a text field has the keys.
  h.hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled | ImGuiHoveredFlags_NoNavOverride);
  h.held = ImGui::IsItemActive();
  h.pressed = ImGui::IsItemActivated();
  h.released = ImGui::IsItemDeactivated();
  if (h.hovered) under_mouse_ = name;
  if (h.pressed) {
    press_at_ = mouse();
    focus_ = name;
    focus_visible_ = false;
  }
  if (h.held || h.released) {
    h.drag = mouse() - press_at_;
    // A press that has moved stays a drag where it returns to its start: else the value of a moment before would stay,
    // and letting go would count as a click.
    const float threshold = drag_threshold * scale_;
    h.dragging = ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] > threshold * threshold;
  }
  if (options.enabled && h.hovered) {
    h.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    h.right_clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  }
  keyboard(h, name, options);
  if (press_ == name) {
    press_.clear();
    if (options.enabled) h.clicked = h.by_key = true;
    h.alt = h.alt || press_alone_;
  }
  if (options.tooltip && h.hovered) explain(name, help, rect, options.beside);
  return h;
}

void Ui::keyboard(Hit& h, const std::string& name, const HitOptions& options) {
  if (!options.enabled || !options.focusable) return;
  Control& own = registry_.last();
  own.region = region_;
  own.group = group_;
  own.selected = options.selected;
  own.focusable = true;
  own.arrows = options.arrows != Arrows::Either ? options.arrows
               : group_.empty()                 ? Arrows::Both
                                                : Arrows::Across;
  if (popup_.empty() || !inside_popup_.empty()) order_.push_back(registry_.all().size() - 1);
  h.focused = focus_ == name;
  if (!h.focused) return;
  if (options.draw_focus && focus_visible_) {
    const Control& c = own;
    // Yellow between two dark hairlines: no other outline, such as that of what is selected, looks like it.
    paint_->outline(c.rect.inset(-3), theme_->on_accent, 4, options.radius + 3);
    paint_->outline(c.rect.inset(-3), theme_->accent, 2, options.radius + 3);
  }
  if (typing()) return;
  if (ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false))
    h.clicked = h.by_key = true;
  if (own.arrows == Arrows::None) return;
  arrow_owner_ = name;
  if (group_took_keys_) return;  // the key that brought the focus here
  int step = h.shift ? 10 : 1;
  auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key) ? 1 : 0; };
  if (own.arrows != Arrows::Up)
    h.arrow_x = step * (pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow));
  if (own.arrows != Arrows::Across)
    h.arrow_y = step * (pressed(ImGuiKey_UpArrow) - pressed(ImGuiKey_DownArrow));
  if (h.arrow_x || h.arrow_y) focus_visible_ = true;
}

// Records the help of the smallest region under the mouse, because a word on a card is more specific than the card.
void Ui::explain(std::string_view name, std::string_view help, const Rect& rect, const Rect& beside) {
  if (help.empty()) return;
  if (explained_ && explained_->rect.w * explained_->rect.h < rect.w * rect.h) return;
  explained_ = {std::string(name), std::string(help), rect, beside.empty() ? rect : beside};
}

// Shows the help after the mouse has rested for a moment, and never while something is held.
void Ui::await_help() {
  const ImGuiIO& io = ImGui::GetIO();
  const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseDown(ImGuiMouseButton_Right);
  const std::string name = explained_ && !held ? explained_->name : "";
  const double delay = double(ImGui::GetStyle().HoverDelayNormal);
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (name != last_explained_ || (moved && time() - rests_since_ < delay)) rests_since_ = time();
  last_explained_ = name;
  if (name.empty() || !tooltip_.empty()) return;
  if (time() - rests_since_ < delay) return animate();
  tooltip_ = explained_->help;
  beside_ = explained_->beside;
}

// A key or press that comes after the objection ends it; the one that caused it was of the frame before.
void Ui::show_objection() {
  const Control* const control = registry_.find(objection_.first);
  if (!control) return;
  tooltip_ = objection_.second;
  beside_ = control->rect;
  registry_.add({objection_.first + "/objection", control->rect, objection_.second, "", true, false});
}

bool Ui::mark(std::string_view name, const Rect& rect, std::string_view value, std::string_view help) {
  if (note_place(name, rect, false) == Hold::Hidden) return false;
  registry_.add({std::string(name), rect, std::string(value), std::string(help), true, false});
  return true;
}

void Ui::tell(std::string_view name, const Rect& rect, std::string_view value, std::string_view help) {
  if (mark(name, rect, value, help) && rect.contains(mouse()) && ImGui::IsWindowHovered())
    explain(name, help, rect, {});
}

float Ui::ease(std::string_view key, float target, float ms) {
  auto [it, fresh] = easings_.try_emplace(std::string(key), Easing{target, target, time() - 10});
  Easing& e = it->second;
  auto now = [&] {
    float t = ms > 0 ? std::clamp(float((time() - e.start) * 1000) / ms, 0.f, 1.f) : 1.f;
    float left = 1 - t;
    return e.to + (e.from - e.to) * left * left * left;
  };
  if (options_.reduced_motion) e = {target, target, time()};
  if (!fresh && e.to != target) {
    float here = now();
    e = {here, target, time()};
  }
  float value = now();
  if (value != target) animating_ = true;
  return value;
}

void Registry::clear() {
  controls_.clear();
  index_.clear();
  duplicates_.clear();
}

void Registry::add(Control control) {
  if (!index_.emplace(control.name, controls_.size()).second) duplicates_.push_back(control.name);
  controls_.push_back(std::move(control));
}

const Control* Registry::find(std::string_view name) const {
  auto it = index_.find(std::string(name));
  return it == index_.end() ? nullptr : &controls_[it->second];
}

std::string Registry::to_text() const {
  std::string text;
  for (const Control& c : controls_) {
    text += c.name;
    if (!c.value.empty()) text += " = " + c.value;
    if (!c.enabled) text += " (disabled)";
    text += '\n';
  }
  return text;
}

// ---- popups, shortcuts and tooltips

void Ui::open_popup(std::string_view name) { popup_request_ = name; }

void Ui::close_popup() {
  popup_request_.clear();
  if (!inside_popup_.empty()) ImGui::CloseCurrentPopup();
  popup_.clear();
}

bool Ui::popup_open(std::string_view name) const { return popup_ == name || popup_request_ == name; }

bool Ui::begin_popup(std::string_view name_view, const Rect& rect) {
  const std::string name(name_view);
  const std::string id = "##popup " + name;
  if (popup_request_ == name) {
    ImGui::OpenPopup(id.c_str());
    popup_ = name;
    popup_request_.clear();
  }
  if (popup_ != name) return false;
  ImGui::SetNextWindowPos({rect.x * scale_, rect.y * scale_});
  ImGui::SetNextWindowSize({rect.w * scale_, rect.h * scale_});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_Border, theme_->strong.packed());
  bool open = ImGui::BeginPopup(id.c_str(), ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                                ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!open) {
    popup_.clear();
    return false;
  }
  popup_seen_ = true;
  above_.push_back(rect);
  inside_popup_ = name;
  outer_group_ = std::exchange(group_, name);
  paint_popup_.emplace(fonts_, ImGui::GetWindowDrawList(), scale_, 1,
                       options_.record_text ? &texts_ : nullptr);
  paint_ = &*paint_popup_;
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false) && edit_.name.empty()) close_popup();
  return true;
}

void Ui::end_popup() {
  ImGui::EndPopup();
  inside_popup_.clear();
  group_ = std::move(outer_group_);
  paint_ = &*paint_window_;
}

void Ui::begin_layer(std::string_view name, const Rect& rect) {
  above_.push_back(rect);
  ImGui::SetNextWindowPos({rect.x * scale_, rect.y * scale_});
  ImGui::SetNextWindowSize({rect.w * scale_, rect.h * scale_});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin(("##layer " + std::string(name)).c_str(), nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleVar();
  paint_layer_.emplace(fonts_, ImGui::GetWindowDrawList(), scale_, 1,
                       options_.record_text ? &texts_ : nullptr);
  paint_ = &*paint_layer_;
}

void Ui::end_layer() {
  ImGui::End();
  paint_ = &*paint_window_;
}

bool Ui::shortcut(std::string_view text, std::string_view control) {
  if (!control.empty() && held(control)) {
    refused_ = refused_ || shortcut(text);
    return false;
  }
  if (typing()) return false;
  Chord chord = parse_chord(text);
  if (chord.key == ImGuiKey_None) {  // a character such as "?", wherever the keyboard has it
    const auto& typed = ImGui::GetIO().InputQueueCharacters;
    return std::ranges::find(typed, ImWchar(chord.character)) != typed.end();
  }
  bool is_arrow = chord.key >= ImGuiKey_LeftArrow && chord.key <= ImGuiKey_DownArrow;
  if (is_arrow && !last_arrow_owner_.empty() && last_arrow_owner_ == focus_) return false;
  const bool walks = is_arrow || chord.key == ImGuiKey_Home || chord.key == ImGuiKey_End;
  if (walks && group_took_keys_) return false;
  if (chord.ctrl != ctrl() || chord.shift != shift() || chord.alt != alt()) return false;
  return ImGui::IsKeyPressed(ImGuiKey(chord.key), is_arrow);
}

void Ui::tooltip(std::string_view text) { tooltip_ = text; }

Rect beside(const Rect& asked, Vec mouse, Vec size, Vec window) {
  constexpr float edge = 6, pointer = 18;
  const auto within = [&](float at, float room, float all) {
    return std::clamp(at, edge, std::max(edge, all - edge - room));
  };
  const bool surface = std::min(asked.w, asked.h) > 120;  // of which the mouse asks about one place
  const Rect around = asked.empty() || surface ? Rect{mouse.x, mouse.y, 0, 0} : asked;
  const float x = within(mouse.x + 12, size.x, window.x), y = within(mouse.y, size.y, window.y);
  const float below = std::max(around.bottom() + edge, mouse.y + pointer), above = around.y - edge - size.y;
  if (below + size.y <= window.y - edge) return {x, below, size.x, size.y};
  if (above >= edge) return {x, above, size.x, size.y};
  if (around.right() + edge + size.x <= window.x - edge) return {around.right() + edge, y, size.x, size.y};
  if (around.x - edge - size.x >= edge) return {around.x - edge - size.x, y, size.x, size.y};
  return {x, y, size.x, size.y};
}

void Ui::draw_tooltip() {
  if (tooltip_.empty()) return;
  constexpr float widest = 280, line_height = 17, small_height = 15, pad = 9;
  const TextStyle style{Face::Sans, type::body}, small{Face::Sans, type::tick};
  ScreenPainter layer(fonts_, ImGui::GetForegroundDrawList(), scale_, 3,
                      options_.record_text ? &texts_ : nullptr);
  Painter& paint = layer;
  // Text after a line break is small print, such as a source.
  const size_t end = std::min(tooltip_.find('\n'), tooltip_.size());
  const std::string text = tooltip_.substr(0, end),
                    print = tooltip_.substr(std::min(end + 1, tooltip_.size()));
  float width = std::min(widest, std::max(paint.text_width(style, text), paint.text_width(small, print)) + 1);
  const float upper = paint.wrapped_height(width, style, text, line_height);
  float height = upper + (print.empty() ? 0 : 3 + paint.wrapped_height(width, small, print, small_height));
  // What a field objects to was typed, wherever the mouse is.
  const Vec hand = objection_.first.empty() ? pointer() : beside_.centre() - Vec{beside_.w / 2 + 12, 0};
  const Rect box = beside(beside_, hand, {width + 2 * pad, height + pad + 3}, size_);
  paint.fill(box, theme_->inverse, radius::button);
  const Rect inside{box.x + pad, box.y + pad / 2 + 1.5f, width, height};
  paint.text_wrapped(inside, style, theme_->on_inverse, text, line_height);
  if (!print.empty())
    paint.text_wrapped(inside.moved(0, upper + 3), small, mix(theme_->on_inverse, theme_->inverse, 0.3f),
                       print, small_height);
}

namespace {

constexpr std::array<std::pair<std::string_view, ImGuiKey>, 19> names{{
    {"Space", ImGuiKey_Space},       {"Enter", ImGuiKey_Enter},    {"Tab", ImGuiKey_Tab},
    {"Escape", ImGuiKey_Escape},     {"Esc", ImGuiKey_Escape},     {"Left", ImGuiKey_LeftArrow},
    {"Right", ImGuiKey_RightArrow},  {"Up", ImGuiKey_UpArrow},     {"Down", ImGuiKey_DownArrow},
    {"Home", ImGuiKey_Home},         {"End", ImGuiKey_End},        {"PageUp", ImGuiKey_PageUp},
    {"PageDown", ImGuiKey_PageDown}, {"Delete", ImGuiKey_Delete},  {"Backspace", ImGuiKey_Backspace},
    {"[", ImGuiKey_LeftBracket},     {"]", ImGuiKey_RightBracket}, {"-", ImGuiKey_Minus},
    {"=", ImGuiKey_Equal},
}};

void move_mouse(ImVector<ImGuiInputEvent>& queue, Vec by) {
  for (ImGuiInputEvent& event : queue) {
    if (event.Type != ImGuiInputEventType_MousePos || event.MousePos.PosX == -FLT_MAX) continue;
    event.MousePos.PosX += by.x;
    event.MousePos.PosY += by.y;
  }
}

}  // namespace

Chord parse_chord(std::string_view text) {
  Chord chord;
  std::string_view rest = text;
  auto modifier = [&](std::string_view name, bool& flag) {
    if (rest.size() > name.size() && rest.starts_with(name)) {
      rest.remove_prefix(name.size());
      return flag = true;
    }
    return false;
  };
  while (modifier("Ctrl+", chord.ctrl) || modifier("Shift+", chord.shift) || modifier("Alt+", chord.alt)) {
  }
  for (auto [name, key] : names)
    if (rest == name) {
      chord.key = key;
      if (key == ImGuiKey_Space) chord.character = ' ';
      return chord;
    }
  if (rest.size() == 2 && rest[0] == 'F' && rest[1] >= '1' && rest[1] <= '9') {
    chord.key = ImGuiKey_F1 + (rest[1] - '1');
    return chord;
  }
  if (rest.size() != 1) throw Error("unknown key '" + std::string(text) + "'");
  char c = rest[0];
  if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  if (c >= 'A' && c <= 'Z') {
    chord.key = ImGuiKey_A + (c - 'A');
    chord.character = unsigned(chord.shift ? c : c - 'A' + 'a');
  } else if (c >= '0' && c <= '9') {
    chord.key = ImGuiKey_0 + (c - '0');
    chord.character = unsigned(c);
  } else {
    chord.character = unsigned(c);
  }
  return chord;
}

std::string shown_keys(std::string_view chord) {
  std::string out;
  while (!chord.empty()) {
    const size_t plus = chord.find('+', 1);  // a plus alone is a key
    const std::string_view key = chord.substr(0, plus);
    const std::string* said = words::of_window().find("shortcuts.key." + std::string(key));
    out += (out.empty() ? "" : " ") + (said ? *said : std::string(key));
    chord.remove_prefix(plus == chord.npos ? chord.size() : plus + 1);
  }
  return out;
}

void new_frame(Vec pan, Vec panned) {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  int now = 0;
  for (bool pressed = false; now < queue.Size; ++now) {
    const ImGuiInputEvent& event = queue[now];
    if (event.Type != ImGuiInputEventType_Key) continue;
    const bool modifier = (event.Key.Key & ImGuiMod_Mask_) != 0;
    if (modifier && pressed) break;
    pressed = pressed || (!modifier && event.Key.Down);
  }
  const std::vector<ImGuiInputEvent> later(queue.begin() + now, queue.end());
  queue.resize(now);
  ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsMousePosValid(&io.MousePos)) {  // the mouse itself has not moved
    io.MousePos.x += panned.x;
    io.MousePos.y += panned.y;
  }
  move_mouse(queue, pan);
  ImGui::NewFrame();
  move_mouse(queue, {-pan.x, -pan.y});  // ImGui leaves it for the next frame
  for (const ImGuiInputEvent& event : later) queue.push_back(event);
}

// ---- Locked and hidden controls in the hit test and in the drawing. A control draws itself in the normal way. At the
// end of the frame, every triangle inside a hidden control becomes transparent and inside a locked control pale; of
// nested controls the smallest decides.

namespace {

constexpr float kLockedOpacity = 0.4f;
constexpr float kFringe = 1.5f;  // logical px that an edge is drawn beyond its rectangle

Rect clip_of(const ImDrawList* list, float scale) {
  const ImVec2 lo = list->GetClipRectMin(), hi = list->GetClipRectMax();
  return {lo.x / scale, lo.y / scale, (hi.x - lo.x) / scale, (hi.y - lo.y) / scale};
}

Rect around(const ImVec2& a, const ImVec2& b, const ImVec2& c) {
  const float x = std::min({a.x, b.x, c.x}), y = std::min({a.y, b.y, c.y});
  return {x, y, std::max({a.x, b.x, c.x}) - x, std::max({a.y, b.y, c.y}) - y};
}

struct Place {
  Rect rect;  // device px
  float opacity;
};

// Gives triangles the opacity of the smallest place around them. `places`: smallest first; `all` holds the dim ones.
void fade(ImDrawList& list, const std::vector<Place>& places, const Rect& all) {
  std::vector<float> opacity(static_cast<size_t>(list.VtxBuffer.Size), 1);
  for (const ImDrawCmd& cmd : list.CmdBuffer)
    for (unsigned i = 0; i + 2 < cmd.ElemCount; i += 3) {
      int at[3];
      for (unsigned k = 0; k < 3; ++k)
        at[k] = static_cast<int>(cmd.VtxOffset + list.IdxBuffer[static_cast<int>(cmd.IdxOffset + i + k)]);
      const ImVector<ImDrawVert>& v = list.VtxBuffer;
      const Rect triangle = around(v[at[0]].pos, v[at[1]].pos, v[at[2]].pos);
      if (!all.contains(triangle)) continue;
      // Few places are dim, and most triangles lie in none of them, so this search ends most cases.
      const auto around_it = [&](const Place& place) { return place.rect.contains(triangle); };
      const auto dim = std::ranges::find_if(
          places, [&](const Place& place) { return place.opacity < 1 && around_it(place); });
      if (dim == places.end()) continue;
      const auto holder = std::find_if(places.begin(), dim, around_it);
      for (const int vertex : at) {
        float& now = opacity[static_cast<size_t>(vertex)];
        now = std::min(now, holder->opacity);
      }
    }
  for (int i = 0; i < list.VtxBuffer.Size; ++i) {
    ImU32& colour = list.VtxBuffer[i].col;
    const ImU32 alpha = colour >> IM_COL32_A_SHIFT;
    const auto faded = static_cast<ImU32>(static_cast<float>(alpha) * opacity[static_cast<size_t>(i)] + 0.5f);
    colour = (colour & ~IM_COL32_A_MASK) | faded << IM_COL32_A_SHIFT;
  }
}

}  // namespace

const std::string& Ui::locked_help() const {
  static const std::string nothing;
  return options_.locked ? options_.locked() : nothing;
}

Hold Ui::hold_of(std::string_view control) const {
  return options_.policy ? options_.policy(control).value_or(Hold::Shown) : Hold::Shown;
}

// A control inside a hidden control is hidden too, unless a rule of its own shows it.
Hold Ui::note_place(std::string_view name, const Rect& rect, bool interactive) {
  if (!options_.policy) return Hold::Shown;
  ImDrawList* const list = paint_->list();
  const std::optional<Hold> rule = options_.policy(name);
  Hold hold = rule.value_or(Hold::Shown);
  const bool inside = std::ranges::any_of(areas_, [&](const HeldArea& area) {
    return area.hold == Hold::Hidden && area.list == list && area.rect.contains(rect);
  });
  if (!rule && inside) hold = Hold::Hidden;
  // A region without interaction cannot be locked, only hidden: a locked plot is drawn as usual.
  if (interactive || hold == Hold::Hidden) areas_.push_back({list, rect, clip_of(list, scale_), hold});
  return hold;
}

// The hit of a control that is locked, hidden or picked by pointing; nothing for any other control.
std::optional<Hit> Ui::stopped_hit(const std::string& name, const Rect& rect, std::string_view value,
                                   std::string_view help, const HitOptions& options) {
  const Hold hold = note_place(name, rect, true);
  const bool points = options_.pointing && options_.pointing(name);
  if (hold == Hold::Shown && !points) return {};
  if (hold != Hold::Shown) {
    if (focus_ == name) focus_.clear();
    if (edit_.name == name) edit_ = {};
    refused_ = refused_ || press_ == name;
    if (press_ == name) press_.clear();
  }
  if (hold == Hold::Hidden) return Hit{};
  const bool locked = hold == Hold::Locked;
  registry_.add({name, rect, std::string(value), locked ? locked_help() : std::string(help), !locked, true});
  if (rect.empty()) return Hit{};
  ImGui::SetCursorScreenPos({rect.x * scale_, rect.y * scale_});
  if (options.overlap) ImGui::SetNextItemAllowOverlap();
  const bool clicked =
      ImGui::InvisibleButton(("##" + name).c_str(), {rect.w * scale_, rect.h * scale_}) && points;
  Hit h{.hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_NoNavOverride), .clicked = clicked};
  if (points) return pointed_hit(name, rect, options, h);
  if (h.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) refused_ = true;
  if (options.tooltip && h.hovered) explain(name, locked_help(), rect, options.beside);
  return Hit{};
}

// While pointing, a click, or Tab and Enter, picks the control for take_picked() and does not activate it.
Hit Ui::pointed_hit(const std::string& name, const Rect& rect, HitOptions options, Hit h) {
  options.enabled = true;
  keyboard(h, name, options);
  if (h.clicked || press_ == name) picked_ = name;
  if (press_ == name) press_.clear();
  if (h.hovered) paint_top_->outline(rect.inset(-2), theme_->ink, 2, options.radius + 2);
  return Hit{};
}

// Removes the texts of hidden controls from the records.
void Ui::forget_hidden_texts() {
  std::erase_if(texts_, [&](const TextRecord& text) {
    const auto holder = std::ranges::find_if(areas_, [&](const HeldArea& area) {
      const int layer = area.list == paint_window_->list() ? 0 : 1;
      return layer == text.layer && area.rect.inset(-kFringe).contains(text.rect);
    });
    return holder != areas_.end() && holder->hold == Hold::Hidden;
  });
}

void Ui::draw_held() {
  const auto free = [](const HeldArea& area) { return area.hold == Hold::Shown; };
  if (std::ranges::all_of(areas_, free)) return;
  std::ranges::sort(
      areas_, [](const HeldArea& a, const HeldArea& b) { return a.rect.w * a.rect.h < b.rect.w * b.rect.h; });
  forget_hidden_texts();
  std::vector<ImDrawList*> lists;
  for (const HeldArea& area : areas_)
    if (std::ranges::find(lists, area.list) == lists.end()) lists.push_back(area.list);
  for (ImDrawList* const list : lists) {
    std::vector<Place> places;
    float left = 1e9f, top = 1e9f, right = 0, bottom = 0;
    for (const HeldArea& area : areas_) {
      if (area.list != list) continue;
      const Rect seen = area.rect.inset(-kFringe).intersect(area.clip);
      const float opacity = area.hold == Hold::Hidden ? 0 : area.hold == Hold::Locked ? kLockedOpacity : 1;
      const Rect& place =
          places
              .emplace_back(
                  Place{{seen.x * scale_, seen.y * scale_, seen.w * scale_, seen.h * scale_}, opacity})
              .rect;
      if (opacity == 1 || place.empty()) continue;
      left = std::min(left, place.x);
      top = std::min(top, place.y);
      right = std::max(right, place.right());
      bottom = std::max(bottom, place.bottom());
    }
    if (right <= left) continue;
    const Rect all{left, top, right - left, bottom - top};
    std::erase_if(places, [&](const Place& place) { return !all.overlaps(place.rect); });
    fade(*list, places, all);
  }
}

}  // namespace normscope::ui
