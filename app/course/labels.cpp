#include "app/course/labels.h"

#include <algorithm>
#include <cstdlib>

#include "app/course/language.h"
#include "app/ui/widgets.h"
#include "training/spec/update_rule.h"

namespace normscope::course {
namespace {

/// Excludes placements, because the name of the run states them already.
bool sayable(const std::string& key) {
  return find_field(key) && key != "run.name" && key != "run.seed" && !key.ends_with("placement");
}

/// Layer norm is what a norm is, unless a run says otherwise.
bool goes_without_saying(const std::string& key, const std::string& value) {
  return key == "model.norm" && value == "ln";
}

/// The settings that tell the runs apart, in the order of the table of fields.
std::vector<std::string> telling(const Lesson& lesson, const Changes& changes) {
  std::vector<std::string> keys;
  if (lesson.runs.empty()) return keys;
  const RunSpec first = spec_of(lesson, lesson.runs[0].id, 1, changes);
  const auto add = [&](const RunSpec& from, const RunSpec& to) {
    for (const Edit& edit : edits_between(from, to, 0))
      if (sayable(edit.key) && std::ranges::find(keys, edit.key) == keys.end()) keys.push_back(edit.key);
  };
  // A page says its labels in every frame, and to compare two specifications takes long: not with themselves.
  for (const LessonRun& run : lesson.runs) {
    const RunSpec changed = spec_of(lesson, run.id, 1, changes);
    if (&run != &lesson.runs[0]) add(first, changed);
    if (!changes.empty()) add(spec_of(lesson, run.id, 1), changed);
  }
  return keys;
}

std::string in_words(const Lesson& lesson, const std::string& key, const std::string& value) {
  if (key == "train.warmup" && value == "0") return lesson.words->tr("no warm-up");
  if (key == "train.optimizer") return words::spoken(rule_of(optimizer_from(value)).label, *lesson.words);
  const Field& field = *find_field(key);
  const bool number = field.type == FieldType::Real;
  return fmt::format("{} {}", called(*lesson.words, "setting", field.key, field.label),
                     number ? ui::number(std::strtod(value.c_str(), nullptr), 3) : value);
}

/// Names what the learner chose in a challenge, because the run's own name does not.
std::string chosen_placement(const Lesson& lesson, const std::string& run, const RunSpec& spec) {
  if (!lesson.challenge || lesson.challenge->run != run) return {};
  for (const Challenge::Choice& choice : lesson.challenge->choices)
    if (choice.field.ends_with("placement"))
      for (const Challenge::Choice::Value& one : choice.values)
        if (one.value == get_field(spec, choice.field)) return ", " + one.text;
  return {};
}

}  // namespace

std::string run_label(const Lesson& lesson, const std::string& run, const Changes& changes,
                      const Curve* curve) {
  const bool fresh =
      curve && curve->y != "step_change" &&
      (curve->of == Curve::Of::Depth || curve->of == Curve::Of::Layers || curve->of == Curve::Of::Norm ||
       curve->of == Curve::Of::Wiring || (curve->of == Curve::Of::Shares && curve->at_start));
  std::string label = lesson.run(run)->name;
  if (!lesson.has_letter(run)) return label;
  const RunSpec spec = spec_of(lesson, run, 1, changes);
  label += chosen_placement(lesson, run, spec);
  for (const std::string& key : telling(lesson, changes))
    if ((!fresh || !key.starts_with("train.")) && !goes_without_saying(key, get_field(spec, key)))
      label += ", " + in_words(lesson, key, get_field(spec, key));
  return label;
}

std::string setting_said(const Lesson& lesson, std::string_view text) {
  std::vector<std::string> keys = telling(lesson, {});
  for (const Knob& knob : lesson.knobs) keys.push_back(knob.field);
  for (const std::string& key : keys)
    if (const Field* field = find_field(key); field && text.find(field->label) != text.npos)
      return std::string(field->label);
  return {};
}

}  // namespace normscope::course
