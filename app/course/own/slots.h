// A wiring of the learner's own: knobs that say what stands in a slot of every layer, and the wiring that they come to.
// Called by the reader's checks, the player, the worksheet and the tests.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::course {

inline bool is_slot(const Knob& knob) { return !knob.slot.empty(); }

/// The number at which a knob stands in the lesson: its field's, or the place of its first choice.
double first_value(const Lesson& lesson, const Knob& knob);
/// As shown: "0.004", "LayerNorm".
std::string shown_value(const Knob& knob, double value);

/// Keys and values of the wiring that the slots of a run come to, where each knob stands as `value` says.
std::map<std::string, std::string> wiring_of_slots(const Lesson& lesson, const std::string& run,
                                                   const std::function<double(const Knob&)>& value);

/// Why the slots are not those of the run, whose wiring they must have at first; empty when they are, or there is none.
std::string wrong_slots(const Lesson& lesson, const std::string& run);

/// What an entry of the zoo sets for the wiring of a run whose layers are alike, as KEY=VALUE.
std::vector<std::string> zoo_settings(const RunSpec& spec);

}  // namespace normscope::course
