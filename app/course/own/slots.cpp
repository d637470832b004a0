#include "app/course/own/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "app/course/tapes/tape_tables.h"
#include "app/ui/widgets.h"
#include "engine/core/error.h"

namespace normscope::course {
namespace {

constexpr std::ptrdiff_t kMostSlots = 12;  // of a run
constexpr const char* kParts[] = {"attn", "ffn"};

size_t place_of(const Knob& knob, double value) {
  const auto last = static_cast<double>(knob.choices.size() - 1);
  return static_cast<size_t>(std::clamp(std::round(value), 0.0, last));
}

}  // namespace

double first_value(const Lesson& lesson, const Knob& knob) {
  if (is_slot(knob)) return knob.start;
  if (const LessonTape* tape = lesson.tape(knob.run)) return *field_of_tape(tape->tape, knob.field);
  return std::strtod(get_field(lesson.run(knob.run)->spec, knob.field).c_str(), nullptr);
}

std::string shown_value(const Knob& knob, double value) {
  return is_slot(knob) ? knob.names[place_of(knob, value)] : ui::number(value, 3);
}

std::map<std::string, std::string> wiring_of_slots(const Lesson& lesson, const std::string& run,
                                                   const std::function<double(const Knob&)>& value) {
  std::map<std::string, std::string> wiring;
  for (const Knob& knob : lesson.knobs) {
    if (!is_slot(knob) || knob.run != run) continue;
    const std::string& choice = knob.choices[place_of(knob, value(knob))];
    if (knob.slot == "final" || knob.slot == "embedding") {
      wiring["wiring." + knob.slot] = choice;
      continue;
    }
    for (const char* part : kParts) {
      if (!knob.part.empty() && knob.part != part) continue;
      std::string& words = wiring[fmt::format("wiring.L*.{}", part)];
      if (choice == "1") continue;          // a scale of one is the default
      std::istringstream slots(knob.slot);  // "q k": the same in both
      for (std::string slot; slots >> slot;)
        words += fmt::format("{}{}={}", words.empty() ? "" : " ", slot, choice);
    }
  }
  for (auto& [key, words] : wiring)
    if (words.empty()) words = "none";
  return wiring;
}

std::string wrong_slots(const Lesson& lesson, const std::string& run) {
  const auto count = std::count_if(lesson.knobs.begin(), lesson.knobs.end(),
                                   [&](const Knob& knob) { return is_slot(knob) && knob.run == run; });
  if (count == 0) return {};
  if (count > kMostSlots)
    return fmt::format("run {} has {} slots: expected at most {}", run, count, kMostSlots);
  const RunSpec& own = lesson.run(run)->spec;
  RunSpec made = own;
  const auto set = [&](const std::function<double(const Knob&)>& value) {
    for (const auto& [key, words] : wiring_of_slots(lesson, run, value)) set_field(made, key, words);
  };
  try {
    for (const Knob& knob : lesson.knobs)  // every choice is one of the wiring
      if (is_slot(knob) && knob.run == run)
        for (size_t i = 0; i < knob.choices.size(); ++i)
          set([&](const Knob& other) { return &other == &knob ? static_cast<double>(i) : other.start; });
    set([](const Knob& knob) { return knob.start; });
  } catch (const Error& error) {
    return error.what();
  }
  for (const std::string& key : wiring_keys(own))
    if (get_field(made, key) != get_field(own, key))
      return fmt::format("the slots begin with {} = '{}', and run {} has '{}': expected the same", key,
                         get_field(made, key), run, get_field(own, key));
  return {};
}

std::vector<std::string> wiring_settings(const RunSpec& spec) {
  // "none" is first because it empties the places that are not named.
  std::vector<std::string> set{"model.placement=none"};
  const std::string attention = get_field(spec, "wiring.L*.attn"), forward = get_field(spec, "wiring.L*.ffn");
  if (attention == forward) {
    set.push_back("wiring.L*=" + attention);
  } else {
    set.push_back("wiring.L*.attn=" + attention);
    set.push_back("wiring.L*.ffn=" + forward);
  }
  for (const char* key : {"wiring.embedding", "wiring.final"})
    if (const std::string norm = get_field(spec, key); norm != "none")
      set.push_back(fmt::format("{}={}", key, norm));
  return set;
}

}  // namespace normscope::course
