// Says above the Lab of a first start what is training there and what to do, in one sentence, and invites
// to the course and to the Lab with equal ease.
#pragma once

#include <optional>

#include "app/shell/shell.h"

namespace normscope::shell {

/// Takes its strip off the top of `area` while nobody has answered and the runs are still the sentence's,
/// and then while the tour goes on. It returns the first lesson where that was chosen. A norm that was dragged is an
/// answer too.
std::optional<view::Act> draw_welcome(ui::Ui& ui, ui::Rect& area, Offers& offers, const LabView& view);

/// Lights up what the tour is about; it is called after the Lab.
void draw_tour(ui::Ui& ui, const Offers& offers);

}  // namespace normscope::shell
