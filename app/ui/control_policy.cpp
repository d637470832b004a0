#include <imgui.h>

#include <algorithm>
#include <iterator>

#include "app/ui/ui.h"

namespace normscope::ui {
namespace {

constexpr std::string_view kSigns = "/.";  // between the parts of a name
constexpr std::string_view kNeverHeld[] = {"app/palette", "app/message", "app/failure"};

}  // namespace

bool ControlPolicy::owns(std::string_view control) const {
  return owner_ &&
         std::ranges::any_of(owner_->controls, [&](std::string_view name) { return is_for(name, control); });
}

bool ControlPolicy::never_held(std::string_view control) const {
  return owns(control) || std::any_of(std::begin(kNeverHeld), std::end(kNeverHeld),
                                      [&](std::string_view name) { return is_for(name, control); });
}

const std::string& ControlPolicy::locked_help() const {
  static const std::string nothing;
  return owner_ ? owner_->locked() : nothing;
}

bool is_for(std::string_view rule, std::string_view control) {
  if (!control.starts_with(rule)) return false;
  return control.size() == rule.size() || kSigns.find(control[rule.size()]) != kSigns.npos;
}

void ControlPolicy::set(std::string_view name, std::optional<Hold> hold) {
  const auto at = rules_.find(name);
  if (!hold) {
    if (at != rules_.end()) rules_.erase(at);
    return;
  }
  if (at != rules_.end()) return void(at->second = *hold);
  if (name.empty() || name.size() > kLongestRule || never_held(name) || rules_.size() >= kMostRules) return;
  rules_.emplace(name, *hold);
}

std::optional<Hold> ControlPolicy::rule(std::string_view name) const {
  const auto at = rules_.find(name);
  return at == rules_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<Hold> ControlPolicy::decides(std::string_view control) const {
  if (rules_.empty() || never_held(control)) return {};
  for (std::string_view name = control;;) {
    if (const auto at = rules_.find(name); at != rules_.end()) return at->second;
    const size_t sign = name.find_last_of(kSigns);
    if (sign == name.npos) return {};
    name = name.substr(0, sign);
  }
}

std::vector<std::string> control_and_groups(std::string_view control) {
  std::vector<std::string> names;
  while (true) {
    names.emplace_back(control);
    const size_t sign = control.find_last_of(kSigns);
    if (sign == control.npos) return names;
    control = control.substr(0, sign);
  }
}

// ---- what Ui does about locked and hidden controls in a hit test and in the drawing. A control draws itself
// as always. At the end of the frame whatever lies in a hidden control becomes transparent, whatever lies in a locked
// one pale, triangle by triangle, each as the smallest control around it says.

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

// Takes `places` from the smallest on; `all` is the rectangle around the places that are not opaque.
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
  static const ControlPolicy none;
  return (options_.policy ? *options_.policy : none).locked_help();
}

Hold Ui::hold_of(std::string_view control) const {
  return options_.policy ? options_.policy->decides(control).value_or(Hold::Shown) : Hold::Shown;
}

// A control inside a hidden control is hidden too, unless a rule of its own shows it.
Hold Ui::note_place(std::string_view name, const Rect& rect, bool interactive) {
  if (!options_.policy || options_.policy->empty()) return Hold::Shown;
  ImDrawList* const list = paint_->list();
  const std::optional<Hold> rule = options_.policy->decides(name);
  Hold hold = rule.value_or(Hold::Shown);
  const bool inside = std::ranges::any_of(areas_, [&](const HeldArea& area) {
    return area.hold == Hold::Hidden && area.list == list && area.rect.contains(rect);
  });
  if (!rule && inside) hold = Hold::Hidden;
  // A region without interaction cannot be locked: what a locked plot shows stays as it is.
  if (interactive || hold == Hold::Hidden) areas_.push_back({list, rect, clip_of(list, scale_), hold});
  return hold;
}

// Answers for a control that has no say in the hit; it returns nothing where the control is free.
std::optional<Hit> Ui::stopped_hit(const std::string& name, const Rect& rect, std::string_view value,
                                   std::string_view help, const HitOptions& options) {
  const Hold hold = note_place(name, rect, true);
  const bool points = options_.pointing && !options_.pointing->owns(name) && !is_for("app/palette", name);
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

// While pointing, the mouse, or Tab and Enter, only names the control.
Hit Ui::pointed_hit(const std::string& name, const Rect& rect, HitOptions options, Hit h) {
  options.enabled = true;
  keyboard(h, name, options);
  if (h.clicked || press_ == name) picked_ = name;
  if (press_ == name) press_.clear();
  if (h.hovered) paint_top_->outline(rect.inset(-2), theme_->ink, 2, options.radius + 2);
  return Hit{};
}

// Drops the texts of hidden controls, as nobody sees them.
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
