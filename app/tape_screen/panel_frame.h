// What one InstructionPanel::draw() passes between its parts. Included by the .cpp files of this folder only.
#pragma once

#include <initializer_list>
#include <string>

#include "app/tape_screen/instruction_panel.h"

namespace normscope::tape_screen {

struct InstructionPanel::Frame {
  ui::Ui& ui;
  const InstructionGiven& given;
  const Shown* shown;        // null: there is none
  const Checked* checked{};  // of what is chosen, or null
  InstructionAsked asked{};

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

/// The input of the node, as the instruction reads it or as it writes its gradient; null: it does neither.
inline const ShownTensor* input_of(const Shown& shown, int input) {
  for (const std::vector<ShownTensor>* list : {&shown.writes, &shown.reads})
    for (const ShownTensor& t : *list)
      if (t.input >= 0 && t.input == input) return &t;
  return nullptr;
}

/// The first of the texts that fits, else "".
inline std::string that_fits(const ui::Painter& p, ui::TextStyle style, float width,
                             std::initializer_list<std::string> texts) {
  for (const std::string& text : texts)
    if (p.text_width(style, text) <= width) return text;
  return "";
}

inline constexpr ui::TextStyle kTickWords{ui::Face::Sans, ui::type::tick},
    kTickMono{ui::Face::Mono, ui::type::tick}, kBodyWords{ui::Face::Sans, ui::type::body},
    kBodyMono{ui::Face::Mono, ui::type::body}, kBodyBold{ui::Face::Bold, ui::type::body},
    kTitleBold{ui::Face::Bold, ui::type::title};

}  // namespace normscope::tape_screen
