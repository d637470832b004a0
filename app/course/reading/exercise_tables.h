// The exercise tables are what a learner does beside the prediction: [[say]], sentences to complete, and [challenge], a
// task for the learner's own run. The reader of lessons (course/reader.h) calls this; errors are as in reader.h.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"
#include "app/view/diagram_model.h"
#include "training/io/toml.h"

namespace normscope::course {

/// No sentences or three.
std::vector<Say> read_says(Table& root);
/// Reads the thoughts behind wrong answers to this prediction.
std::vector<Thought> read_thoughts(Table& root, const Prediction& prediction);
Challenge read_challenge(Table t);

/// Requires that the start is above the line, that every measured way is below it and within what is
/// offered, and that no text or figure before the end waits for a way. Throws Error.
void check_challenge(const Lesson& lesson, const Table& root);

/// Whether the curve belongs to a way: such a curve is measured with the lesson, and not when a learner
/// does the lesson.
bool of_way(const Lesson& lesson, const Curve& curve);
bool of_way(const Lesson& lesson, const Measure& measure);

// ---- the key `opening`: the runs whose small diagrams a lesson opens with, and the place that matters in each

/// A place of the diagram by its name: a slot ("layer1/ffn/stream", "enc/layer1/attn/before", "final",
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
