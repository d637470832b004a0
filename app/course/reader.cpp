// One function per table of lesson.toml, then the checks of what no single table can see: that every name refers to
// something, that the claim is short, that no text between two actions is a wall of words.
#include "app/course/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>

#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/map.h"
#include "app/course/pictures/pictures.h"
#include "app/course/tables.h"
#include "app/course/tapes.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/io/input_kinds.h"
#include "training/io/toml.h"
#include "training/spec/spec.h"

namespace normscope::course {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 10'000, kMaxLessons = 200, kMaxKnobChoices = 8;
constexpr double kLargest = 1e6;  // the largest number of steps of a knob or slider

/// Accepts "A" to "D", the runs that a learner sees.
bool is_letter(const std::string& id) { return id.size() == 1 && id[0] >= 'A' && id[0] <= 'D'; }

/// Accepts names such as "sgd" and "detach_mean", which runs for comparison have.
bool is_run_name(const std::string& id) {
  return !id.empty() && std::islower(static_cast<unsigned char>(id[0])) &&
         std::ranges::all_of(id,
                             [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

void read_runs(Lesson& lesson, Table& t) {
  for (auto& [id, child] : t.children("run")) {
    if (!is_letter(id) && !is_run_name(id))
      child.refuse("", Message("'{}' is no run: expected A, B, C or D, or a name in small letters for one "
                               "that is only compared",
                               id));
    (is_letter(id) ? lesson.runs : lesson.beside).push_back(read_run(id, child));
  }
}

/// Reads what is measured: the runs are read already.
void read_measured(Lesson& lesson, Table& t) {
  for (auto& [id, child] : t.children("tape")) lesson.tapes.push_back(read_tape(id, child));
  for (auto& [id, child] : t.children("curve")) lesson.curves.push_back(read_curve(id, child));
  add_cells(lesson.curves);
  for (auto& [id, child] : t.children("measure")) lesson.measures.push_back(read_measure(id, child));
  set_bounds(lesson);
}

FigureAxis read_axis(Table t) {
  FigureAxis a{.label = t.text("label"),
               .log = t.flag("log", false),
               .low = t.number("low"),
               .high = t.number("high"),
               .ticks = t.numbers("ticks")};
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
    f.walk_opens = t.whole("walk_opens", 0, kMaxSteps, 0);
  }
}

Figure read_figure(const std::string& id, Table t) {
  Figure f{.id = id,
           .title = t.text("title"),
           .note = t.text("note", ""),
           .name = t.text("tab", id),
           .tab = t.text("tab", id),
           .river = t.has("river")};
  if (f.river && t.has("map")) t.refuse("river", "stands beside map: expected one of them");
  f.map_run = t.text(f.river ? "river" : "map", "");
  if (f.river) {
    f.grows = t.flag("river_grows", false);
    f.below = t.text("river_below", "");
  }
  f.map_at_start = t.choice(f.river ? "river_at" : "map_at", {"start", "end"}, 0) == 0;
  f.cells = t.text("cells", "");
  f.tape = t.text("tape", "");
  if (!f.tape.empty()) f.follow = t.whole("follow", 0, static_cast<int32_t>(kMaxSmallNumbers), 0);
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
    FigureLevel l{.label = level.text("label"),
                  .value = level.maybe("value"),
                  .measure = level.text("measure", ""),
                  .letters = level.flag("letters", false)};
    level.done();
    f.levels.push_back(std::move(l));
  }
  for (Table& theory : t.tables("theory")) {
    Figure::Theory line{
        .label = theory.text("label"), .x = theory.numbers("x"), .low = theory.numbers("low")};
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
      if (p.values.size() < 2 || !std::ranges::is_sorted(p.values))
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
  if (k.choices.size() < 2 || k.choices.size() > kMaxKnobChoices || k.names.size() != k.choices.size())
    t.refuse("choices", Message("expected 2 to {}, and as many names", kMaxKnobChoices));
  const std::string start = t.text("start", k.choices.front());
  const auto at = std::ranges::find(k.choices, start);
  if (at == k.choices.end())
    t.refuse("start", Message("'{}' is no choice: expected one of {}", start, fmt::join(k.choices, ", ")));
  k.start = static_cast<double>(at - k.choices.begin());
  k.high = static_cast<double>(k.choices.size() - 1);
}

Knob read_knob(const std::string& id, Table t) {
  Knob k{.id = id, .run = t.text("run"), .label = t.text("label")};
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
  Puzzle p{
      .text = t.text("text"), .measure = t.text("measure"), .low = t.maybe("low"), .high = t.maybe("high")};
  t.done();
  return p;
}

void check_experiment(const Lesson& experiment, const Table& root);  // below: as a lesson's own is checked

constexpr int32_t kCaseSeeds = 3;

/// Reads a figure of lines: it fills while the case is trained, and nothing in it is dragged.
Figure read_case_figure(const Table& t) {
  Figure figure = read_figure("case", t);
  if (figure.lines.empty() || figure.x.label.empty() || !figure.ball.empty())
    t.refuse("", "is no figure of lines: expected x, y and lines, and nothing to drag");
  figure.tab.clear();  // there is no other to switch to
  return figure;
}

/// Reads [case]. Its experiment is a lesson without steps, so that all that measures, judges and draws one takes it.
Case read_closing(const Lesson& lesson, Table t) {
  auto experiment = std::make_shared<Lesson>();
  experiment->id = lesson.id + "-case";
  experiment->title = lesson.title;
  for (auto& [id, child] : t.children("run")) {
    if (!is_run_name(id))
      child.refuse("", Message("'{}' is no run of a case: expected a name in small letters", id));
    experiment->beside.push_back(read_run(id, child));
  }
  read_measured(*experiment, t);
  for (Curve& curve : experiment->curves) curve.fast_seeds = kCaseSeeds;
  Case closing = read_case(t, *experiment);
  experiment->figures.push_back(read_case_figure(t.table("figure")));
  set_quantities(*experiment);
  check_experiment(*experiment, t);
  t.done();
  closing.experiment = std::move(experiment);
  closing.kept = answers_of(closing);
  return closing;
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

std::string& wished_language() {
  static std::string language;
  return language;
}

/// Translates every lesson that has the language; the other lessons stay in English.
void take_language(Course& course, const std::string& folder, const std::string& language) {
  const std::vector<std::string> known = course_languages(folder);
  if (std::ranges::find(known, language) == known.end()) return;
  course.words = &words::language(language);
  for (Lesson& lesson : course.lessons) {
    const std::vector<std::string> has = lesson_languages(lesson.folder);
    if (std::ranges::find(has, language) == has.end()) continue;
    const Message wrong = guarded(lesson.folder, [&] {
      lesson = translated(lesson, language);
      use_words(lesson, course.words);
    });
    if (!wrong.empty()) course.broken.push_back({lesson.folder, wrong});
  }
}

constexpr const char* kWhyFile = "so-why.md";

/// Whether the lesson that a mark names is in the course; throws Error for a mark that this page may not have, and
/// for a measure that its lesson lacks.
bool is_there(const Course& course, const Inline& piece, const std::string& file) {
  using Kind = Inline::Kind;
  if (piece.kind == Kind::Text || piece.kind == Kind::Formula || piece.kind == Kind::Cut) return true;
  const size_t point = piece.text.find('.');
  const bool lesson = course.find(piece.text.substr(0, point)) != nullptr;
  const bool range = piece.kind == Kind::Band && point != std::string::npos;
  if (piece.kind == Kind::Lesson || (range && !lesson)) return lesson;
  if (range && measure_named(course, piece.text).second) return true;
  throw Error(
      "{}:{}: '{}' is not in this course: expected {{lesson ID}}, or {{band ID.MEASURE}} of one of its lessons",
      file, piece.line, piece.text);
}

/// Leaves out the paragraphs about lessons that the folder lacks, and the picture if it lacks a cause.
Prose what_is_there(const Course& course, Prose why) {
  bool broken = false;
  std::erase_if(why.blocks, [&](const Block& block) {
    bool all = true;
    for (const Inline& piece : block.inlines) all = is_there(course, piece, why.file) && all;
    broken = broken || (!all && block.kind == Block::Kind::Numbered);
    return !all;
  });
  if (broken)
    std::erase_if(why.blocks, [](const Block& block) { return block.kind == Block::Kind::Numbered; });
  return why;
}

using Range = std::function<std::string(const std::string& measure)>;

/// The range of a measure by "LESSON.MEASURE". Each lesson's results are read once.
Range ranges_of(const Course& course) {
  auto kept = std::make_shared<std::map<const Lesson*, std::optional<Results>>>();
  return [&course, kept](const std::string& name) -> std::string {
    const auto [lesson, measure] = measure_named(course, name);
    if (!kept->contains(lesson)) (*kept)[lesson] = load_results(*lesson);
    const std::optional<Results>& results = (*kept)[lesson];
    if (!results || !results->measures.contains(measure->id)) return "–";
    return range_text(results->measures.at(measure->id).spread, *measure, *course.words);
  };
}

/// The page as Markdown; its numbered list tells again what the picture shows.
std::string why_markdown(const Course& course, const Range& range, const std::string& picture) {
  using Kind = Inline::Kind;
  const auto said = [&](const Inline& piece) -> std::string {
    if (piece.kind == Kind::Formula) return "$" + piece.text + "$";
    if (piece.kind == Kind::Text) return piece.strong ? "*" + piece.text + "*" : piece.text;
    if (piece.kind == Kind::Cut) return "`" + piece.text + "`";
    if (piece.kind == Kind::Band) return range(piece.text);
    const Lesson& lesson = *course.find(piece.text);
    return fmt::format("[({})]({}.html)", lesson.number, lesson.id);
  };
  std::string out;
  Block::Kind before = Block::Kind::Paragraph;
  for (const Block& block : course.why->blocks) {
    const bool numbered = block.kind == Block::Kind::Numbered,
               item = numbered || block.kind == Block::Kind::Item;
    const bool goes_on = block.kind == std::exchange(before, block.kind);
    if (numbered && !goes_on) out += fmt::format("![{}]({})\n\n", course.words->tr("So why?"), picture);
    out += block.kind == Block::Kind::Heading ? "## " : numbered ? "1. " : item ? "- " : "";
    for (const Inline& piece : block.inlines) out += said(piece);
    const bool last = &block == &course.why->blocks.back() || (&block)[1].kind != block.kind;
    out += item && !last ? "\n" : "\n\n";
  }
  return out;
}

/// Adds the page and its picture, if it has one, named after `name`.
void add_pages(const Course& course, const std::string& name,
               std::vector<std::pair<std::string, std::string>>& pages) {
  const Range range = ranges_of(course);
  const std::string picture = name + ".svg";
  pages.emplace_back(name + ".md", why_markdown(course, range, picture));
  if (const Causes causes = causes_of(course, range); !causes.links.empty())
    pages.emplace_back(picture, causes_svg(causes, *course.words));
}

/// Reads the page of a folder, in English where there is none in the language. Paragraphs about lessons that the
/// folder lacks are left out; a faulty page is left out as a whole and is an entry in `broken`.
void take_why(Course& course, const std::string& folder, const std::string& language) {
  const std::string own = (fs::path(folder) / language / kWhyFile).string();
  const bool translated = !language.empty() && fs::exists(own);
  const std::string file = translated ? own : (fs::path(folder) / kWhyFile).string();
  const Message wrong = guarded(file, [&] {
    const auto text = read_input_file_if_there(file, input::kProse);
    if (!text) return;
    Prose why = what_is_there(course, parse_prose(*text, file));
    if (Message fault = wrong_causes(why); !fault.empty()) throw Error(std::move(fault));
    if (!why.blocks.empty()) course.why = std::move(why);
  });
  if (!wrong.empty()) course.broken.push_back({file, wrong});
}

}  // namespace

std::string read_required(const std::string& path, const InputKind& kind) {
  auto text = read_input_file_if_there(path, kind);
  if (!text) throw Error("{}:1: the file is missing: expected {}", path, kind.expected);
  return *std::move(text);
}

Lesson read_lesson(const std::string& folder) {
  const std::string file = (fs::path(folder) / "lesson.toml").string();
  return parse_lesson(read_required(file, input::kLesson), folder,
                      [](const std::string& path) { return read_required(path, input::kProse); });
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
  read_measured(lesson, t);
  for (Table& child : t.tables("check")) lesson.checks.push_back(read_check(child));
  for (auto& [id, child] : t.children("figure")) lesson.figures.push_back(read_figure(id, child));
  for (Figure& figure : lesson.figures)
    if (const Curve* border = lesson.curve(figure.cells); border && border->of == Curve::Of::Border)
      set_cell_axes(*border, figure);
  set_quantities(lesson);
  for (auto& [id, child] : t.children("knob")) lesson.knobs.push_back(read_knob(id, child));
  lesson.prediction = read_prediction(t.table("prediction"));
  lesson.what_if = t.text("what_if", "");
  lesson.reach = t.texts("reach");
  lesson.opening = read_opening(lesson, t);
  if (t.has("puzzle")) lesson.puzzle = read_puzzle(t.table("puzzle"));
  if (t.has("challenge")) lesson.challenge = read_challenge(t.table("challenge"));
  if (t.has("case")) lesson.closing = read_closing(lesson, t.table("case"));
  lesson.thoughts = read_thoughts(t, lesson.prediction);
  Table steps = t.table("step");
  for (StepKind kind : kSteps) {
    Step& step = lesson.steps[static_cast<size_t>(kind)];
    Table one = steps.table(to_string(kind));
    step.figures = one.texts("figures");
    if (kind == StepKind::Run) step.recorded = one.flag("recorded", false);
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

void set_course_language(const std::string& language) { wished_language() = language; }

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

Course read_course(const std::string& folder, const std::string& language) {
  Course course;
  std::vector<std::string> folders;
  std::string error;
  for (const std::string& path : files_in(folder, kMaxFiles, error)) {
    std::error_code failure;  // set by a link that leads nowhere or in circles
    const bool lesson = fs::is_directory(path, failure) && number_of(path);
    if (lesson && folders.size() < kMaxLessons) folders.push_back(path);
    if (failure && number_of(path))
      course.broken.push_back({path, Message("{}: {}", path, failure.message())});
  }
  if (!error.empty()) course.broken.push_back({folder, Message("{}: {}", folder, error)});
  for (const std::string& one : folders) {
    try {
      Lesson lesson = read_lesson(one);
      if (course.find(lesson.id))
        throw Error("{}/lesson.toml:1: [id] '{}' is another lesson's: expected its own", one, lesson.id);
      course.lessons.push_back(std::move(lesson));
    } catch (...) {
      course.broken.push_back({one, describe_exception(one)});
    }
  }
  std::ranges::stable_sort(course.lessons, {}, &Lesson::number);
  if (!language.empty() && language != "en")
    take_language(course, folder, language);  // the lessons are written in English
  take_why(course, folder, language);
  return course;
}

namespace {

class Checker : TableChecker {
 public:
  using TableChecker::TableChecker;

  /// What is measured, judged and drawn.
  void experiment() const {
    check_tapes(lesson_, root_);
    for (const Curve& c : lesson_.curves) {
      if (c.of == Curve::Of::Tape) continue;
      need(lesson_.run(c.run), "curve." + c.id, "run", c.run, "a run");
      curve(c);
    }
    check_measures(lesson_, root_);
    for (const Figure& f : lesson_.figures) figure(f);
  }

  void all() const {
    std::istringstream words(lesson_.claim);
    const auto count = std::distance(std::istream_iterator<std::string>(words), {});
    if (count > kMaxClaimWords)
      root_.refuse("claim", Message("has {} words: expected at most {}", count, kMaxClaimWords));
    if (!names_file(lesson_.id)) root_.refuse("id", wrong_name(lesson_.id));
    if (lesson_.checks.empty()) root_.refuse("", "has no [[check]]: expected one at least");
    if (lesson_.runs.empty() && lesson_.tapes.empty())
      root_.refuse("", "has no [run.A]: expected one at least, or a [tape.NAME]");
    if (lesson_.runs.empty() && !lesson_.beside.empty()) root_.refuse("run", "has no A: expected one");
    // A letter may be skipped, so that a placement keeps its letter throughout the course.
    for (size_t i = 1; i < lesson_.runs.size(); ++i)
      if (lesson_.runs[i].id <= lesson_.runs[i - 1].id)
        refuse("run", lesson_.runs[i].id,
               Message("comes after [run.{}]: expected letters in their order", lesson_.runs[i - 1].id));
    for (const LessonRun& run : lesson_.runs) no_setting("run." + run.id, "name", run.name);
    experiment();
    for (const Knob& k : lesson_.knobs) knob(k);
    slots();
    prediction();
    if (lesson_.puzzle)
      need(lesson_.measure(lesson_.puzzle->measure), "puzzle", "measure", lesson_.puzzle->measure,
           "a measure");
    for (StepKind kind : kSteps) step(kind);
  }

 private:
  /// Restricts the ids of lessons and figures, because files of a report are named after them.
  static bool names_file(const std::string& id) {
    return !id.empty() &&
           std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
  }
  static Message wrong_name(const std::string& id) {
    return Message("'{}' is no name: expected letters, digits, - and _", id);
  }

  /// Requires a run with a letter, because a learner sees, changes or takes the run to the Lab.
  void need_letter(const std::string& table, const std::string& key, const std::string& run) const {
    need(lesson_.has_letter(run) ? &lesson_ : nullptr, table, key, run, "a run with a letter");
  }

  void curve(const Curve& c) const {
    using Of = Curve::Of;
    const RunSpec& spec = lesson_.run(c.run)->spec;
    const bool two = spec.model.architecture == Architecture::EncoderDecoder;
    if (c.of == Of::Run || c.of == Of::Profile)
      probe_exists(c, spec.model, two);
    else if (two && !is_swept(c))
      refuse(
          "curve." + c.id, "run",
          Message("'{}' has two stacks: expected of = run, sweep, border or profile, or one stack", c.run));
    if (asks_critical_rate(c) && spec.train.critical_every == 0)
      refuse("curve." + c.id, "y",
             Message("'{}' is not measured by run {}: expected its train.critical_every", c.y, c.run));
    if ((c.of == Of::Profile || c.of == Of::OneStep) && c.to > spec.train.steps)
      refuse("curve." + c.id, is_walk(c) ? "steps" : "step",
             Message("{} comes after the last: expected at most {}", c.to, spec.train.steps));
    if (c.of != Of::Border) return;
    try {
      points_of(c, {spec});
    } catch (const Error& error) {
      refuse("curve." + c.id, "values", error.message);
    }
  }

  /// Refuses layer 9 of a model with six layers, and "dec.L01..." of a model with one stack.
  void probe_exists(const Curve& c, const ModelConfig& model, bool two) const {
    const auto [top, below] = two_names(c.y);
    for (const std::string& name : {top, below}) {
      const NumberPlace place = place_of(name);
      if (place.layer == 0) continue;
      if (two == place.stack.empty())
        refuse("curve." + c.id, "y",
               Message("'{}' of a model with {}", c.y,
                       two ? "two stacks: expected enc. or dec. before the L"
                           : "one stack: expected no enc. or dec."));
      if (place.layer == NumberPlace::kEvery) continue;
      const int32_t layers = layers_of(name, model);
      if (place.layer > layers)
        refuse("curve." + c.id, "y",
               Message("'{}' is of layer {}: expected L01 to L{:02}", c.y, place.layer, layers));
    }
  }

  void knob(const Knob& k) const {
    const std::string table = "knob." + k.id;
    if (lesson_.tape(k.run)) return;
    need_letter(table, "run", k.run);
    if (!is_slot(k) && !find_field(k.field))
      refuse(table, "field", Message("'{}' is no field of a run: expected one as train.warmup", k.field));
  }

  void figure(const Figure& f) const {
    const std::string table = "figure." + f.id;
    if (!names_file(f.id)) refuse("figure", f.id, wrong_name(f.id));
    if (!f.map_run.empty()) map(f, table);
    if (!f.cells.empty()) cells(f, table);
    if (!f.ball.empty()) ball(f, table);
    if (const Message why = wrong_walk(lesson_, f); !why.empty()) refuse(table, "walk", why);
    if (const Message why = wrong_chain(lesson_, f); !why.empty()) refuse(table, "chain", why);
    if (const Message why = wrong_bars(lesson_, f); !why.empty()) refuse(table, "bars", why);
    for (const FigureLine& line : f.lines) {
      need(lesson_.curve(line.curve), table, "lines.curve", line.curve, "a curve");
      if (!line.run.empty() && (line.run.size() != 1 || line.run[0] < 'A' || line.run[0] > 'D'))
        refuse(table, "lines.run", Message("'{}': expected A, B, C or D, or none for a grey line", line.run));
      if (line.name.empty() && !lesson_.has_letter(line.run))
        refuse(table, "lines.name",
               line.run.empty() ? "is missing, and the line has no run's look: expected a text"
                                : Message("is missing, and there is no run {}: expected a text", line.run));
      no_setting(table, "lines.name", line.name);
    }
    for (const FigureLevel& level : f.levels) {
      if (!level.measure.empty() + level.value.has_value() + level.letters != 1)
        refuse(table, "levels", "expected one of value, measure and letters = true");
      if (!level.measure.empty())
        need(lesson_.measure(level.measure), table, "levels.measure", level.measure, "a measure");
    }
  }

  void map(const Figure& f, const std::string& table) const {
    const char* key = f.river ? "river" : "map";
    need_letter(table, key, f.map_run);
    if (lesson_.run(f.map_run)->spec.model.architecture == Architecture::EncoderDecoder)
      refuse(table, key, Message("'{}' has two stacks: expected a run of one", f.map_run));
    if (f.grows && !only_adds(lesson_.run(f.map_run)->spec))
      refuse(table, "river_grows",
             Message("'{}' rescales its stream: expected a run whose stream only adds up, as Pre-LN's",
                     f.map_run));
    if (f.below.empty()) return;
    const Figure* below = lesson_.figure(f.below);
    if (!below || !below->river || below == &f)
      refuse(table, "river_below", Message("'{}' is no other river of this lesson: expected one", f.below));
    const auto layers = [&](const Figure& of) { return layers_of("", lesson_.run(of.map_run)->spec.model); };
    need_letter("figure." + below->id, key, below->map_run);
    if (layers(*below) != layers(f))
      refuse(
          table, "river_below",
          Message("'{}' is of {} layers: expected {}, as this river's", f.below, layers(*below), layers(f)));
  }

  /// Whether neither a norm nor a factor rescales the stream on its way, so that every part keeps its size.
  static bool only_adds(RunSpec spec) {
    complete(spec);
    const ModelConfig& model = spec.model;
    const StackWiring& stack = model.architecture == Architecture::Encoder ? model.encoder : model.decoder;
    const auto adds = [](const Wiring& w) {
      return w.stream == NormKind::None && w.enter == NormKind::None && w.skip == Scale{};
    };
    return std::ranges::all_of(stack.layers, [&](const LayerWiring& layer) {
      return adds(layer.attention) && adds(layer.feed_forward);
    });
  }

  void slots() const {
    for (const LessonRun& run : lesson_.runs)
      if (const Message why = wrong_slots(lesson_, run.id); !why.empty()) refuse("knob", "slot", why);
    if (!lesson_.knobs.empty() && is_slot(lesson_.knobs.back()))
      refuse("knob." + lesson_.knobs.back().id, "slot",
             "comes last: expected a knob with a field, which stands below the figure");
  }

  void cells(const Figure& f, const std::string& table) const {
    const Curve* border = lesson_.curve(f.cells);
    if (!border || border->of != Curve::Of::Border)
      refuse(table, "cells",
             Message("'{}' is no border of this lesson: expected a curve of = border", f.cells));
    if (const Message why = uneven(*border); !why.empty()) refuse(table, "cells", why);
  }

  void ball(const Figure& f, const std::string& table) const {
    const Curve* valley = lesson_.curve(f.ball);
    if (!valley || valley->of != Curve::Of::OneStep)
      refuse(table, "ball",
             Message("'{}' is no step of this lesson: expected a curve of = one_step", f.ball));
    need_letter(table, "ball", valley->run);
    if (std::ranges::none_of(f.lines, [&](const FigureLine& line) { return line.curve == f.ball; }))
      refuse(table, "ball", Message("'{}' is no line of the figure: expected one of them", f.ball));
  }

  void prediction() const {
    const Prediction& p = lesson_.prediction;
    if (p.kind == Prediction::Kind::Draw) {
      need(lesson_.curve(p.curve), "prediction", "curve", p.curve, "a curve");
      const Curve& drawn = *lesson_.curve(p.curve);
      if (drawn_grid(lesson_, drawn).size() < 2)
        refuse("prediction", "curve", "has no axis to draw along: expected a curve of two points at least");
      const auto& figures = lesson_.step(StepKind::Predict).figures;
      const Figure* figure = figures.empty() ? nullptr : lesson_.figure(figures[0]);
      const auto has_it = [&](const FigureLine& line) { return line.curve == p.curve && !line.run.empty(); };
      if (!figure || std::ranges::none_of(figure->lines, has_it))
        refuse("prediction", "curve", "is not in the figure of step.predict: expected it there");
    }
    if (p.kind == Prediction::Kind::Value)
      need(lesson_.measure(p.measure), "prediction", "measure", p.measure, "a measure");
    for (const Prediction::Card& card : p.cards)
      need(lesson_.measure(card.measure), "prediction", "cards.measure", card.measure, "a measure");
  }

  void step(StepKind kind) const {
    const Step& step = lesson_.step(kind);
    const std::string table = std::string("step.") + to_string(kind);
    if (step.figures.empty()) refuse(table, "figures", "is empty: expected one figure at least");
    for (const std::string& id : step.figures) need(lesson_.figure(id), table, "figures", id, "a figure");
    const auto [read, reach] = step.text.at_heading();
    if (const int32_t words = std::max(read.words(), reach.words()); words > kMaxStepWords)
      throw Error("{}:1: {} words: expected at most {} between two actions", step.text.file, words,
                  kMaxStepWords);
    for (const Block& block : step.text.blocks) {
      bool in_forms = false, answered = false;
      const Inline* asked = nullptr;  // the task within which a piece stands
      for (const Inline& piece : block.inlines) {
        using Kind = Inline::Kind;
        if (opens(piece.kind)) in_forms = true;
        if (piece.kind == Kind::Task) asked = task(piece, kind);
        if (asked && piece.kind == Kind::End && !answered)
          throw Error(
              "{}:{}: {{task {}}} has no answer: expected {{value NAME}} in it, or {{task {} NAME}} where it "
              "is told later",
              step.text.file, asked->line, asked->text, asked->text);
        if (piece.kind == Kind::Task) answered = !piece.answers.empty();
        if (piece.kind == Kind::End) {
          in_forms = false;
          asked = nullptr;
        }
        inline_piece(step.text, piece, kind);
        if (asked && (piece.kind == Kind::Value || piece.kind == Kind::Band)) {
          answer(step.text, *asked, piece.text);
          answered = true;
        }
        if (piece.kind == Kind::Value && !in_forms)
          throw Error(
              "{}:{}: {{value {}}} in a sentence with one form only: expected {{if NAME < "
              "NUMBER}} ... {{else}} ... {{end}} around it, or {{always}} ... {{end}} where it "
              "is true whatever is measured",
              step.text.file, piece.line, piece.text);
      }
    }
  }

  /// Requires a figure that the learner can open on this page, answers that are computed from what it shows, and that
  /// a task which holds none of its answers tells them on this page or later.
  const Inline* task(const Inline& task, StepKind kind) const {
    const Step& step = lesson_.step(kind);
    if (std::ranges::find(step.figures, task.text) == step.figures.end())
      throw Error("{}:{}: {{task {}}} is of no figure of this page: expected one of step.{}", step.text.file,
                  task.line, task.text, to_string(kind));
    for (const std::string& measure : task.answers) {
      if (!lesson_.measure(measure))
        throw Error("{}:{}: '{}' is not in this lesson: expected a measure of it", step.text.file, task.line,
                    measure);
      answer(step.text, task, measure);
      if (!told_from(kind, measure))
        throw Error(
            "{}:{}: {{task {}}}: no text tells '{}': expected {{value {}}}, or {{if {} ...}}, here or later",
            step.text.file, task.line, task.text, measure, measure, measure);
    }
    return &task;
  }

  void answer(const Prose& prose, const Inline& task, const std::string& measure) const {
    if (!shows(lesson_, *lesson_.figure(task.text), *lesson_.measure(measure)))
      throw Error(
          "{}:{}: '{}' answers a task of figure {}, and is computed from what that figure does not show: "
          "expected a measure of its curves",
          prose.file, task.line, measure, task.text);
  }

  bool told_from(StepKind first, const std::string& measure) const {
    for (const StepKind kind : kSteps) {
      if (kind < first) continue;
      for (const Block& block : lesson_.step(kind).text.blocks)
        for (const Inline& piece : block.inlines)
          if (((piece.kind == Inline::Kind::Value || piece.kind == Inline::Kind::Band) &&
               piece.text == measure) ||
              std::ranges::find(piece.conditions, measure, &Condition::measure) != piece.conditions.end())
            return true;
    }
    return false;
  }

  /// Refuses a text that names a setting, because labels add the settings of the run that is shown.
  void no_setting(const std::string& table, const char* key, const std::string& text) const {
    if (const std::string said = setting_named_in(lesson_, text); !said.empty())
      refuse(table, key, Message("'{}' names a setting ({}): expected what no setting changes", text, said));
  }

  void inline_piece(const Prose& prose, const Inline& piece, StepKind kind) const {
    using Kind = Inline::Kind;
    const auto missing = [&](const void* found, const char* what) {
      if (!found)
        throw Error("{}:{}: '{}' is not in this lesson: expected {} of it", prose.file, piece.line,
                    piece.text, what);
    };
    if (piece.kind == Kind::Value || piece.kind == Kind::Band || piece.kind == Kind::Reference)
      missing(lesson_.measure(piece.text), "a measure");
    if (piece.kind == Kind::Drag) missing(lesson_.knob(piece.text), "a knob");
    if (piece.kind == Kind::Tile || piece.kind == Kind::Sample || piece.kind == Kind::Name)
      missing(lesson_.has_letter(piece.text) ? &lesson_ : nullptr, "a run with a letter");
    if (piece.kind == Kind::Lesson || piece.kind == Kind::Cut)
      throw Error("{}:{}: {{{} {}}} in a lesson: expected it on the course's last page alone", prose.file,
                  piece.line, piece.kind == Kind::Cut ? "cut" : "lesson", piece.text);
    for (const Condition& condition : piece.conditions)
      if (condition.measure != kChanged && !lesson_.measure(condition.measure))
        throw Error("{}:{}: '{}' is not in this lesson: expected a measure of it", prose.file, piece.line,
                    condition.measure);
    const bool early = kind == StepKind::Predict;
    if (early && (piece.kind == Kind::Value || piece.kind == Kind::Band || piece.kind == Kind::Sample ||
                  !piece.conditions.empty()))
      throw Error("{}:{}: {{{}}} before the prediction: expected at most {{ref NAME}} of the starting point",
                  prose.file, piece.line, piece.text);
  }
};

}  // namespace

namespace {
void check_experiment(const Lesson& experiment, const Table& root) { Checker(experiment, root).experiment(); }
}  // namespace

void check_references(const Lesson& lesson, const Table& root) { Checker(lesson, root).all(); }

std::pair<const Lesson*, const Measure*> measure_named(const Course& course, const std::string& name) {
  const size_t point = name.find('.');
  const Lesson* const lesson = course.find(name.substr(0, point));
  if (!lesson || point == name.npos) return {};
  const Measure* const measure = lesson->measure(name.substr(point + 1));
  return measure ? std::pair(lesson, measure) : std::pair<const Lesson*, const Measure*>();
}

std::vector<std::pair<std::string, std::string>> why_pages(const Course& course) {
  std::vector<std::pair<std::string, std::string>> pages;
  if (!course.why) return pages;
  add_pages(course, "so-why", pages);
  const std::string folder = fs::path(course.lessons.front().folder).parent_path().string();
  for (const std::string& language : course_languages(folder)) {
    const Course other = read_course(folder, language);
    if (other.why && other.why->file != course.why->file) add_pages(other, "so-why." + language, pages);
  }
  return pages;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kTexts = "texts.toml";

using Texts = std::map<std::string, std::string>;  ///< by key: "figure.losses.title"

/// Accepts "de" and "pt-BR", as the name becomes part of a path.
bool is_language(const std::string& name) {
  return !name.empty() && name.size() <= 16 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '-'; });
}

std::string path_in(const std::string& folder, const std::string& language, const std::string& file) {
  return (fs::path(folder) / language / file).string();
}

std::string prose_file(StepKind kind) { return std::string(to_string(kind)) + ".md"; }

/// Turns [figure.losses] title into "figure.losses.title". Throws Error for a value that is no text.
void flatten(const toml::table& table, const std::string& file, const std::string& before, Texts& out) {
  for (const auto& [key, node] : table) {
    const std::string name = before + (before.empty() ? "" : ".") + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, file, name, out);
      continue;
    }
    const auto text = node.value_exact<std::string>();
    if (!text || text->empty())
      throw Error("{}:{}: [{}] is no text: expected the words in this language", file,
                  node.source().begin.line, name);
    out[name] = *text;
  }
}

std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& taken) {
  std::vector<std::string> rest;
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

/// Returns "3 missing: a, b, c; 1 superfluous: d"; both lists are sorted.
Message difference(const std::vector<std::string>& wanted, const std::vector<std::string>& there) {
  const std::vector<std::string> missing = without(wanted, there), more = without(there, wanted);
  const Message lacks("{} missing: {}", missing.size(), fmt::join(missing, ", ")),
      has("{} superfluous: {}", more.size(), fmt::join(more, ", "));
  if (missing.empty()) return more.empty() ? Message() : has;
  return more.empty() ? lacks : Message("{}; {}", lacks, has);
}

/// Lists numbers, tiles and forms of a text as they are written between braces: "{value end_A}".
std::vector<std::string> braces_of(const Prose& prose) {
  std::vector<std::string> all;
  for (const Block& block : prose.blocks)
    for (const Inline& piece : block.inlines) {
      using Kind = Inline::Kind;
      const char* word = piece.kind == Kind::Value       ? "value "
                         : piece.kind == Kind::Band      ? "band "
                         : piece.kind == Kind::Reference ? "ref "
                         : piece.kind == Kind::Drag      ? "drag "
                         : piece.kind == Kind::Sample    ? "text "
                         : piece.kind == Kind::Name      ? "name "
                         : piece.kind == Kind::Task      ? "task "
                                                         : "";
      if (piece.kind != Kind::Text && piece.kind != Kind::Formula)
        all.push_back(fmt::format("{{{}{}}}", word, piece.text));
    }
  std::ranges::sort(all);
  return all;
}

void take_prose(Lesson& lesson, StepKind kind, const std::string& language) {
  Step& step = lesson.steps[static_cast<size_t>(kind)];
  const std::string path = path_in(lesson.folder, language, prose_file(kind));
  Prose prose = parse_prose(read_required(path, input::kProse), path);
  if (const Message fault = difference(braces_of(step.text), braces_of(prose)); !fault.empty())
    throw Error("{}:1: {}: expected those of the English text", path, fault);
  step.text = std::move(prose);
}

std::string numbered(std::set<std::string>& used, const std::string& key) {
  std::string name = key;
  for (int n = 2; !used.insert(name).second; ++n) name = fmt::format("{}-{}", key, n);
  return name;
}

using TextVisitor = std::function<void(const std::string& key, std::string& text)>;

void figure_texts(Figure& f, const std::string& table, const TextVisitor& said) {
  said(table + "title", f.title);
  said(table + "note", f.note);
  said(table + "tab", f.tab);
  said(table + "x", f.x.label);
  said(table + "y", f.y.label);
  std::set<std::string> used;
  for (FigureLine& line : f.lines) said(table + numbered(used, "line." + line.curve), line.name);
  for (size_t i = 0; i < f.levels.size(); ++i)
    said(fmt::format("{}level.{}", table, i + 1), f.levels[i].label);
  for (size_t i = 0; i < f.theory.size(); ++i)
    said(fmt::format("{}theory.{}", table, i + 1), f.theory[i].label);
}

void knob_texts(Knob& knob, const TextVisitor& said) {
  const std::string table = "knob." + knob.id + ".";
  said(table + "label", knob.label);
  for (size_t i = 0; i < knob.names.size(); ++i)
    if (knob.names[i] != knob.choices[i])  // a name as a wiring writes it is the same everywhere
      said(fmt::format("{}name.{}", table, i + 1), knob.names[i]);
}

void challenge_texts(Challenge& task, const TextVisitor& said) {
  said("challenge.text", task.text);
  for (size_t i = 0; i < task.choices.size(); ++i) {
    const std::string table = fmt::format("challenge.choice.{}.", i + 1);
    said(table + "label", task.choices[i].label);
    for (size_t j = 0; j < task.choices[i].values.size(); ++j)
      said(fmt::format("{}value.{}", table, j + 1), task.choices[i].values[j].text);
  }
  for (size_t i = 0; i < task.hints.size(); ++i)
    said(fmt::format("challenge.hint.{}", i + 1), task.hints[i].text);
}

/// The experiment is shared by the copies of a lesson, so its texts are given to a copy of its own.
void case_texts(Case& closing, const TextVisitor& said) {
  said("case.ask", closing.ask);
  said("case.why", closing.why);
  said("case.own", closing.own);
  auto experiment = std::make_shared<Lesson>(*closing.experiment);
  Check& check = experiment->checks.front();
  said("case.right", check.says);
  for (size_t i = 0; i < closing.whys.size(); ++i) {
    said(fmt::format("case.wrong.{}.what", i + 1), check.excludes[i].what);
    said(fmt::format("case.wrong.{}.why", i + 1), closing.whys[i]);
  }
  for (LessonRun* run : experiment->all_runs()) said("case.run." + run->id + ".name", run->name);
  for (Measure& m : experiment->measures) {
    said("case.measure." + m.id + ".label", m.label);
    said("case.measure." + m.id + ".unit", m.unit);
  }
  figure_texts(experiment->figures.front(), "case.figure.", said);
  closing.experiment = std::move(experiment);
}

/// Demands answers that differ.
void check_case(const Case& closing, const std::string& file) {
  std::vector<std::string> answers = answers_of(closing);
  std::ranges::sort(answers);
  if (const auto twice = std::ranges::adjacent_find(answers); twice != answers.end())
    throw Error("{}:1: [case] '{}' is offered twice: expected different answers", file, *twice);
}

void all_texts(Lesson& lesson, const TextVisitor& said) {
  said("title", lesson.title);
  said("question", lesson.question);
  said("claim", lesson.claim);
  said("what_if", lesson.what_if);
  for (size_t i = 0; i < lesson.reach.size(); ++i) said(fmt::format("reach.{}", i + 1), lesson.reach[i]);
  for (LessonRun* run : lesson.all_runs()) said("run." + run->id + ".name", run->name);
  for (Measure& m : lesson.measures) {
    said("measure." + m.id + ".label", m.label);
    said("measure." + m.id + ".unit", m.unit);
  }
  std::set<std::string> used;
  for (Check& check : lesson.checks) {
    const std::string table = numbered(used, "check." + check.measure) + ".";
    said(table + "says", check.says);
    for (size_t i = 0; i < check.excludes.size(); ++i)
      said(fmt::format("{}excludes.{}", table, i + 1), check.excludes[i].what);
  }
  for (Figure& figure : lesson.figures) figure_texts(figure, "figure." + figure.id + ".", said);
  Prediction& q = lesson.prediction;
  said("prediction.ask", q.ask);
  said("prediction.unit", q.unit);
  said("prediction.first", q.first);
  said("prediction.last", q.last);
  for (Prediction::Card& card : q.cards) said("prediction.card." + card.id, card.text);
  for (size_t i = 0; i < lesson.thoughts.size(); ++i)
    said(fmt::format("thought.{}", i + 1), lesson.thoughts[i].text);
  for (Knob& knob : lesson.knobs) knob_texts(knob, said);
  if (lesson.puzzle) said("puzzle.text", lesson.puzzle->text);
  if (lesson.challenge) challenge_texts(*lesson.challenge, said);
  if (lesson.closing) case_texts(*lesson.closing, said);
}

}  // namespace

void each_text(Lesson& lesson, const TextVisitor& said) {
  all_texts(lesson, [&](const std::string& key, std::string& text) {
    if (!text.empty()) said(key, text);
  });
}

std::vector<std::string> lesson_languages(const std::string& lesson_folder) {
  std::vector<std::string> all;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(lesson_folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (is_language(name) && fs::exists(entry.path() / kTexts, failure)) all.push_back(name);
  }
  std::ranges::sort(all);
  return all;
}

std::vector<std::string> course_languages(const std::string& folder) {
  std::set<std::string> all;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    if (entry.is_directory(failure))
      for (const std::string& one : lesson_languages(entry.path().string())) all.insert(one);
  return {all.begin(), all.end()};
}

std::vector<std::string> language_files(const Lesson& lesson, const std::string& language) {
  std::vector<std::string> files{path_in(lesson.folder, language, kTexts)};
  for (StepKind kind : kSteps) files.push_back(path_in(lesson.folder, language, prose_file(kind)));
  return files;
}

Lesson translated(const Lesson& lesson, const std::string& language) {
  const std::string file = path_in(lesson.folder, language, kTexts);
  const toml::table root = parse_toml(read_required(file, input::kLesson), file);
  Texts texts;
  flatten(root, file, "", texts);
  Lesson out = lesson;
  std::vector<std::string> wanted, there;
  each_text(out, [&](const std::string& key, std::string& text) {
    wanted.push_back(key);
    if (const auto it = texts.find(key); it != texts.end()) text = it->second;
  });
  for (const auto& [key, text] : texts) there.push_back(key);
  std::ranges::sort(wanted);
  if (const Message fault = difference(wanted, there); !fault.empty())
    throw Error("{}:1: {}: expected the texts of lesson.toml", file, fault);
  if (out.closing) check_case(*out.closing, file);
  for (StepKind kind : kSteps) take_prose(out, kind, language);
  out.language = language;
  check_references(out, Table(root, file, ""));
  return out;
}

std::vector<std::string> language_faults(const Lesson& lesson) {
  std::vector<std::string> faults;
  for (const std::string& language : lesson_languages(lesson.folder))
    if (Message fault = guarded(language, [&] { translated(lesson, language); }); !fault.empty())
      faults.push_back(std::move(fault));
  return faults;
}

std::string word_for(const Words& words, std::string_view kind, std::string_view key,
                     std::string_view otherwise) {
  const std::string* word = words.find(fmt::format("course.{}.{}", kind, key));
  return word ? *word : std::string(otherwise);
}

}  // namespace normscope::course
