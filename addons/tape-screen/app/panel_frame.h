// The panel frame is what one draw() of the middle and the right panel passes between its parts, and what both use.
// Only their .cpp files include it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "addons/tape-screen/app/instruction_panel.h"
#include "addons/tape-screen/app/memory_panel.h"

namespace normscope::tape_screen {

struct InstructionPanel::Frame {
  ui::Ui& ui;
  const InstructionInput& given;
  const InstructionView* shown;   // null: there is none
  const ElementCheck* checked{};  // of the chosen element, or null
  InstructionRequest asked{};

  bool small() const { return given.part == Part::Rule; }
  /// The element that is checked, or will be.
  std::optional<Element> element(const std::optional<Element>& chosen) const {
    if (chosen || !checked || !checked->fault.empty()) return chosen;
    return checked->element;
  }
};

/// A line of the list: a heading, or a tensor.
struct InstructionPanel::Row {
  const ShownTensor* tensor = nullptr;
  std::string name;  // "reads", "reads/0"
  float height = 0;
};

struct MemoryPanel::Frame {
  ui::Ui& ui;
  const MemoryInput& given;
  const MemoryMap& map;
  ui::Rect plot{};
  MemoryRequest asked{};

  float x_of(int32_t instruction) const {
    return plot.x + plot.w * (static_cast<float>(instruction) + 0.5f) /
                        static_cast<float>(std::max(map.instructions, 1));
  }
  int32_t instruction_at(float x) const {
    const auto i = static_cast<int32_t>(
        std::floor((x - plot.x) / std::max(plot.w, 1.f) * static_cast<float>(map.instructions)));
    return std::clamp(i, 0, std::max(map.instructions - 1, 0));
  }
  ui::Rect rect_of(const Buffer& b) const {
    return buffer_rect(map, b, plot.w, plot.h).moved(plot.x, plot.y);
  }
};

/// The menu in the upper right corner of a panel: NAME/menu with NAME/menu/svg, png, csv, json. It
/// returns what was chosen in this frame; empty: nothing. `what` names what is saved: "the memory plan".
std::string save_menu(ui::Ui& ui, const std::string& name, const ui::Rect& panel, std::string_view what);

inline constexpr ui::TextStyle kTickWords{ui::Face::Sans, ui::type::tick},
    kTickMono{ui::Face::Mono, ui::type::tick}, kBodyWords{ui::Face::Sans, ui::type::body},
    kBodyMono{ui::Face::Mono, ui::type::body}, kBodyBold{ui::Face::Bold, ui::type::body},
    kTitleBold{ui::Face::Bold, ui::type::title};

}  // namespace normscope::tape_screen
