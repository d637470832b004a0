// The key `opening` of a lesson: the runs whose diagrams, in small, the lesson opens with, and the place of each that
// matters. Called by the reader and by the player that draws them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"
#include "app/view/diagram_model.h"
#include "training/files/toml_table.h"

namespace normscope::course {

/// A place of the diagram by its name: a slot ("layer1/ffn/trunk", "enc/layer1/attn/before", "final", "embedding"),
/// or the scale of a skip path ("layer2/attn/skip-scale").
struct OpeningPlace {
  lab::SlotId at;
  bool skip_scale = false;
};
/// Nothing where the model has no place of that name.
std::optional<OpeningPlace> opening_place(const ModelConfig& model, std::string_view name);

/// The key `opening` of the lesson's own table; its runs must have been read. Throws Error.
std::vector<OpeningRun> read_opening(const Lesson& lesson, Table& t);

}  // namespace normscope::course
