// The wiring in miniature: a branch over the residual stream, the norm where it sits. On the run cards of the Lab and
// beside a cell of a sweep.
#pragma once

#include "app/ui/ui.h"
#include "app/view/diagram_model.h"
#include "engine/model/model_config.h"

namespace normscope::lab {

/// 79 x 42 px from `at`; `line`: of the stream. `side`: which of two stacks.
void draw_wiring_glyph(ui::Ui& ui, ui::Vec at, const ModelConfig& model, ui::Colour line,
                       Side side = Side::Main);

}  // namespace normscope::lab
