#include "app/course/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>
#include <tuple>

#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/tapes.h"
#include "app/grid/axis.h"
#include "training/experiments/probes.h"

namespace normscope::course {
namespace {

constexpr size_t kMaxPoints = 100, kMaxCells = 100;
constexpr int32_t kLastStep = 100'000, kMaxWalked = 100;  // of a curve; of a profile
constexpr double kDeepest = 256;                          // layers
constexpr double kWidest = 1024;  // of rows through one norm, whose Jacobian has as many rows and columns

/// Leaves other keys to the caller.
Neighbour read_neighbour(Table& t) {
  Neighbour n{.what = t.text("what"),
              .value = t.maybe("value"),
              .measure = t.text("measure", ""),
              .curve = t.text("curve", ""),
              .law = t.text("law", "")};
  if (n.value.has_value() + !n.measure.empty() + !n.curve.empty() + !n.law.empty() != 1)
    t.refuse("what",
             "stands without what the measure would be then: expected one of value, measure, curve, law");
  return n;
}

/// Checks that everything exists to which [measure.NAME] and [[check]] refer.
class MeasureChecker : TableChecker {
 public:
  using TableChecker::TableChecker;

  void all() const {
    for (const Curve& c : lesson_.curves) cut("curve." + c.id, may_be_censored(c), c.mean);
    for (const Measure& m : lesson_.measures) measure(m);
    for (const Check& c : lesson_.checks) check(c);
  }

 private:
  /// Requires the median for values that may end at a bound of their measurement, because their mean is unknown.
  void cut(const std::string& table, bool can_be, Mean mean) const {
    if (can_be && mean != Mean::Median)
      refuse(table, "mean",
             Message("'{}' of values that may end at a bound of their measurement: expected median",
                     to_string(mean)));
  }

  void measure(const Measure& m) const {
    refer(m);
    cut("measure." + m.id, may_be_censored(lesson_, m), m.mean);
    if (m.curve.empty() || !may_be_censored(*lesson_.curve(m.curve))) return;
    for (const char* take : {"at", "median", "min", "max", "passes"})
      if (m.take == take) return;
    refuse(
        "measure." + m.id, "take",
        Message("'{}' of a curve whose values may end at a bound of their measurement: expected at, median, "
                "min, max or passes",
                m.take));
  }

  void refer(const Measure& m) const {
    const std::string table = "measure." + m.id;
    if (m.curve.empty()) {
      need(lesson_.measure(m.first), table, "first", m.first, "a measure");
      need(lesson_.measure(m.second), table, "second", m.second, "a measure");
      if (depth(m, 0) > 8) refuse(table, "first", "refers to itself: expected measures of curves at the end");
      return;
    }
    need(lesson_.curve(m.curve), table, "curve", m.curve, "a curve");
    if (m.take == "left") left(m, *lesson_.curve(m.curve), table);
    if (!m.against.empty() && !is_scale(m.against))
      need(lesson_.curve(m.against), table, "against", m.against, "x, log x or a curve");
    if (m.law.empty()) return;
    bool log = m.law == "log";
    for (const std::string& law : m.rivals) {
      log |= law == "log";
      if (!is_law(law)) need(lesson_.curve(law), table, "rivals", law, "line, root, log or a curve");
    }
    if (!is_law(m.law)) need(lesson_.curve(m.law), table, "law", m.law, "line, root, log or a curve");
    if (log) need(lesson_.measure(m.offset), table, "offset", m.offset, "the measure that is N0 of the log");
  }

  /// Requires a walk with norms, and a step and a layer of it.
  void left(const Measure& m, const Curve& walk, const std::string& table) const {
    if (!norms_of_walk(lesson_, walk.id))
      refuse(table, "curve",
             Message("'{}' meets no norms: expected a curve of walk = [...] with its walk_norms", walk.id));
    if (m.a < walk.from || m.a > walk.to)
      refuse(table, "step",
             Message("{} is no step of '{}': expected {} to {}", m.a, walk.id, walk.from, walk.to));
    if (const int32_t top = layers_of(walk.y, lesson_.run(walk.run)->spec.model); m.b >= top)
      refuse(table, "layer", Message("{} is not below the top: expected 1 to {}", m.b, top - 1));
  }

  void check(const Check& c) const {
    const Measure* measure = lesson_.measure(c.measure);
    need(measure, "check", "measure", c.measure, "a measure");
    for (const Neighbour& n : c.excludes) {
      if (!n.measure.empty())
        need(lesson_.measure(n.measure), "check", "excludes.measure", n.measure, "a measure");
      if (!n.curve.empty()) need(lesson_.curve(n.curve), "check", "excludes.curve", n.curve, "a curve");
      if (!n.law.empty() && !is_law(n.law))
        refuse("check", "excludes.law", Message("'{}': expected line, root or log", n.law));
      if ((!n.curve.empty() || !n.law.empty()) && measure->curve.empty())
        refuse("check", "excludes",
               Message("'{}' is not of a curve: expected value or measure", measure->id));
    }
  }

  int depth(const Measure& m, int level) const {
    if (level > 8 || m.first.empty()) return level;
    const Measure *first = lesson_.measure(m.first), *second = lesson_.measure(m.second);
    return std::max(first ? depth(*first, level + 1) : 0, second ? depth(*second, level + 1) : 0);
  }
};

void read_points(Curve& c, Table& t) {
  c.xs = t.numbers("xs");
  if (c.xs.size() < 2 || c.xs.size() > kMaxPoints || !std::ranges::is_sorted(c.xs))
    t.refuse("xs", Message("expected 2 to {} numbers, ascending", kMaxPoints));
}

/// Reads the field that takes the values of a sweep or a border.
std::string number_field(Table& t, const char* key) {
  const std::string name = t.text(key);
  if (!find_field(name))
    t.refuse(key, Message("'{}' is no field of a run: expected one as train.warmup", name));
  return name;
}

void read_border(Curve& c, Table& t) {
  c.field = number_field(t, "field");
  read_points(c, t);
  c.other = number_field(t, "other");
  if (c.other == c.field) t.refuse("other", Message("'{}' is the field: expected another one", c.other));
  c.values = t.numbers("values");
  if (c.values.size() < 2 || !std::ranges::is_sorted(c.values) || !(c.values.front() > 0))
    t.refuse("values", "expected 2 numbers at least, ascending and above 0");
  if (c.values.size() * c.xs.size() > kMaxCells)
    t.refuse("values", Message("{} cells: expected at most {}", c.values.size() * c.xs.size(), kMaxCells));
}

void read_profile(Curve& c, Table& t) {
  if (!t.has("steps")) {
    c.from = c.to = t.whole("step", 1, kLastStep);
    return;
  }
  std::tie(c.from, c.to) = t.steps("steps", 1, kLastStep);
  if (!is_walk(c) || c.to - c.from >= kMaxWalked)
    t.refuse("steps", Message("{} steps: expected 2 to {}", c.to - c.from + 1, kMaxWalked));
}

void read_rows(Curve& c, Table& t) {
  const std::vector<std::string_view> axes{"scale", "width", "shift"};
  c.over = axes[t.choice("over", axes)];
  read_points(c, t);
  const auto whole = [](double x) { return x == std::floor(x); };
  if (c.over == "width" && (c.xs.front() < 3 || c.xs.back() > kWidest || !std::ranges::all_of(c.xs, whole)))
    t.refuse("xs", Message("expected whole widths from 3 to {}", kWidest));
  if (c.over != "width" && (c.xs.front() < (c.over == "scale" ? 1e-6 : 0) || c.xs.back() > 1e6))
    t.refuse("xs", Message("expected numbers from {} to 1e6", c.over == "scale" ? "1e-6" : "0"));
}

using view::Side;
using view::SlotId;

constexpr size_t kMaxPictures = 2;  // that fit beside each other

/// Searches layer by layer, from the bottom up.
std::optional<OpeningPlace> place_in(const view::Stack& stack, std::string_view name) {
  for (const int end : {view::kFinal, view::kEmbedding})
    if (const SlotId at{end, view::Sub::Attention, Slot::Stream, stack.side}; view::slot_name(at) == name)
      return OpeningPlace{at};
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (const view::Sub sub : stack.subs()) {
      for (const Slot slot : view::kSlots)
        if (const SlotId at{layer, sub, slot, stack.side}; view::slot_name(at) == name)
          return OpeningPlace{at};
      const std::string scale = fmt::format("{}layer{}/{}/skip-scale", view::side_prefix(stack.side),
                                            layer + 1, view::to_string(sub));
      const bool scaled =
          view::wiring_of(stack.wiring, layer, sub).skip.kind != Scale::Kind::One && scale == name;
      if (scaled) return OpeningPlace{{layer, sub, Slot::Stream, stack.side}, true};
    }
  return {};
}

}  // namespace

void TableChecker::refuse(const std::string& table, const std::string& key, const Message& what) const {
  throw Error("{}:1: [{}.{}] {}", root_.file(), table, key, what);
}

void TableChecker::need(const void* found, const std::string& table, const std::string& key,
                        const std::string& name, const char* what) const {
  if (!found) refuse(table, key, Message("'{}' is not in this lesson: expected {} of it", name, what));
}

Mean mean_of(Table& t) {
  return static_cast<Mean>(t.choice("mean", {"arithmetic", "geometric", "median"}, 0));
}

LessonRun read_run(const std::string& id, Table t) {
  LessonRun run{.id = id, .name = t.text("name")};
  const std::vector<std::string> edits = t.texts("edits");
  // In the order of the table: a placement of all stacks must not undo the placement of one.
  auto fields = t.rest();
  std::ranges::stable_sort(
      fields, [](const auto& a, const auto& b) { return grid::order_of(a.first) < grid::order_of(b.first); });
  for (const auto& [key, value] : fields) {
    try {
      set_field(run.spec, key, value);
    } catch (const Error& error) {
      t.refuse(key.substr(0, key.find('.')), error.message);
    }
  }
  try {
    for (const std::string& edit : edits) run.edits.push_back(edit_from(edit));
    run.spec.data.context = run.spec.model.sequence;
    complete(run.spec);
    validate(run.spec);
  } catch (const Error& error) {
    t.refuse("", error.message);
  }
  return run;
}

Curve read_curve(const std::string& id, Table t) {
  Curve c;
  c.id = id;
  c.of = static_cast<Curve::Of>(t.choice("of", {"run", "sweep", "depth", "layers", "shares", "norm", "wiring",
                                                "profile", "left_out", "border", "tape", "one_step"}));
  c.run = t.text(c.of == Curve::Of::Tape ? "tape" : "run");
  c.y = t.text("y");
  c.mean = mean_of(t);
  c.fast_seeds = t.whole("fast_seeds", 1, 5, 1);
  switch (c.of) {
    case Curve::Of::Run:
      std::tie(c.from, c.to) = t.steps("steps", 1, kLastStep);
      c.relative = t.flag("relative", false);
      break;
    case Curve::Of::Sweep:
      c.field = number_field(t, "field");
      [[fallthrough]];
    case Curve::Of::Depth:
      read_points(c, t);
      if (c.of == Curve::Of::Depth && (c.xs.front() < 1 || c.xs.back() > kDeepest))
        t.refuse("xs", Message("expected depths from 1 to {}", kDeepest));
      if (c.of == Curve::Of::Sweep) break;
      [[fallthrough]];
    case Curve::Of::Layers:
      c.theory = t.flag("theory", false);
      c.feed_forward = t.whole("feed_forward", 0, 65536, 0);
      c.positions = t.whole("positions", 0, 64, 8);
      c.noise = t.number("noise", 0.01);
      c.models = t.whole("models", 1, 256, 1);
      break;
    case Curve::Of::Shares:
      c.at_start = t.choice("at", {"start", "end"}, 0) == 0;
      break;
    case Curve::Of::Norm:
      read_rows(c, t);
      break;
    case Curve::Of::Profile:
      read_profile(c, t);
      break;
    case Curve::Of::OneStep:
      c.from = c.to = t.whole("step", 1, kLastStep);
      read_points(c, t);
      if (c.xs.front() != 0) t.refuse("xs", "do not begin with 0: expected the loss before the step first");
      break;
    case Curve::Of::Border:
      read_border(c, t);
      break;
    case Curve::Of::Tape:
      read_tape_axis(c, t);
      break;
    case Curve::Of::Wiring:
    case Curve::Of::LeftOut:
      break;
  }
  if (const Message expected = unless_measured(c); !expected.empty())
    t.refuse("y", Message("'{}' is not measured there: {}", c.y, expected));
  t.done();
  return c;
}

Measure read_measure(const std::string& id, Table t) {
  Measure m{.id = id, .label = t.text("label")};
  const std::vector<std::string_view> takes{"at",     "mean", "median",      "min",        "max",
                                            "passes", "fall", "first_below", "exponent",   "r2",
                                            "slope",  "lead", "ratio",       "difference", "left"};
  m.take = takes[t.choice("take", takes)];
  if (m.take == "ratio" || m.take == "difference") {
    m.first = t.text("first");
    m.second = t.text("second");
  } else if (m.take == "left") {
    m.curve = t.text("curve");
    m.a = t.whole("step", 1, kLastStep);
    m.b = t.whole("layer", 1, static_cast<int32_t>(kDeepest));
  } else {
    m.curve = t.text("curve");
    m.a = t.number(m.take == "fall"          ? "from"
                   : m.take == "at"          ? "x"
                   : m.take == "first_below" ? "limit"
                                             : "from",
                   0);
    m.b = t.number("to", m.a);
    if (m.take == "passes") m.limit = t.number("limit");
    if (m.take == "r2" || m.take == "slope") m.against = t.text("against", "x");
    if (m.take == "lead") {
      m.law = t.text("law");
      m.offset = t.text("offset", "");
      m.rivals = t.texts("rivals");
      if (m.rivals.empty()) t.refuse("rivals", "is empty: expected one law or curve at least");
    }
  }
  m.mean = m.take == "passes" ? Mean::Count : mean_of(t);
  m.digits = t.whole("digits", 1, 6, 2);
  m.unit = t.text("unit", "");
  t.done();
  return m;
}

Check read_check(Table t) {
  Check c{
      .measure = t.text("measure"), .low = t.maybe("low"), .high = t.maybe("high"), .says = t.text("says")};
  for (Table& neighbour : t.tables("excludes")) {
    c.excludes.push_back(read_neighbour(neighbour));
    neighbour.done();
  }
  if (c.excludes.empty())
    t.refuse("excludes",
             "is missing: expected a neighbouring hypothesis that the check tells the claim from");
  if (!c.low && !c.high) t.refuse("", "has no band: expected low, high or both");
  if (c.low && c.high && *c.low > *c.high) t.refuse("low", "is above high: expected a band");
  t.done();
  return c;
}

void set_bounds(Lesson& lesson) {
  for (Measure& m : lesson.measures) {
    const Curve* c = lesson.curve(m.curve);
    if (!c || m.take == "passes") continue;
    constexpr std::string_view kValues[] = {"at", "mean", "median", "min", "max"};
    m.loss =
        (c->y == "loss" || c->y == "final_loss") && std::ranges::find(kValues, m.take) != std::end(kValues);
    if (c->of == Curve::Of::Border) m.most = c->values.back();
    if (c->y != "rate / critical_rate")
      continue;  // as multiples of the step that was made, whatever its rate
    m.least = experiments::critical_shares().least;
    m.most = experiments::critical_shares().most;
  }
}

void set_quantities(Lesson& lesson) {
  constexpr std::string_view kLosses[] = {"loss", "excess", "final_loss", "final_excess"};
  const auto all = [&](const Figure& figure, const auto& holds) {
    return !figure.lines.empty() && std::ranges::all_of(figure.lines, [&](const FigureLine& line) {
      const Curve* curve = lesson.curve(line.curve);
      return curve && holds(*curve);
    });
  };
  for (Figure& figure : lesson.figures) {
    figure.x.steps = all(figure, [](const Curve& c) { return c.of == Curve::Of::Run; });
    figure.y.loss = all(figure, [&](const Curve& c) {
      return (c.of == Curve::Of::Run || c.of == Curve::Of::Sweep) && !c.relative &&
             std::ranges::find(kLosses, c.y) != std::end(kLosses);
    });
  }
}

void check_measures(const Lesson& lesson, const Table& root) { MeasureChecker(lesson, root).all(); }
namespace {

constexpr int32_t kAskWords = 70, kAnswerWords = 16, kHintWords = 30, kWhyWords = 45, kThoughtWords = 50,
                  kMaxScore = 1000, kMaxMinutes = 60;
constexpr size_t kFewestWrong = 2, kMaxWrong = 3, kLongestWord = 32, kMaxChoices = 6, kMaxValues = 8,
                 kMaxHints = 6, kMaxWays = 8;

int32_t words_in(const std::string& text) {
  std::istringstream words(text);
  return static_cast<int32_t>(
      std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()));
}

std::string few_words(Table& t, std::string_view key, int32_t most) {
  const std::string text = t.text(key);
  if (const int32_t words = words_in(text); words > most)
    t.refuse(key, Message("has {} words: expected at most {}", words, most));
  return text;
}

std::string short_word(Table& t, std::string_view key) {
  const std::string word = t.text(key);
  if (word.size() > kLongestWord)
    t.refuse(key, Message("has {} bytes: expected at most {}, for a button", word.size(), kLongestWord));
  return word;
}

Challenge::Choice read_choice(Table& t) {
  Challenge::Choice choice{t.text("field"), t.text("label"), {}};
  if (!find_field(choice.field))
    t.refuse("field", Message("'{}' is no field of a run: expected one as train.warmup", choice.field));
  for (Table& value : t.tables("values")) {
    choice.values.push_back({value.text("value"), short_word(value, "text")});
    choice.values.back().name = choice.values.back().text;
    if (choice.values.back().value.find_first_of(" \t\n=") != std::string::npos)
      value.refuse("value", "has a blank or '=' in it: expected one word");
    value.done();
  }
  if (choice.values.size() < 2 || choice.values.size() > kMaxValues)
    t.refuse("values", Message("expected 2 to {} values", kMaxValues));
  t.done();
  return choice;
}

/// Judges everything of [challenge] that needs the whole lesson.
class Referee {
 public:
  Referee(const Lesson& lesson, const Table& root) : lesson_(lesson), task_(*lesson.challenge), root_(root) {}

  void all() const {
    if (!lesson_.has_letter(task_.run))
      refuse("run", Message("'{}' is not in this lesson: expected a run with a letter of it", task_.run));
    if (!lesson_.knobs.empty()) refuse("run", "has a [knob] beside it: expected the choices alone");
    budget(task_.run);
    ends_above(task_.measure);
    for (const Challenge::Choice& choice : task_.choices) offers(choice);
    for (const Challenge::Way& way : task_.ways) {
      if (lesson_.has_letter(way.run) || !lesson_.run(way.run))
        refuse("ways", Message("'{}': expected a run for comparison, with a name in small letters", way.run));
      budget(way.run);
      reachable(way.run);
      ends_below(way.measure, way.run);
    }
    nothing_waits();
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const Message& what) const {
    throw Error("{}:1: [challenge.{}] {}", root_.file(), key, what);
  }

  void budget(const std::string& run) const {
    const RunSpec& spec = lesson_.run(run)->spec;
    if (spec.train.steps != task_.budget)
      refuse("budget", Message("is {}, and run {} has {} steps: expected as many", task_.budget, run,
                               spec.train.steps));
  }

  const Check* check_of(const std::string& measure, const std::string& run) const {
    const Measure* m = lesson_.measure(measure);
    const Curve* curve = m ? lesson_.curve(m->curve) : nullptr;
    if (!curve || curve->run != run)
      refuse("measure", Message("'{}' is no measure of a curve of run {}: expected one", measure, run));
    for (const Check& check : lesson_.checks)
      if (check.measure == measure) return &check;
    return nullptr;
  }

  void ends_above(const std::string& measure) const {
    const Check* check = check_of(measure, task_.run);
    if (!check || !check->low || *check->low < task_.line)
      refuse("measure",
             Message("'{}' has no [[check]] with low = {} or more: expected one, because the start is stuck",
                     measure, task_.line));
  }

  void ends_below(const std::string& measure, const std::string& run) const {
    const Check* check = check_of(measure, run);
    if (!check || !check->high || *check->high > task_.line)
      refuse(
          "ways",
          Message("'{}' has no [[check]] with high = {} or less: expected one, because it is a measured way",
                  measure, task_.line));
  }

  void offers(const Challenge::Choice& choice) const {
    RunSpec spec = lesson_.run(task_.run)->spec;
    const std::string own = get_field(spec, choice.field);
    bool has_own = false;
    std::set<std::string> values;
    for (const Challenge::Choice::Value& value : choice.values) {
      try {
        set_field(spec, choice.field, value.value);
      } catch (const Error& error) {
        refuse("choices", error.message);
      }
      const std::string as_kept = get_field(spec, choice.field);
      if (as_kept != value.value || !values.insert(as_kept).second)
        refuse("choices", Message("'{}' of {}: expected different values as a file has them, here '{}'",
                                  value.value, choice.field, as_kept));
      has_own |= as_kept == own;
    }
    if (!has_own)
      refuse("choices", Message("{} is '{}' at the start: expected it among the values", choice.field, own));
  }

  /// Requires that a way differs from the start only in offered fields, and there by offered values.
  void reachable(const std::string& run) const {
    const RunSpec& way = lesson_.run(run)->spec;
    RunSpec made = lesson_.run(task_.run)->spec;
    for (const Challenge::Choice& choice : task_.choices) {
      const std::string value = get_field(way, choice.field);
      if (std::ranges::none_of(choice.values,
                               [&](const Challenge::Choice::Value& v) { return v.value == value; }))
        refuse("ways",
               Message("run {} has {} = {}: expected a value that is offered", run, choice.field, value));
      set_field(made, choice.field, value);
    }
    complete(made);
    for (const Edit& edit : edits_between(made, way, 0))
      if (edit.key != "run.name")
        refuse("ways", Message("run {} has {} = {}, which no choice offers", run, edit.key, edit.value));
  }

  void waits(const std::string& measure, const std::string& where) const {
    if (const Measure* m = lesson_.measure(measure); m && belongs_to_way(lesson_, *m))
      throw Error(
          "{}:1: [{}] '{}' is of a measured way, for which no learner waits: expected "
          "{{band NAME}} in a text, or another measure",
          root_.file(), where, measure);
  }

  void nothing_waits() const {
    waits(lesson_.prediction.measure, "prediction.measure");
    for (const Prediction::Card& card : lesson_.prediction.cards) waits(card.measure, "prediction.cards");
    if (lesson_.puzzle) waits(lesson_.puzzle->measure, "puzzle.measure");
    for (StepKind kind : kSteps) {
      const std::string step = std::string("step.") + to_string(kind);
      for (const Block& block : lesson_.step(kind).text.blocks)
        for (const Inline& piece : block.inlines) {
          if (piece.kind == Inline::Kind::Value) waits(piece.text, step);
          for (const Condition& condition : piece.conditions) waits(condition.measure, step);
        }
      if (kind != StepKind::Explain) gives_away(kind, step);
    }
  }

  void gives_away(StepKind kind, const std::string& step) const {
    for (const std::string& id : lesson_.step(kind).figures)
      for (const FigureLine& line : lesson_.figure(id)->lines)
        if (belongs_to_way(lesson_, *lesson_.curve(line.curve)))
          throw Error("{}:1: [{}.figures] '{}' shows a way before the end: expected it in explain alone",
                      root_.file(), step, id);
  }

  const Lesson& lesson_;
  const Challenge& task_;
  const Table& root_;
};

}  // namespace

Case read_case(Table& t, Lesson& experiment) {
  Case c;
  c.ask = few_words(t, "ask", kAskWords);
  c.why = few_words(t, "why", kWhyWords);
  // [case.measure.NAME] has the word "measure" already: a key of TOML has one meaning.
  Check check{.measure = t.text("decides"), .low = t.maybe("low"), .high = t.maybe("high")};
  check.says = few_words(t, "right", kAnswerWords);
  if (!check.low && !check.high) t.refuse("", "has no band: expected low, high or both");
  std::set<std::string> answers{check.says};
  for (Table& wrong : t.tables("wrong")) {
    check.excludes.push_back(read_neighbour(wrong));
    c.whys.push_back(few_words(wrong, "why", kWhyWords));
    wrong.done();
    const std::string& what = check.excludes.back().what;
    if (words_in(what) > kAnswerWords)
      wrong.refuse("what", Message("has {} words: expected at most {}", words_in(what), kAnswerWords));
    if (!answers.insert(what).second)
      wrong.refuse("what", Message("'{}' is offered twice: expected different answers", what));
  }
  if (c.whys.size() < kFewestWrong || c.whys.size() > kMaxWrong)
    t.refuse("wrong",
             Message("{} of them: expected {} or {} misconceptions, each with the thought that leads there",
                     c.whys.size(), kFewestWrong, kMaxWrong));
  c.own = few_words(t, "own", kWhyWords);
  experiment.checks.push_back(std::move(check));
  return c;
}

std::vector<Thought> read_thoughts(Table& root, const Prediction& prediction) {
  const std::vector<std::string> known = possible_faults(prediction);
  std::vector<Thought> thoughts;
  std::set<std::string> seen;
  for (Table& t : root.tables("thought")) {
    thoughts.push_back({t.text("when"), few_words(t, "text", kThoughtWords)});
    const std::string& when = thoughts.back().when;
    if (std::ranges::find(known, when) == known.end())
      t.refuse("when",
               Message("'{}' is no fault of an answer here: expected one as '{}'", when, known.front()));
    if (!seen.insert(when).second)
      t.refuse("when", Message("'{}' has two thoughts: expected one for each fault", when));
    t.done();
  }
  return thoughts;
}

Challenge read_challenge(Table t) {
  Challenge c;
  c.text = few_words(t, "text", 60);
  c.run = t.text("run");
  c.measure = t.text("measure");
  c.line = t.number("line");
  c.budget = t.whole("budget", 1, 100'000);
  c.minutes = t.whole("minutes", 1, kMaxMinutes);
  c.points = t.whole("points", 1, kMaxScore);
  c.per_run = t.whole("per_run", 0, kMaxScore);
  for (Table& choice : t.tables("choices")) c.choices.push_back(read_choice(choice));
  if (c.choices.empty() || c.choices.size() > kMaxChoices)
    t.refuse("choices", Message("expected 1 to {} fields", kMaxChoices));
  for (Table& way : t.tables("ways")) {
    c.ways.push_back({way.text("run"), way.text("measure")});
    way.done();
  }
  if (c.ways.size() < 2 || c.ways.size() > kMaxWays)
    t.refuse("ways", Message("expected 2 to {} measured ways", kMaxWays));
  for (Table& hint : t.tables("hints")) {
    c.hints.push_back({few_words(hint, "text", kHintWords), hint.whole("costs", 0, kMaxScore)});
    hint.done();
  }
  if (c.hints.empty() || c.hints.size() > kMaxHints)
    t.refuse("hints", Message("expected 1 to {} hints", kMaxHints));
  t.done();
  return c;
}

void check_challenge(const Lesson& lesson, const Table& root) {
  if (lesson.challenge) Referee(lesson, root).all();
}

bool belongs_to_way(const Lesson& lesson, const Curve& curve) {
  return lesson.challenge && std::ranges::any_of(lesson.challenge->ways, [&](const Challenge::Way& way) {
           return way.run == curve.run;
         });
}

bool belongs_to_way(const Lesson& lesson, const Measure& measure) {
  if (measure.curve.empty())
    return belongs_to_way(lesson, *lesson.measure(measure.first)) ||
           belongs_to_way(lesson, *lesson.measure(measure.second));
  return belongs_to_way(lesson, *lesson.curve(measure.curve));
}

std::optional<OpeningPlace> opening_place(const ModelConfig& model, std::string_view name) {
  if (!is_transformer(model.architecture)) return {};
  const view::Stacks stacks = view::stacks_of(model);
  if (const auto place = place_in(stacks.of(Side::Main), name)) return place;
  return stacks.both ? place_in(stacks.of(Side::Encoder), name) : std::nullopt;
}

std::vector<OpeningRun> read_opening(const Lesson& lesson, Table& t) {
  std::vector<OpeningRun> opening;
  size_t room = kMaxPictures;
  for (Table& one : t.tables("opening")) {
    OpeningRun picture{one.text("run"), one.text("slot")};
    one.done();
    if (!lesson.has_letter(picture.run))
      one.refuse("run", Message("'{}' is not in this lesson: expected a run with a letter", picture.run));
    const ModelConfig& model = lesson.run(picture.run)->spec.model;
    if (!opening_place(model, picture.slot))
      one.refuse("slot", Message("'{}' is no place of its diagram: expected one as layer1/ffn/stream, "
                                 "before or after, final, embedding, or of a scaled skip path "
                                 "layer1/ffn/skip-scale",
                                 picture.slot));
    const size_t wide = has_both(model) ? kMaxPictures : 1;
    if (wide > room)
      one.refuse("run", "has no room: expected two runs at most, or one with an encoder and a decoder");
    room -= wide;
    opening.push_back(std::move(picture));
  }
  return opening;
}

}  // namespace normscope::course
