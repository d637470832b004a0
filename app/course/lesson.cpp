// The functions of lesson.h: lookups, definition(), wirings of slots, challenges, cases, faults of predictions.
#include "app/course/lesson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "app/course/tapes.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"

namespace normscope::course {
namespace {

template <typename T>
const T* find(const std::vector<T>& list, std::string_view id) {
  const auto it = std::ranges::find(list, id, &T::id);
  return it == list.end() ? nullptr : &*it;
}

constexpr std::ptrdiff_t kMaxSlots = 12;  // of a run
constexpr const char* kParts[] = {"attn", "ffn"};

size_t place_of(const Knob& knob, double value) {
  const auto last = static_cast<double>(knob.choices.size() - 1);
  return static_cast<size_t>(std::clamp(std::round(value), 0.0, last));
}

}  // namespace

const char* average_words(Mean mean) {
  switch (mean) {
    case Mean::Arithmetic:
      return "arithmetic mean";
    case Mean::Geometric:
      return "geometric mean";
    case Mean::Median:
      return "median";
    case Mean::Count:
      return "count";
  }
  return "";
}

const char* to_string(Mean mean) {
  constexpr const char* kNames[] = {"arithmetic", "geometric", "median", "count"};
  return kNames[static_cast<size_t>(mean)];
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
  return std::ranges::any_of(lesson.figures, [&](const Figure& f) { return f.map_run == run; });
}

bool shows_trained_map(const Lesson& lesson, std::string_view run) {
  return std::ranges::any_of(lesson.figures,
                             [&](const Figure& f) { return f.map_run == run && !f.map_at_start; });
}

const std::vector<std::string>* norms_of_walk(const Lesson& lesson, std::string_view walk) {
  for (const Figure& figure : lesson.figures) {
    const auto at = static_cast<size_t>(std::ranges::find(figure.walk, walk) - figure.walk.begin());
    if (at < figure.walk_norms.size() && !figure.walk_norms[at].empty()) return &figure.walk_norms[at];
  }
  return nullptr;
}

bool shows(const Figure& figure, const Curve& curve) {
  const auto holds = [&](const std::vector<std::string>& ids) {
    return std::ranges::find(ids, curve.id) != ids.end();
  };
  if (curve.of == Curve::Of::Tape && (curve.run == figure.tape || curve.run == figure.bars)) return true;
  if (curve.of == Curve::Of::Shares && curve.run == figure.map_run && curve.at_start == figure.map_at_start)
    return true;
  const bool cell =
      !figure.cells.empty() && (curve.id == figure.cells || curve.id.starts_with(figure.cells + "."));
  return cell || holds(figure.walk) || holds(figure.chain) || figure.ball == curve.id ||
         std::ranges::any_of(figure.walk_norms, holds) ||
         std::ranges::find(figure.lines, curve.id, &FigureLine::curve) != figure.lines.end();
}

bool shows(const Lesson& lesson, const Figure& figure, const Measure& measure) {
  if (measure.curve.empty())
    return shows(lesson, figure, *lesson.measure(measure.first)) &&
           shows(lesson, figure, *lesson.measure(measure.second));
  return shows(figure, *lesson.curve(measure.curve));
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
    if (std::ranges::any_of(lesson.curves, takes)) out += definition_of(tape);
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
  for (const Measure& m : lesson.measures)
    if (const auto* norms = m.take == "left" ? norms_of_walk(lesson, m.curve) : nullptr)
      out += fmt::format("norms {} [{}]\n", m.id, fmt::join(*norms, " "));
  return out;
}

std::string hash_text(const std::string& text) {
  uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("{:016x}", hash);
}

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

Message wrong_slots(const Lesson& lesson, const std::string& run) {
  const auto count =
      std::ranges::count_if(lesson.knobs, [&](const Knob& knob) { return is_slot(knob) && knob.run == run; });
  if (count == 0) return {};
  if (count > kMaxSlots) return Message("run {} has {} slots: expected at most {}", run, count, kMaxSlots);
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
    return error.message;
  }
  for (const std::string& key : wiring_keys(own))
    if (get_field(made, key) != get_field(own, key))
      return Message("the slots begin with {} = '{}', and run {} has '{}': expected the same", key,
                     get_field(made, key), run, get_field(own, key));
  return {};
}

namespace {

/// What the first choice was set to; empty: as it is at the start.
std::string way_of(const Challenge& challenge, const Try& one) {
  for (const auto& [field, value] : settings_of(one.set))
    if (field == challenge.choices.front().field) return value;
  return "";
}

int cost_of(const Challenge& challenge, int hints) {
  int cost = 0;
  for (int i = 0; i < std::min(hints, static_cast<int>(challenge.hints.size())); ++i)
    cost += challenge.hints[static_cast<size_t>(i)].costs;
  return cost;
}

}  // namespace

std::string to_text(const Settings& settings) {
  std::string out;
  for (const auto& [field, value] : settings)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", field, value);
  return out;
}

Settings settings_of(const std::string& set) {
  Settings settings;
  std::istringstream words(set);
  for (std::string word; words >> word;)
    if (const size_t sign = word.find('='); sign != std::string::npos)
      settings.emplace_back(word.substr(0, sign), word.substr(sign + 1));
  return settings;
}

bool below_line(const Challenge& challenge, double loss) {
  return std::isfinite(loss) && loss < challenge.line;
}

std::vector<Try> ways_found(const Challenge& challenge, const std::vector<Try>& tries) {
  std::vector<Try> ways;
  for (const Try& one : tries) {
    if (!below_line(challenge, one.loss)) continue;
    const auto known = std::ranges::find_if(
        ways, [&](const Try& way) { return way_of(challenge, way) == way_of(challenge, one); });
    if (known == ways.end())
      ways.push_back(one);
    else if (one.loss < known->loss)
      *known = one;
  }
  return ways;
}

int score_of(const Challenge& challenge, const std::vector<Try>& tries, int hints) {
  const auto ways = static_cast<int>(ways_found(challenge, tries).size());
  const int lost = challenge.per_run * static_cast<int>(tries.size()) + cost_of(challenge, hints);
  return std::max(0, challenge.points * ways - lost);
}

std::string score_rule(const Challenge& challenge, const Words& words) {
  return words.tr(
             "Each way that ends below {line} is worth {points} points; each choice in the first row "
             "is a way.",
             {{"line", ui::significant(challenge.line, 4)}, {"points", challenge.points}}) +
         " " +
         words.tr("Each training costs {cost}, each hint its own price; the sum is never below 0.",
                  {{"cost", challenge.per_run}});
}

std::string score_text(const Challenge& challenge, const std::vector<Try>& tries, int hints,
                       const Words& words) {
  const size_t ways = ways_found(challenge, tries).size();
  const std::string won = words.tr("1 way | {count} ways", {{"count", ways}});
  const std::string lost = words.tr("1 training | {count} trainings", {{"count", tries.size()}});
  return words.tr("{won} × {points} − {lost} × {cost} − {hints} for hints = {score} points",
                  {{"won", won},
                   {"points", challenge.points},
                   {"lost", lost},
                   {"cost", challenge.per_run},
                   {"hints", cost_of(challenge, hints)},
                   {"score", score_of(challenge, tries, hints)}});
}

void use_words(Lesson& lesson, const Words* words) {
  lesson.words = words;
  if (!lesson.closing) return;
  auto experiment = std::make_shared<Lesson>(*lesson.closing->experiment);
  experiment->words = words;
  lesson.closing->experiment = std::move(experiment);
}

std::vector<std::string> answers_of(const Case& question) {
  const Check& check = question.experiment->checks.front();
  std::vector<std::string> answers{check.says};
  for (const Neighbour& wrong : check.excludes) answers.push_back(wrong.what);
  return answers;
}

std::vector<size_t> offered_order(const Case& question) {
  const std::vector<std::string> answers = answers_of(question);
  std::vector<size_t> order(answers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return answers[i]; });
  return order;
}

std::optional<size_t> place_of_answer(const Case& question, std::string_view kept) {
  const auto at = std::ranges::find(question.kept, kept);
  if (kept.empty() || at == question.kept.end()) return {};
  return static_cast<size_t>(at - question.kept.begin());
}

bool answers_right(const Case& question, std::string_view kept) {
  return place_of_answer(question, kept) == 0;
}

const std::string& reason_of(const Case& question, size_t answer) {
  return answer == 0 ? question.why : question.whys[answer - 1];
}

std::string fault_of_order(const std::string& first, const std::string& second) {
  return first + " before " + second;
}

bool has_either_sign(const Prediction& prediction) {
  return prediction.kind == Prediction::Kind::Value && prediction.low < 0 && prediction.high > 0;
}

std::vector<std::string> possible_faults(const Prediction& prediction) {
  std::vector<std::string> faults;
  if (prediction.kind != Prediction::Kind::Order) {
    faults = {kTooLow, kTooHigh, kFarTooLow, kFarTooHigh};
    if (has_either_sign(prediction)) faults.emplace_back(kOtherSign);
    if (prediction.kind == Prediction::Kind::Draw) faults.emplace_back(kOtherDirection);
    return faults;
  }
  for (const Prediction::Card& first : prediction.cards)
    for (const Prediction::Card& second : prediction.cards)
      if (first.id != second.id) faults.push_back(fault_of_order(first.id, second.id));
  return faults;
}

std::string thought_behind(const Lesson& lesson, const std::vector<std::string>& faults) {
  for (const Thought& thought : lesson.thoughts)
    if (std::ranges::find(faults, thought.when) != faults.end()) return thought.text;
  return "";
}

}  // namespace normscope::course
