// The key `opening` of a lesson names the runs whose small diagrams the lesson opens with, and the place that matters
// in each. The reader and the player that draws them call this.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"
#include "app/view/diagram_model.h"
#include "training/io/toml_table.h"

namespace normscope::course {

/// A place of the diagram by its name: a slot ("layer1/ffn/trunk", "enc/layer1/attn/before", "final",
/// "embedding"), or the scale of a skip path ("layer2/attn/skip-scale").
struct OpeningPlace {
  view::SlotId at;
  bool skip_scale = false;
};
/// Returns nothing where the model has no place of that name.
std::optional<OpeningPlace> opening_place(const ModelConfig& model, std::string_view name);

/// Reads the key `opening` from the lesson's own table, after the lesson's runs. Throws Error.
std::vector<OpeningRun> read_opening(const Lesson& lesson, Table& t);

}  // namespace normscope::course
