#include "app/course/reading/measure_tables.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/course/curves.h"
#include "app/course/measures.h"
#include "app/course/tapes.h"
#include "app/grid/axis.h"
#include "engine/core/error.h"
#include "training/experiments/probes.h"

namespace normscope::course {
namespace {

constexpr size_t kMostPoints = 100, kMostCells = 100;
constexpr int32_t kLastStep = 100'000, kMostWalked = 100;  // of a curve; of a profile
constexpr double kDeepest = 256;                           // layers
constexpr double kWidest = 1024;  // of rows through one norm, whose Jacobian has as many rows and columns

Neighbour read_neighbour(Table t) {
  Neighbour n;
  n.what = t.text("what");
  n.value = t.maybe("value");
  n.measure = t.text("measure", "");
  n.curve = t.text("curve", "");
  n.law = t.text("law", "");
  if (n.value.has_value() + !n.measure.empty() + !n.curve.empty() + !n.law.empty() != 1)
    t.refuse("what",
             "stands without what the measure would be then: expected one of value, measure, curve, law");
  t.done();
  return n;
}

/// Checks that everything is there that [measure.NAME] and [[check]] refer to.
class MeasureChecker : TableChecker {
 public:
  using TableChecker::TableChecker;

  void all() const {
    for (const Curve& c : lesson_.curves) cut("curve." + c.id, can_be_cut(c), c.mean);
    for (const Measure& m : lesson_.measures) measure(m);
    for (const Check& c : lesson_.checks) check(c);
  }

 private:
  /// Refuses a mean of what may end at a bound of its measurement: that has a median only.
  void cut(const std::string& table, bool can_be, Mean mean) const {
    if (can_be && mean != Mean::Median)
      refuse(table, "mean",
             Message("'{}' of values that may end at a bound of their measurement: expected median",
                     to_string(mean)));
  }

  void measure(const Measure& m) const {
    refer(m);
    cut("measure." + m.id, can_be_cut(lesson_, m), m.mean);
    if (m.curve.empty() || !can_be_cut(*lesson_.curve(m.curve))) return;
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
  if (c.xs.size() < 2 || c.xs.size() > kMostPoints || !std::ranges::is_sorted(c.xs))
    t.refuse("xs", Message("expected 2 to {} numbers, ascending", kMostPoints));
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
  if (c.values.size() * c.xs.size() > kMostCells)
    t.refuse("values", Message("{} cells: expected at most {}", c.values.size() * c.xs.size(), kMostCells));
}

void read_profile(Curve& c, Table& t) {
  if (!t.has("steps")) {
    c.from = c.to = t.whole("step", 1, kLastStep);
    return;
  }
  std::tie(c.from, c.to) = t.steps("steps", 1, kLastStep);
  if (!is_walk(c) || c.to - c.from >= kMostWalked)
    t.refuse("steps", Message("{} steps: expected 2 to {}", c.to - c.from + 1, kMostWalked));
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
  LessonRun run;
  run.id = id;
  run.name = t.text("name");
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
  if (const std::string expected = unknown_quantity(c); !expected.empty())
    t.refuse("y", Message("'{}' is not measured there: expected {}", c.y, expected));
  t.done();
  return c;
}

Measure read_measure(const std::string& id, Table t) {
  Measure m;
  m.id = id;
  m.label = t.text("label");
  const std::vector<std::string_view> takes{"at",     "mean", "median",      "min",       "max",
                                            "passes", "fall", "first_below", "exponent",  "r2",
                                            "slope",  "lead", "ratio",       "difference"};
  m.take = takes[t.choice("take", takes)];
  if (m.take == "ratio" || m.take == "difference") {
    m.first = t.text("first");
    m.second = t.text("second");
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
  Check c;
  c.measure = t.text("measure");
  c.low = t.maybe("low");
  c.high = t.maybe("high");
  c.says = t.text("says");
  for (Table& neighbour : t.tables("excludes")) c.excludes.push_back(read_neighbour(neighbour));
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

void check_measures(const Lesson& lesson, const Table& root) { MeasureChecker(lesson, root).all(); }

}  // namespace normscope::course
