#include "app/lab/split.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lab {

using namespace ui;

namespace {

constexpr float kArrow = 8;     // px that an arrow key moves a gap
constexpr float kWorthIt = 10;  // px: with less room than that a gap stands still

struct GapWords {
  const char* name;
  bool columns;
};
constexpr GapWords kGaps[] = {{"split/diagram and plots", true},
                              {"split/time and depth", true},
                              {"split/diagram and settings", false},
                              {"split/loss and learning rate", false},
                              {"split/learning rate and gradient", false},
                              {"split/first and second plot by layer", false},
                              {"split/second and third plot by layer", false}};
static_assert(std::size(kGaps) == static_cast<size_t>(Gap::Count));

}  // namespace

float split(Ui& ui, Splits& splits, Gap gap, const Rect& room, SplitRange range) {
  range.most = std::max(range.least, range.most);
  range.own = std::clamp(range.own, range.least, range.most);
  if (range.most - range.least < kWorthIt) return range.own;
  const GapWords& words = kGaps[static_cast<size_t>(gap)];
  float& fraction = splits[static_cast<size_t>(gap)];
  const float extent = words.columns ? room.w : room.h;
  const auto place = [&] {
    return std::clamp(fraction > 0 ? std::round(fraction * extent) : range.own, range.least, range.most);
  };
  const float before = place();
  const Rect line = words.columns ? Rect{room.x + before, room.y, space::gap, room.h}
                                  : Rect{room.x, room.y + before, room.w, space::gap};
  HitOptions options{.arrows = true, .draw_focus = false};
  const Hit hit = ui.hit(words.name, line, fmt::format("{:.0f}", before),
                         tr("Drag to give one side more room, double-click for the usual place."), options);
  if (hit.pressed) ui.press_value() = before;
  const int arrow = words.columns ? hit.arrow_x : -hit.arrow_y;
  float wanted = before + kArrow * static_cast<float>(arrow);
  if (hit.dragging) wanted = ui.press_value() + (words.columns ? hit.drag.x : hit.drag.y);
  if (hit.double_clicked || hit.by_key)
    fraction = 0;
  else if (wanted != before)
    fraction = std::clamp(wanted, range.least, range.most) / extent;
  const bool focused = hit.focused && ui.focus_visible();
  if (hit.hovered || hit.held || focused) {
    ImGui::SetMouseCursor(words.columns ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    const Rect bar =
        words.columns ? centred(line.centre(), 2, line.h - 16) : centred(line.centre(), line.w - 16, 2);
    ui.paint().fill(bar, focused ? ui.theme().ink : ui.theme().ink3, 1);
  }
  return place();
}

}  // namespace normscope::lab
