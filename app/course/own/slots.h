// The slots are a wiring of the learner's own: knobs that say what is in a slot of every layer, and the wiring that
// results. The reader's checks and the player call this.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::course {

inline bool is_slot(const Knob& knob) { return !knob.slot.empty(); }

/// The number of a knob when the lesson opens: its field's value, or the index of its first choice.
double first_value(const Lesson& lesson, const Knob& knob);
/// The value as shown: "0.004", "LayerNorm".
std::string shown_value(const Knob& knob, double value);

/// The keys and values of the wiring that the slots of a run make, with each knob at the
/// number that `value` gives.
std::map<std::string, std::string> wiring_of_slots(const Lesson& lesson, const std::string& run,
                                                   const std::function<double(const Knob&)>& value);

/// Why the slots do not match the run, whose wiring they must make at first. It is empty when they
/// match, or when there are no slots.
std::string wrong_slots(const Lesson& lesson, const std::string& run);

/// The settings that make the wiring of a run whose layers are alike, as KEY=VALUE.
std::vector<std::string> wiring_settings(const RunSpec& spec);

}  // namespace normscope::course
