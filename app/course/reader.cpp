// The reader of reader.h has one function per table of lesson.toml.
#include "app/course/reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "app/course/language/language.h"
#include "app/course/map/cells.h"
#include "app/course/map/swept.h"
#include "app/course/reader_checks.h"
#include "app/course/reading/exercise_tables.h"
#include "app/course/reading/measure_tables.h"
#include "app/course/reading/opening.h"
#include "app/course/summary.h"
#include "app/course/tapes/tape_tables.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/files/shipped_folder.h"
#include "training/io/input_kinds.h"
#include "training/io/toml_table.h"
#include "training/spec/limits.h"

namespace normscope::course {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 10'000, kMostLessons = 200, kMostKnobChoices = 8;
constexpr double kLargest = 1e6;  // the largest number of steps of a knob or slider

/// Accepts "A" to "D", the runs that a learner sees.
bool is_letter(const std::string& id) { return id.size() == 1 && id[0] >= 'A' && id[0] <= 'D'; }

/// Accepts names such as "sgd" and "detach_mean", which runs for comparison have.
bool is_run_name(const std::string& id) {
  return !id.empty() && std::islower(static_cast<unsigned char>(id[0])) &&
         std::all_of(id.begin(), id.end(),
                     [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

void read_runs(Lesson& lesson, Table& t) {
  for (auto& [id, child] : t.children("run")) {
    if (!is_letter(id) && !is_run_name(id))
      child.refuse("",
                   fmt::format("'{}' is no run: expected A, B, C or D, or a name in small letters for one "
                               "that is only compared",
                               id));
    (is_letter(id) ? lesson.runs : lesson.beside).push_back(read_run(id, child));
  }
}

FigureAxis read_axis(Table t) {
  FigureAxis a{.label = t.text("label"),
               .log = t.flag("log", false),
               .low = t.number("low"),
               .high = t.number("high"),
               .ticks = t.numbers("ticks")};
  a.loss = a.label.starts_with("loss");
  a.steps = a.label == "training step";
  if (a.low >= a.high) t.refuse("low", "is not below high: expected a range");
  if (a.log && a.low <= 0) t.refuse("low", "is not positive: expected more than 0 on a log axis");
  t.done();
  return a;
}

void read_walk(Figure& f, Table& t) {
  f.walk = t.texts("walk");
  if (!f.walk.empty()) {
    if (t.has("walk_norms"))
      for (const std::string& of_stack : t.texts("walk_norms")) {
        std::istringstream ids(of_stack);
        f.walk_norms.emplace_back(std::istream_iterator<std::string>(ids),
                                  std::istream_iterator<std::string>());
      }
    f.walk_opens = t.whole("walk_opens", 0, kMostSteps, 0);
  }
}

Figure read_figure(const std::string& id, Table t) {
  Figure f;
  f.id = id;
  f.title = t.text("title");
  f.note = t.text("note", "");
  f.name = f.tab = t.text("tab", id);
  f.river = t.has("river");
  if (f.river && t.has("map")) t.refuse("river", "stands beside map: expected one of them");
  f.map_run = t.text(f.river ? "river" : "map", "");
  if (f.river) {
    f.grows = t.flag("river_grows", false);
    f.below = t.text("river_below", "");
  }
  f.map_at_start = t.choice(f.river ? "river_at" : "map_at", {"start", "end"}, 0) == 0;
  f.cells = t.text("cells", "");
  f.tape = t.text("tape", "");
  if (!f.tape.empty()) f.follow = t.whole("follow", 0, static_cast<int32_t>(kMostSmallNumbers), 0);
  f.ball = t.text("ball", "");
  read_walk(f, t);
  f.chain = t.texts("chain");
  f.bars = t.text("bars", "");
  if (!f.bars.empty()) f.bars_beside = t.text("bars_beside", "");
  if (f.map_run.empty() && f.cells.empty() && f.tape.empty() && f.bars.empty() && f.chain.empty()) {
    if (f.walk.empty()) f.x = read_axis(t.table("x"));
    f.y = read_axis(t.table("y"));
  }
  for (Table& line : t.tables("lines")) {
    FigureLine l{.curve = line.text("curve"), .run = line.text("run", ""), .name = line.text("name", "")};
    line.done();
    f.lines.push_back(std::move(l));
  }
  for (Table& level : t.tables("levels")) {
    FigureLevel l;
    l.label = level.text("label");
    l.value = level.maybe("value");
    l.measure = level.text("measure", "");
    l.letters = level.flag("letters", false);
    level.done();
    f.levels.push_back(std::move(l));
  }
  for (Table& theory : t.tables("theory")) {
    Figure::Theory line;
    line.label = theory.text("label");
    line.x = theory.numbers("x");
    line.low = theory.numbers("low");
    line.high = theory.has("high") ? theory.numbers("high") : line.low;
    if (line.x.size() < 2 || line.x.size() != line.low.size() || line.x.size() != line.high.size())
      theory.refuse("x", "x, low and high differ in length: expected as many numbers, two at least");
    theory.done();
    f.theory.push_back(std::move(line));
  }
  t.done();
  return f;
}

/// Requires a step that divides the range into at most kLargest parts.
bool is_slider(double low, double high, double step) {
  return low < high && step > 0 && (high - low) / step <= kLargest;
}

Prediction read_prediction(Table t) {
  Prediction p;
  p.kind = static_cast<Prediction::Kind>(t.choice("kind", {"draw", "order", "value"}));
  p.ask = t.text("ask");
  if (p.kind == Prediction::Kind::Draw) p.curve = t.text("curve");
  if (p.kind == Prediction::Kind::Value) {
    p.measure = t.text("measure");
    p.unit = t.text("unit", "");
    p.values = t.numbers("values");
    if (p.values.empty()) {
      p.low = t.number("low");
      p.high = t.number("high");
      p.step = t.number("step");
    } else {
      if (p.values.size() < 2 || !std::is_sorted(p.values.begin(), p.values.end()))
        t.refuse("values", "expected two numbers or more, ascending");
      p.low = p.values.front();
      p.high = p.values.back();
    }
    p.start = t.number("start");
    p.on_y = t.choice("axis", {"x", "y"}, 0) == 1;
    if (!(is_slider(p.low, p.high, p.step) && p.start >= p.low && p.start <= p.high))
      t.refuse("low", "no slider: expected low < high, step > 0, low <= start <= high");
  }
  if (p.kind == Prediction::Kind::Order) {
    p.first = t.text("first");
    p.last = t.text("last");
    for (Table& card : t.tables("cards")) {
      p.cards.push_back({card.text("id"), card.text("text"), card.text("measure")});
      card.done();
    }
    if (p.cards.size() < 2) t.refuse("cards", "expected two cards or more");
    p.alike = t.number("alike", 0);
    if (p.alike < 0) t.refuse("alike", "is negative: expected 0 or more");
  }
  t.done();
  return p;
}

/// Reads a knob that puts one of several choices into a slot of every layer.
void read_slot(Knob& k, Table& t) {
  k.slot = t.text("slot");
  if (t.has("part")) k.part = t.choice("part", {"attn", "ffn"}) == 0 ? "attn" : "ffn";
  k.choices = t.texts("choices");
  k.names = t.has("names") ? t.texts("names") : k.choices;
  if (k.choices.size() < 2 || k.choices.size() > kMostKnobChoices || k.names.size() != k.choices.size())
    t.refuse("choices", fmt::format("expected 2 to {}, and as many names", kMostKnobChoices));
  const std::string start = t.text("start", k.choices.front());
  const auto at = std::find(k.choices.begin(), k.choices.end(), start);
  if (at == k.choices.end())
    t.refuse("start",
             fmt::format("'{}' is no choice: expected one of {}", start, fmt::join(k.choices, ", ")));
  k.start = static_cast<double>(at - k.choices.begin());
  k.high = static_cast<double>(k.choices.size() - 1);
}

Knob read_knob(const std::string& id, Table t) {
  Knob k;
  k.id = id;
  k.run = t.text("run");
  k.label = t.text("label");
  if (t.has("slot")) {
    read_slot(k, t);
    t.done();
    return k;
  }
  k.field = t.text("field");
  k.low = t.number("low");
  k.high = t.number("high");
  k.step = t.number("step");
  if (!is_slider(k.low, k.high, k.step)) t.refuse("low", "no range: expected low < high, step > 0");
  t.done();
  return k;
}

Puzzle read_puzzle(Table t) {
  Puzzle p;
  p.text = t.text("text");
  p.measure = t.text("measure");
  p.low = t.maybe("low");
  p.high = t.maybe("high");
  t.done();
  return p;
}

/// The number of a folder named NN-name, and nothing for any other folder.
std::optional<int32_t> number_of(const std::string& folder) {
  const std::string name = fs::path(folder).filename().string();
  int32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_one =
      error == std::errc{} && name.size() > 3 && number >= 0 && end != name.data() + name.size();
  return is_one ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string read_needed(const std::string& path, const InputKind& kind) {
  auto text = read_input_file_if_there(path, kind);
  if (!text) throw Error(fmt::format("{}:1: the file is missing: expected {}", path, kind.expected));
  return *std::move(text);
}

Lesson read_lesson(const std::string& folder) {
  const std::string file = (fs::path(folder) / "lesson.toml").string();
  return parse_lesson(read_needed(file, input::kLesson), folder,
                      [](const std::string& path) { return read_needed(path, input::kProse); });
}

Lesson parse_lesson(std::string_view source, const std::string& folder, const ReadProse& read_prose) {
  const std::string file = (fs::path(folder) / "lesson.toml").string();
  const toml::table root = parse_toml(source, file);
  Table t(root, file, "");
  Lesson lesson;
  lesson.folder = folder;
  lesson.number = number_of(folder).value_or(0);
  lesson.id = t.text("id");
  lesson.title = t.text("title");
  lesson.question = t.text("question");
  lesson.claim = t.text("claim");
  lesson.minutes = t.whole("minutes", 1, 10);  // as the course promises
  lesson.sources = t.texts("sources");
  lesson.spotlight = t.text("spotlight");
  read_runs(lesson, t);
  for (auto& [id, child] : t.children("tape")) lesson.tapes.push_back(read_tape(id, child));
  for (auto& [id, child] : t.children("curve")) lesson.curves.push_back(read_curve(id, child));
  add_cells(lesson.curves);
  for (auto& [id, child] : t.children("measure")) lesson.measures.push_back(read_measure(id, child));
  set_bounds(lesson);
  for (Table& child : t.tables("check")) lesson.checks.push_back(read_check(child));
  for (auto& [id, child] : t.children("figure")) lesson.figures.push_back(read_figure(id, child));
  for (Figure& figure : lesson.figures)
    if (const Curve* border = lesson.curve(figure.cells); border && border->of == Curve::Of::Border)
      set_cell_axes(*border, figure);
  for (auto& [id, child] : t.children("knob")) lesson.knobs.push_back(read_knob(id, child));
  lesson.prediction = read_prediction(t.table("prediction"));
  lesson.effect = t.texts("effect");
  lesson.opening = read_opening(lesson, t);
  lesson.own = t.text("own", "");
  if (t.has("puzzle")) lesson.puzzle = read_puzzle(t.table("puzzle"));
  if (t.has("challenge")) lesson.challenge = read_challenge(t.table("challenge"));
  lesson.says = read_says(t);
  lesson.thoughts = read_thoughts(t, lesson.prediction);
  Table steps = t.table("step");
  for (StepKind kind : kSteps) {
    Step& step = lesson.steps[static_cast<size_t>(kind)];
    Table one = steps.table(to_string(kind));
    step.figures = one.texts("figures");
    one.done();
    const std::string prose = (fs::path(folder) / (std::string(to_string(kind)) + ".md")).string();
    step.text = parse_prose(read_prose(prose), prose);
  }
  steps.done();
  t.done();
  check_references(lesson, t);
  check_challenge(lesson, t);
  return lesson;
}

std::string lessons_folder() { return shipped_folder("lessons", "NORMSCOPE_LESSONS"); }

namespace {

std::string& wished_language() {
  static std::string language;
  return language;
}

}  // namespace

void wish_language(const std::string& language) { wished_language() = language; }

std::string course_language() {
  if (!wished_language().empty()) return wished_language();
  const char* asked = std::getenv("NORMSCOPE_LANGUAGE");
  return asked ? asked : "";
}

const Lesson* Course::find(std::string_view key) const {
  for (const Lesson& lesson : lessons)
    if (lesson.id == key || std::to_string(lesson.number) == key) return &lesson;
  return nullptr;
}

Course read_course(const std::string& folder) { return read_course(folder, course_language()); }

namespace {

/// Translates every lesson that has the language; the other lessons stay in English.
void take_language(Course& course, const std::string& folder, const std::string& language) {
  const std::vector<std::string> known = languages_in(folder);
  if (std::find(known.begin(), known.end(), language) == known.end()) return;
  course.words = &words::language(language);
  for (Lesson& lesson : course.lessons) {
    const std::vector<std::string> has = languages_of(lesson.folder);
    if (std::find(has.begin(), has.end(), language) == has.end()) continue;
    const std::string wrong = guarded(lesson.folder, [&] {
      lesson = translated(lesson, language);
      lesson.words = course.words;
    });
    if (!wrong.empty()) course.broken.push_back({lesson.folder, wrong});
  }
}

}  // namespace

Course read_course(const std::string& folder, const std::string& language) {
  Course course;
  std::vector<std::string> folders;
  std::string error;
  for (const std::string& path : files_in(folder, kMostFiles, error)) {
    std::error_code failure;  // set by a link that leads nowhere or in circles
    const bool lesson = fs::is_directory(path, failure) && number_of(path);
    if (lesson && folders.size() < kMostLessons) folders.push_back(path);
    if (failure && number_of(path))
      course.broken.push_back({path, fmt::format("{}: {}", path, failure.message())});
  }
  if (!error.empty()) course.broken.push_back({folder, fmt::format("{}: {}", folder, error)});
  for (const std::string& one : folders) {
    try {
      Lesson lesson = read_lesson(one);
      if (course.find(lesson.id))
        throw Error(
            fmt::format("{}/lesson.toml:1: [id] '{}' is another lesson's: expected its own", one, lesson.id));
      course.lessons.push_back(std::move(lesson));
    } catch (...) {
      course.broken.push_back({one, describe_exception(one)});
    }
  }
  std::stable_sort(course.lessons.begin(), course.lessons.end(),
                   [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
  if (!language.empty() && language != "en")
    take_language(course, folder, language);  // the lessons are written in English
  take_why(course, folder, language);
  return course;
}

}  // namespace normscope::course
