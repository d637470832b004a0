// Draws the wiring in miniature: a branch over the residual stream, with the norm where it sits.
// The run cards of the Lab and the cells of a sweep show it.
#pragma once

#include "app/ui/ui.h"
#include "app/view/diagram_model.h"
#include "engine/model/model_config.h"

namespace normscope::view {

/// Takes 79 x 42 px from `at`. `line` colours the stream; `side` chooses one of two stacks.
void draw_wiring_glyph(ui::Ui& ui, ui::Vec at, const ModelConfig& model, ui::Colour line,
                       Side side = Side::Main);

}  // namespace normscope::view
