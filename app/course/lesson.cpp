// The lookups of lesson.h, and the text that decides what is measured.
#include "app/course/lesson.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "app/course/tapes/tape_tables.h"

namespace normscope::course {
namespace {

template <typename T>
const T* find(const std::vector<T>& list, std::string_view id) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const T& item) { return item.id == id; });
  return it == list.end() ? nullptr : &*it;
}

}  // namespace

const char* to_string(Mean mean) {
  switch (mean) {
    case Mean::Geometric:
      return "geometric";
    case Mean::Median:
      return "median";
    case Mean::Count:
      return "count";
    case Mean::Arithmetic:
      break;
  }
  return "arithmetic";
}

const char* to_string(StepKind step) {
  constexpr const char* kNames[] = {"predict", "run", "compare", "explain"};
  return kNames[static_cast<size_t>(step)];
}

const char* title_of(StepKind step) {
  constexpr const char* kTitles[] = {"Predict", "Run", "Compare", "Explain"};
  return kTitles[static_cast<size_t>(step)];
}

const LessonRun* Lesson::run(std::string_view id) const {
  const LessonRun* lettered = find(runs, id);
  return lettered ? lettered : find(beside, id);
}
bool Lesson::has_letter(std::string_view id) const { return find(runs, id) != nullptr; }
std::vector<const LessonRun*> Lesson::all_runs() const {
  std::vector<const LessonRun*> all;
  for (const auto* kind : {&runs, &beside})
    for (const LessonRun& one : *kind) all.push_back(&one);
  return all;
}
std::vector<LessonRun*> Lesson::all_runs() {
  std::vector<LessonRun*> all;
  for (auto* kind : {&runs, &beside})
    for (LessonRun& one : *kind) all.push_back(&one);
  return all;
}
const LessonTape* Lesson::tape(std::string_view id) const { return find(tapes, id); }
const Curve* Lesson::curve(std::string_view id) const { return find(curves, id); }
const Measure* Lesson::measure(std::string_view id) const { return find(measures, id); }
const Figure* Lesson::figure(std::string_view id) const { return find(figures, id); }
const Knob* Lesson::knob(std::string_view id) const { return find(knobs, id); }

bool shows_map(const Lesson& lesson, std::string_view run) {
  return std::any_of(lesson.figures.begin(), lesson.figures.end(),
                     [&](const Figure& f) { return f.map_run == run; });
}

bool shows_trained_map(const Lesson& lesson, std::string_view run) {
  return std::any_of(lesson.figures.begin(), lesson.figures.end(),
                     [&](const Figure& f) { return f.map_run == run && !f.map_at_start; });
}

std::string definition(const Lesson& lesson) {
  std::string out;
  // Only differences from the default model are listed, so that a new field of the engine makes no lesson stale.
  RunSpec standard;
  complete(standard);
  for (const LessonRun* run : lesson.all_runs()) {
    out += "run " + run->id + "\n";
    for (const Edit& edit : edits_between(standard, run->spec, 0))
      if (edit.key != "run.name") out += fmt::format("  {} = {}\n", edit.key, edit.value);
    for (const Edit& edit : run->edits) out += fmt::format("  edit {}\n", to_string(edit));
  }
  for (const Curve& c : lesson.curves)
    out += fmt::format("curve {} {} {} {} {} {} {} {} [{}] {} {} {} {} {} {}\n", c.id, static_cast<int>(c.of),
                       c.run, c.y, c.relative, c.from, c.to, c.field, fmt::join(c.xs, " "), c.theory,
                       c.feed_forward, c.positions, c.noise, c.at_start, to_string(c.mean));
  for (const Curve& c : lesson.curves)
    if (c.models != 1) out += fmt::format("models {} {}\n", c.id, c.models);
  for (const Curve& c : lesson.curves)
    if (!c.over.empty()) out += fmt::format("over {} {}\n", c.id, c.over);
  for (const Curve& c : lesson.curves)
    if (!c.other.empty()) out += fmt::format("other {} {} [{}]\n", c.id, c.other, fmt::join(c.values, " "));
  for (const LessonTape& tape : lesson.tapes) {
    const auto takes = [&](const Curve& c) { return c.of == Curve::Of::Tape && c.run == tape.id; };
    if (std::any_of(lesson.curves.begin(), lesson.curves.end(), takes)) out += definition_of(tape);
  }
  for (const Curve& c : lesson.curves)
    if (c.rate != 0) out += fmt::format("rate {} {}\n", c.id, c.rate);
  for (const Measure& m : lesson.measures)
    out += fmt::format("measure {} {} {} {} {} {} {} {} {}\n", m.id, m.curve, m.take, m.a, m.b, m.against,
                       m.first, m.second, to_string(m.mean));
  for (const Measure& m : lesson.measures)
    if (m.take == "passes") out += fmt::format("limit {} {}\n", m.id, m.limit);
  for (const Measure& m : lesson.measures)
    if (!m.law.empty())
      out += fmt::format("law {} {} [{}] {}\n", m.id, m.law, fmt::join(m.rivals, " "), m.offset);
  return out;
}

std::string hash_text(const std::string& text) {
  uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("{:016x}", hash);
}

}  // namespace normscope::course
