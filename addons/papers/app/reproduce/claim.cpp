#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <regex>
#include <tuple>

#include "addons/papers/app/input_kinds.h"
#include "addons/papers/app/reproduce/claim_runs.h"
#include "addons/translation/training/pairs_task.h"
#include "app/course/tables.h"
#include "engine/core/boundary.h"
#include "training/files/places.h"
#include "training/io/text.h"

namespace normscope::reproduce {
namespace {

/// Whether a number at the end of a run says how good it is, a loss or a score; others say when or whether it learns.
bool is_quality(std::string_view y) {
  const experiments::EndNumber* number = experiments::end_number(y);
  return number && std::isfinite(number->better) && !std::isnan(number->not_finite);
}
bool is_loss(std::string_view y) { return is_quality(y) && experiments::end_number(y)->better < 0; }

void add_arms(const Claim& claim, const course::Measure& m, std::vector<Arm>& arms) {
  if (m.curve.empty()) {
    for (const std::string& other : {m.first, m.second})
      if (!other.empty()) add_arms(claim, *claim.language.measure(other), arms);
    return;
  }
  const Line* line = claim.line(m.curve);
  if ((line->of == Line::Of::Runs || line->of == Line::Of::Grid) && is_quality(line->y))
    arms.push_back({line, m.take == "at" ? std::optional(m.a) : std::nullopt});
}

/// 1 where more of the number at the end of a run is better, -1 where less is, NaN where neither can be said.
double better_of(std::string_view y) {
  const experiments::EndNumber* number = experiments::end_number(y);
  return number ? number->better : experiments::kUnknown;
}

/// Empty where the line's kind has the number line.y; otherwise says what was expected.
Message unknown_number(const Line& line) {
  using Of = Line::Of;
  constexpr std::string_view kOfSteps[] = {"loss", "excess"};
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, line.y) != names.end() ? Message()
                                                           : expected(line.y, {names.begin(), names.end()});
  };
  switch (line.of) {
    case Of::Run:
      if (line.y == "loss" || line.y == "excess" || experiments::is_number_of_a_step(line.y, false))
        return {};
      return expected_number(line.y, kOfSteps, false);
    case Of::Profile:
      if (experiments::is_number_of_a_step(line.y, true)) return {};
      return expected_number(line.y, {}, true);
    case Of::Runs:
    case Of::Grid:
      if (experiments::end_number(line.y) || !experiments::measured_for(line.y).empty()) return {};
      return experiments::expected_at_end(line.y);
    case Of::Shares:
      return among({"own", "sum", "input"});
    case Of::LeftOut:
      return among({"layer", "top"});
    case Of::Fresh:
      return {};
  }
  return {};
}

constexpr size_t kMaxCells = 200;
constexpr size_t kControlAxes = 2, kControlValues = 3;
/// The fields that define a model: the runs of any claim may differ in them.
constexpr std::string_view kOfAModel[] = {"run.name", "model.placement", "model.encoder_placement",
                                          "model.norm", "model.init"};

const course::LessonRun& run_of(const course::Lesson& language, const std::string& id, const char* key,
                                const Table& t) {
  const course::LessonRun* run = language.run(id);
  if (!run) t.refuse(key, Message("'{}' is not in this claim: expected a run of it", id));
  return *run;
}

/// Reads one or two texts under `key`, as `normscope sweep --axis` takes them.
std::vector<grid::Axis> read_axes(const char* key, const RunSpec& base, Table& t) {
  std::vector<grid::Axis> axes;
  size_t cells = 1;
  for (const std::string& text : t.texts(key)) {
    try {
      axes.push_back(grid::axis_from(text, base));
    } catch (const Error& error) {
      t.refuse(key, error.message);
    }
    cells *= axes.back().values.size();
  }
  if (axes.empty() || axes.size() > 2) t.refuse(key, "expected one or two texts, as \"train.lr=1e-3,3e-3\"");
  if (cells > kMaxCells) t.refuse(key, Message("{} cells: expected at most {}", cells, kMaxCells));
  return axes;
}

/// Requires at least three initialisations and three rates, because the best of fewer tries is not a best.
void refuse_few(const Control& control, const Table& t) {
  const bool enough =
      control.axes.size() == kControlAxes && std::ranges::all_of(control.axes, [](const grid::Axis& axis) {
        return axis.values.size() >= kControlValues;
      });
  if (!enough)
    t.refuse("best_of",
             "expected two axes of three values or more, as \"model.init=xavier,normal002,fixup\" and "
             "\"train.lr=1e-3,2e-3,4e-3\"");
}

/// Finds the files of runs on sentence pairs in `folder`, or replaces those runs by runs on made-up data.
void find_pairs(Claim& claim, Table& t, const std::string& folder) {
  std::vector<course::LessonRun>& runs = claim.language.runs;
  std::vector<course::LessonRun> made_up;
  for (auto& [id, child] : t.children("made_up")) made_up.push_back(course::read_run(id, child));
  bool on_pairs = false;
  for (course::LessonRun& run : runs)
    for (std::string* name : {&run.spec.data.added.of<PairsData>().path, &run.spec.data.valid_path}) {
      if (run.spec.data.name != "pairs" || name->empty()) continue;
      on_pairs = true;
      if (name->find('/') != name->npos)
        t.refuse("run", Message("'{}' names a folder: expected a file among the sentence pairs", *name));
      std::error_code error;
      if (!folder.empty()) *name = (std::filesystem::path(folder) / *name).string();
      if (claim.missing.empty() && (folder.empty() || !std::filesystem::is_regular_file(*name, error)))
        claim.missing = *name;
    }
  const auto same_id = [](const auto& a, const auto& b) { return a.id == b.id; };
  if (on_pairs ? !std::equal(runs.begin(), runs.end(), made_up.begin(), made_up.end(), same_id)
               : !made_up.empty())
    t.refuse(made_up.empty() ? "run" : "made_up",
             "expected [made_up.NAME] for every [run.NAME] of a claim on sentence pairs, and no other");
  if (!on_pairs) return;
  claim.data = claim.missing.empty() ? kOnPairs : kOnMadeUp;
  if (!claim.missing.empty()) claim.pair_runs = std::exchange(runs, std::move(made_up));
}

/// Asks for "best_of" first, because read_run() takes every key that was not read before.
void read_run_or_control(Claim& claim, const std::string& id, Table& t) {
  const bool is_control = !t.texts("best_of").empty();
  claim.language.runs.push_back(course::read_run(id, t));
  if (!is_control) return;
  claim.controls.push_back({id, read_axes("best_of", claim.language.runs.back().spec, t)});
  refuse_few(claim.controls.back(), t);
}

void read_subject(Claim& claim, Table& t) {
  claim.subject = t.texts("subject");
  for (const std::string& key : claim.subject)
    if (!find_field(key))
      t.refuse("subject", Message("'{}' is no field of a run: expected fields as train.warmup", key));
}

/// The fields in which two runs differ, apart from the claim's subject.
std::vector<std::string_view> differing(const RunSpec& a, const RunSpec& b, const Claim& claim) {
  const auto among = [](const auto& keys, std::string_view key) {
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
  };
  std::vector<std::string_view> keys;
  for (const Field& field : spec_fields())
    if (!among(kOfAModel, field.key) && !among(claim.subject, field.key) && field.get(a) != field.get(b))
      keys.push_back(field.key);
  return keys;
}

/// Refuses a run that shares its settings with no other: the source compares runs within one setting. A control is the
/// best of many settings, and is exempt.
void refuse_lone_arm(const Claim& claim, const Table& t) {
  std::vector<const course::LessonRun*> arms;
  for (const course::LessonRun& run : claim.language.runs)
    if (!claim.control(run.id)) arms.push_back(&run);
  for (const course::LessonRun* arm : arms) {
    std::optional<std::vector<std::string_view>> nearest;
    for (const course::LessonRun* other : arms) {
      if (other == arm) continue;
      std::vector<std::string_view> keys = differing(arm->spec, other->spec, claim);
      if (!nearest || keys.size() < nearest->size()) nearest = std::move(keys);
    }
    if (nearest && !nearest->empty())
      t.refuse("subject", Message("'{}' shares its settings with no other run; the nearest differs in {}: "
                                  "expected one value for both, or what the claim is about in subject",
                                  arm->id, fmt::join(*nearest, ", ")));
  }
}

/// Reads the runs. A run may start from another run of the claim, which must itself start afresh.
void read_runs(Claim& claim, Table& t, const std::string& pairs) {
  course::Lesson& language = claim.language;
  for (auto& [id, child] : t.children("run")) {
    if (std::string from = child.text("from", ""); !from.empty()) claim.starts[id] = std::move(from);
    read_run_or_control(claim, id, child);
  }
  if (language.runs.empty()) t.refuse("run", "is missing: expected [run.NAME], one at least");
  for (auto& [id, child] : t.children("run"))
    if (const auto start = claim.starts.find(id); start != claim.starts.end()) {
      run_of(language, start->second, "from", child);
      if (claim.starts.contains(start->second))
        child.refuse("from", Message("'{}' starts from another run itself: expected one that starts afresh",
                                     start->second));
      if (claim.control(id) || claim.control(start->second))
        child.refuse("from", "with best_of: expected runs whose settings are known before any is trained");
    }
  find_pairs(claim, t, pairs);
  read_subject(claim, t);
  refuse_lone_arm(claim, t);
}

namespace fs = std::filesystem;

constexpr size_t kMaxClaimFiles = 10'000, kMaxClaims = 500;
constexpr int32_t kLastClaimStep = 100'000;

bool is_name(const std::string& id) {
  return !id.empty() && std::ranges::all_of(id, [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-' || c == '_';
  });
}

/// Reads "start", "end" (the default) or a step of the ladder.
int32_t read_moment(Table& t) {
  if (!t.has("step")) return t.choice("at", {"start", "end"}, 1) == 0 ? Line::kStart : Line::kEnd;
  const int32_t step = t.whole("step", 1, kLastClaimStep);
  const std::vector<int32_t> kept = experiments::ladder();
  if (std::ranges::find(kept, step) == kept.end())
    t.refuse("step", Message("{} is not kept: expected one of {}", step, fmt::join(kept, ", ")));
  return step;
}

void read_steps(Line& line, Table& t) {
  std::tie(line.from, line.to) = t.steps("steps", 1, kLastClaimStep);
  line.relative = t.flag("relative", false);
}

/// Reads the lines of fresh models: depth, layers, norm and wiring are the lessons' own.
Line read_fresh(const std::string& id, Table t, const course::Lesson& language) {
  Line line{.id = id, .of = Line::Of::Fresh, .fresh = course::read_curve(id, t)};
  line.runs = {line.fresh.run};
  line.y = line.fresh.y;
  line.mean = line.fresh.mean;
  run_of(language, line.runs[0], "run", t);
  return line;
}

Line read_line(const std::string& id, Table t, const course::Lesson& language) {
  using Of = Line::Of;
  const size_t of = t.choice(
      "of", {"run", "runs", "grid", "profile", "shares", "left_out", "depth", "layers", "norm", "wiring"});
  if (of >= static_cast<size_t>(Of::Fresh)) return read_fresh(id, t, language);
  Line line{.id = id, .of = static_cast<Of>(of), .y = t.text("y"), .mean = course::mean_of(t)};
  if (line.of == Of::Runs)
    line.runs = t.texts("runs");
  else
    line.runs = {t.text("run")};
  if (line.of == Of::Runs && line.runs.size() < 2) t.refuse("runs", "expected the names of two runs or more");
  for (const std::string& run : line.runs) run_of(language, run, line.of == Of::Runs ? "runs" : "run", t);
  if (line.of == Of::Run) read_steps(line, t);
  if (line.of == Of::Grid) line.axes = read_axes("axes", run_of(language, line.runs[0], "run", t).spec, t);
  if (line.of == Of::Profile || line.of == Of::Shares) line.step = read_moment(t);
  if (line.of == Of::Shares && line.step > 0)
    t.refuse("step", "shares are measured before and after training: expected at = \"start\" or \"end\"");
  if (line.of == Of::Shares || line.of == Of::LeftOut) {
    const std::vector<std::string_view> stacks{"only", "encoder", "decoder"};
    constexpr const char* kPrefixes[] = {"", "enc.", "dec."};
    line.stack = kPrefixes[t.choice("stack", stacks, 0)];
  }
  if (const Message expected = unknown_number(line); !expected.empty())
    t.refuse("y", Message("'{}' is not measured there: {}", line.y, expected));
  t.done();
  return line;
}

Statement read_stated(Table t, const course::Lesson& language) {
  Statement s{.what = t.text("what"),
              .measure = t.text("measure", ""),
              .value = t.number("value"),
              .unit = t.text("unit", ""),
              .read_off = t.flag("read_off", false)};
  const course::Measure* ours = language.measure(s.measure);
  if (!s.measure.empty() && !ours)
    t.refuse("measure", Message("'{}' is not in this claim: expected a measure of it", s.measure));
  if (ours && ours->unit != s.unit)
    t.refuse("measure",
             Message("'{}' is in '{}' and the paper's number in '{}': expected one unit, or a [[beside]] of "
                     "its own for what is another measure",
                     s.measure, ours->unit, s.unit));
  t.done();
  return s;
}

Statement read_beside(Table t, const course::Lesson& language) {
  Statement b{t.text("what"), t.text("measure")};
  if (!language.measure(b.measure))
    t.refuse("measure", Message("'{}' is not in this claim: expected a measure of it", b.measure));
  t.done();
  return b;
}

Regime read_regime(Table t) {
  Regime regime{t.text("effect"), t.text("here"), t.flag("met", true) ? Met::Met : Met::NotMet};
  t.done();
  return regime;
}

std::optional<Opposite> read_opposite(Table& check) {
  if (!check.has("opposite")) return std::nullopt;
  Table t = check.table("opposite");
  Opposite o{t.maybe("low"), t.maybe("high")};
  if (!o.low && !o.high) t.refuse("", "has no band: expected low, high or both");
  t.done();
  return o;
}

std::optional<Effect> read_effect(Table& check) {
  if (!check.has("effect")) return std::nullopt;
  Table t = check.table("effect");
  Effect e{t.maybe("size"), t.text("measure", ""), t.number("share", 1), t.text("where")};
  if (e.size && !e.measure.empty()) t.refuse("", "expected a size, or a measure of this claim, or neither");
  if ((e.size && *e.size <= 0) || e.share <= 0) t.refuse("", "is none: expected one above 0");
  t.done();
  return e;
}

/// Refuses "as good" without the difference that it rules out: such a band would mean nothing.
void refuse_unbounded(const Claim& claim, const course::Check& check, const Table& t) {
  const std::optional<Effect>& effect = claim.parts.back().effect;
  if (effect && !effect->measure.empty() && !claim.language.measure(effect->measure))
    t.refuse("effect", Message("'{}' is not in this claim: expected a measure of it", effect->measure));
  if (claim.compares != Compares::Neither && !effect && course::holds(check, {{0}, {0, 0, 0}}) &&
      claim.language.measure(check.measure) && claim.language.measure(check.measure)->take == "difference")
    t.refuse("effect",
             "is missing: a band around 0 says \"as good\", expected { size, where }, the smallest effect "
             "that the source shows, or { where } alone where it shows none");
}

/// Refuses a claim that compares runs at their end without saying whether it is of quality or of speed.
void refuse_wordless(const Claim& claim, const Table& t) {
  if (claim.compares != Compares::Neither) return;
  for (const course::Check& check : claim.language.checks)
    if (!arms_of(claim, *claim.language.measure(check.measure)).empty())
      t.refuse("compares", Message("is missing: the check of '{}' compares losses or scores at the end "
                                   "of runs, expected \"quality\" or \"speed\"",
                                   check.measure));
}

/// Refuses a check that nothing contradicts, because it could only fail to be reproduced, and an
/// opposite that overlaps the band, because a value cannot speak for both.
void refuse_opposite(const course::Check& check, const std::optional<Opposite>& opposite, const Table& t) {
  if (!opposite)
    t.refuse("opposite", "is missing: expected the values that say the opposite, { low }, { high } or both");
  constexpr double kAll = std::numeric_limits<double>::infinity();
  if (std::max(check.low.value_or(-kAll), opposite->low.value_or(-kAll)) <=
      std::min(check.high.value_or(kAll), opposite->high.value_or(kAll)))
    t.refuse("opposite", "shares values with the check's own band: expected two bands apart");
}

/// Asks for the start only where the measure has one, and for runs in the regime behind at least one check.
void refuse_outside(Claim& claim, const Table& t) {
  const auto in_regime = [](const Part& part) { return part.outside.empty(); };
  for (const Part& part : claim.parts)
    if (!part.start.empty() && !claim.language.measure(part.start))
      t.refuse("start", Message("'{}' is not in this claim: expected a measure of it", part.start));
  if (std::ranges::all_of(claim.parts, in_regime)) return;
  if (claim.regime.met == Met::NotMet)
    t.refuse("outside",
             "stands beside [regime] met = false, which says it of every check: expected one of them");
  if (std::ranges::none_of(claim.parts, in_regime))
    t.refuse("outside", "is said of every check: expected met = false in [regime]");
  claim.regime.met = Met::InPart;
}

ClaimPlot read_drawn(Table t, const Claim& claim) {
  ClaimPlot d{.title = t.text("title"),
              .x = t.text("x"),
              .y = t.text("y"),
              .log_x = t.flag("log_x", false),
              .log_y = t.flag("log_y", false)};
  for (Table& one : t.tables("lines")) {
    ClaimPlot::Trace trace{one.text("line"), one.text("name")};
    if (!claim.line(trace.line))
      one.refuse("line", Message("'{}' is not in this claim: expected a curve of it", trace.line));
    one.done();
    d.lines.push_back(std::move(trace));
  }
  if (d.lines.empty()) t.refuse("lines", "is empty: expected one line at least");
  t.done();
  return d;
}

void check_sentence(const std::string& key, const std::string& text, const Claim& claim, const Table& t) {
  static const std::regex name(R"(\{([^{}]*)\})");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
    if (!claim.language.measure((*at)[1].str()))
      t.refuse(key, Message("'{{{}}}' is not in this claim: expected a measure of it", (*at)[1].str()));
}

void read_verdicts(Claim& claim, Table t) {
  constexpr const char* keys[] = {"reproduced", "not_at_this_scale", "contradicted"};
  for (size_t i = 0; i < claim.sentences.size(); ++i) {
    if (static_cast<Finding>(i + 1) == Finding::Contradicted && claim.regime.met == Met::NotMet) {
      if (t.has(keys[i]))
        t.refuse(keys[i],
                 "runs that are not in the source's regime contradict nothing: expected no such sentence");
      continue;
    }
    claim.sentences[i] = t.text(keys[i]);
    check_sentence(keys[i], claim.sentences[i], claim, t);
  }
  t.done();
}

void add_line(Claim& claim, Line line) {
  course::Curve curve = line.fresh;
  curve.id = line.id;
  curve.mean = line.mean;
  claim.language.curves.push_back(std::move(curve));
  claim.lines.push_back(std::move(line));
}

/// The line of how far the losses of `line` still fall at the end, for a claim of quality.
Line late_fall_of(Line line) {
  line.id += kLateFall;
  line.y = "late_fall";
  line.mean = course::Mean::Arithmetic;
  return line;
}

void read_lines(Claim& claim, Table& t) {
  for (auto& [id, child] : t.children("curve")) {
    const Line line = read_line(id, child, claim.language);
    const bool fresh = line.of == Line::Of::Fresh,
               ends = line.of == Line::Of::Runs || line.of == Line::Of::Grid;
    if (fresh && claim.starts.contains(line.runs[0]))
      child.refuse("run",
                   "starts from another run: expected one that starts afresh, nothing is trained here");
    if (fresh && claim.control(line.runs[0]))
      child.refuse("run", "is chosen by training: expected one without best_of, nothing is trained here");
    add_line(claim, line);
    if (claim.compares == Compares::Quality && ends && is_loss(line.y)) add_line(claim, late_fall_of(line));
  }
}

void read_measured(Claim& claim, Table& t) {
  course::Lesson& language = claim.language;
  read_lines(claim, t);
  for (auto& [id, child] : t.children("measure"))
    language.measures.push_back(course::read_measure(id, child));
  for (Table& child : t.tables("check")) {
    claim.parts.push_back({read_opposite(child), read_effect(child), child.text("beyond", ""),
                           child.text("outside", ""), child.text("start", ""), child.text("threshold", "")});
    language.checks.push_back(course::read_check(child));
    refuse_opposite(language.checks.back(), claim.parts.back().opposite, child);
    refuse_unbounded(claim, language.checks.back(), child);
  }
  if (language.checks.empty()) t.refuse("check", "is missing: expected [[check]], one at least");
  refuse_outside(claim, t);
}

}  // namespace

const char* to_string(Finding finding) {
  constexpr const char* kFindings[] = {"not run",           "reproduced",    "not at this scale",
                                       "contradicted here", "no system yet", "cannot be told here",
                                       "parts differ"};
  return kFindings[static_cast<size_t>(finding)];
}

const char* to_string(Met met) {
  constexpr const char* kMet[] = {"met", "not met", "met in part"};
  return kMet[static_cast<size_t>(met)];
}

const Line* Claim::line(std::string_view line_id) const {
  const auto it = std::ranges::find(lines, line_id, &Line::id);
  return it == lines.end() ? nullptr : &*it;
}

const Control* Claim::control(std::string_view run_id) const {
  const auto it = std::ranges::find(controls, run_id, &Control::run);
  return it == controls.end() ? nullptr : &*it;
}

std::vector<Arm> arms_of(const Claim& claim, const course::Measure& measure) {
  std::vector<Arm> arms;
  if (measure.take == "difference" || measure.take == "ratio") add_arms(claim, measure, arms);
  return arms;
}

double pull_of(const Claim& claim, const course::Measure& measure, std::string_view run) {
  if (measure.curve.empty()) {
    double pull = 0;
    if (!measure.first.empty()) pull += pull_of(claim, *claim.language.measure(measure.first), run);
    if (!measure.second.empty()) pull -= pull_of(claim, *claim.language.measure(measure.second), run);
    return pull;
  }
  const Line& line = *claim.line(measure.curve);
  if (std::ranges::find(line.runs, run) == line.runs.end()) return 0;
  const bool one = line.of == Line::Of::Runs && measure.take == "at";
  if (one && line.runs.at(static_cast<size_t>(measure.a) - 1) != run) return 0;
  return better_of(line.y);
}

experiments::Names numbers_of(const Claim& claim) {
  experiments::Names numbers;
  for (const Line& line : claim.lines) {
    const bool at_steps = line.of == Line::Of::Run && line.y != "loss" && line.y != "excess";
    if (at_steps || line.of == Line::Of::Profile || line.of == Line::Of::Shares)
      numbers.insert(experiments::kLayers);
    if (line.of == Line::Of::LeftOut) numbers.insert(experiments::kLeftOut);
    if (line.of == Line::Of::Runs || line.of == Line::Of::Grid)
      if (const std::string asked = experiments::measured_for(line.y); !asked.empty()) numbers.insert(asked);
  }
  return numbers;
}

Claim on_pairs(const Claim& claim) {
  Claim there = claim;
  if (claim.missing.empty()) return there;
  there.language.runs = std::move(there.pair_runs);
  there.pair_runs.clear();
  there.missing.clear();
  there.data = kOnPairs;
  return there;
}

Claim parse_claim(std::string_view source, const std::string& file, const std::string& pairs) {
  const toml::table root = parse_toml(source, file);
  Table t(root, file, "");
  Claim claim;
  claim.file = file;
  claim.id = t.text("id");
  if (!is_name(claim.id))
    t.refuse("id", Message("'{}' is no name: expected small letters, digits, - and _", claim.id));
  Table where = t.table("source");
  claim.source = {where.text("paper"), where.text("item"), where.text("version")};
  where.done();
  claim.says = t.text("claim");
  claim.setting = t.text("setting");
  if (t.has("beyond") || t.has("proof")) {
    if (t.has("proof")) {
      claim.proof = t.text("proof");
      claim.refuted = t.flag("refuted", false);
    } else {
      claim.beyond = t.text("beyond");
    }
    for (Table& child : t.tables("number")) claim.numbers.push_back(read_stated(child, claim.language));
    t.done();
    return claim;
  }
  claim.seeds = t.whole("seeds", 1, kMaxSeeds, 5);
  claim.quick_seeds = t.whole("quick_seeds", 1, claim.seeds, 1);
  claim.regime = read_regime(t.table("regime"));
  claim.compares = static_cast<Compares>(t.choice("compares", {"neither", "quality", "speed"}, 0));
  read_runs(claim, t, pairs);
  read_measured(claim, t);
  for (Table& child : t.tables("number")) claim.numbers.push_back(read_stated(child, claim.language));
  for (Table& child : t.tables("beside")) claim.besides.push_back(read_beside(child, claim.language));
  for (Table& child : t.tables("drawing")) claim.drawings.push_back(read_drawn(child, claim));
  read_verdicts(claim, t.table("verdict"));
  t.done();
  check_measures(claim.language, t);
  refuse_wordless(claim, t);
  try {
    runs_of(claim, 1);  // throws unless every cell of every grid is a run
    tuning_of(claim);   // and every cell of every control
  } catch (const Error& error) {
    t.refuse("curve", error.message);
  }
  return claim;
}

Claim read_claim(const std::string& file, const std::string& pairs) {
  auto text = read_input_file_if_there(file, input::kClaim);
  if (!text) throw Error("{}:1: the file is missing: expected {}", file, input::kClaim.expected);
  return parse_claim(*text, file, pairs);
}

std::string claims_folder() { return shipped_folder("claims", "NORMSCOPE_CLAIMS"); }

const Claim* Claims::find(std::string_view id) const {
  const auto it = std::ranges::find(claims, id, &Claim::id);
  return it == claims.end() ? nullptr : &*it;
}

Claims read_claims(const std::string& folder, const std::string& pairs) {
  Claims all;
  std::string error;
  std::vector<std::string> files;
  for (const std::string& paper : files_in(folder, kMaxClaimFiles, error)) {
    std::error_code failure;  // set by a link that leads nowhere or in circles
    if (!fs::is_directory(paper, failure)) continue;
    std::string unread;
    for (const std::string& file : files_in(paper, kMaxClaimFiles, unread))
      if (file.ends_with(".toml") && files.size() < kMaxClaims) files.push_back(file);
    if (!unread.empty()) all.broken.push_back({paper, Message("{}: {}", paper, unread)});
  }
  if (!error.empty()) all.broken.push_back({folder, Message("{}: {}", folder, error)});
  for (const std::string& file : files) {
    try {
      Claim claim = read_claim(file, pairs);
      if (all.find(claim.id))
        throw Error("{}:1: [id] '{}' is another claim's: expected its own", file, claim.id);
      all.claims.push_back(std::move(claim));
    } catch (...) {
      all.broken.push_back({file, describe_exception(file)});
    }
  }
  return all;
}

}  // namespace normscope::reproduce
