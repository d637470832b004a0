// The claim reader has one function per table of the file; claim_reader.h declares it.
#include "addons/papers/app/reproduce/claim_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <regex>
#include <tuple>

#include "addons/papers/app/input_kinds.h"
#include "addons/papers/app/reproduce/claim_run_tables.h"
#include "addons/papers/app/reproduce/plan.h"
#include "app/course/check.h"
#include "app/course/reading/measure_tables.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/io/toml_table.h"

namespace normscope::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostClaimFiles = 10'000, kMostClaims = 500;
constexpr int32_t kLastClaimStep = 100'000;

bool is_name(const std::string& id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-' || c == '_';
  });
}

/// Reads "start", "end" (the default) or a step of the ladder.
int32_t read_moment(Table& t) {
  if (!t.has("step")) return t.choice("at", {"start", "end"}, 1) == 0 ? Line::kStart : Line::kEnd;
  const int32_t step = t.whole("step", 1, kLastClaimStep);
  const std::vector<int32_t> kept = experiments::ladder();
  if (std::find(kept.begin(), kept.end(), step) == kept.end())
    t.refuse("step", Message("{} is not kept: expected one of {}", step, fmt::join(kept, ", ")));
  return step;
}

void read_steps(Line& line, Table& t) {
  std::tie(line.from, line.to) = t.steps("steps", 1, kLastClaimStep);
  line.relative = t.flag("relative", false);
}

/// Reads the lines of fresh models: depth, layers, norm and wiring are the lessons' own.
Line read_fresh(const std::string& id, Table t, const course::Lesson& language) {
  Line line;
  line.id = id;
  line.of = Line::Of::Fresh;
  line.fresh = course::read_curve(id, t);
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
  Line line;
  line.id = id;
  line.of = static_cast<Of>(of);
  line.y = t.text("y");
  line.mean = course::mean_of(t);
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
  if (const std::string expected = unknown_number(line); !expected.empty())
    t.refuse("y", Message("'{}' is not measured there: expected {}", line.y, expected));
  t.done();
  return line;
}

Stated read_stated(Table t, const course::Lesson& language) {
  Stated s;
  s.what = t.text("what");
  s.value = t.number("value");
  s.unit = t.text("unit", "");
  s.read_off = t.flag("read_off", false);
  s.measure = t.text("measure", "");
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

Beside read_beside(Table t, const course::Lesson& language) {
  Beside b{t.text("what"), t.text("measure")};
  if (!language.measure(b.measure))
    t.refuse("measure", Message("'{}' is not in this claim: expected a measure of it", b.measure));
  t.done();
  return b;
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

/// Refuses "as good" without the difference that it rules out, because it would say nothing.
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

/// Refuses a claim that compares runs at their end without saying whether it is of quality or of
/// speed.
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

Drawn read_drawn(Table t, const Claim& claim) {
  Drawn d;
  d.title = t.text("title");
  d.x = t.text("x");
  d.y = t.text("y");
  d.log_x = t.flag("log_x", false);
  d.log_y = t.flag("log_y", false);
  for (Table& one : t.tables("lines")) {
    Drawn::Trace trace{one.text("line"), one.text("name")};
    if (!claim.line(trace.line))
      one.refuse("line", Message("'{}' is not in this claim: expected a curve of it", trace.line));
    one.done();
    d.lines.push_back(std::move(trace));
  }
  if (d.lines.empty()) t.refuse("lines", "is empty: expected one line at least");
  t.done();
  return d;
}

/// Checks the names between braces in a sentence.
void check_sentence(const std::string& key, const std::string& text, const Claim& claim, const Table& t) {
  static const std::regex name(R"(\{([^{}]*)\})");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
    if (!claim.language.measure((*at)[1].str()))
      t.refuse(key, Message("'{{{}}}' is not in this claim: expected a measure of it", (*at)[1].str()));
}

void read_verdicts(Claim& claim, Table t) {
  constexpr const char* keys[] = {"reproduced", "not_at_this_scale", "contradicted"};
  for (size_t i = 0; i < claim.sentences.size(); ++i) {
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

/// How far the losses of that line still fall at the end, for a claim of quality.
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
    claim.parts.push_back({read_opposite(child), read_effect(child), child.text("beyond", "")});
    language.checks.push_back(course::read_check(child));
    refuse_opposite(language.checks.back(), claim.parts.back().opposite, child);
    refuse_unbounded(claim, language.checks.back(), child);
  }
  if (language.checks.empty()) t.refuse("check", "is missing: expected [[check]], one at least");
}

}  // namespace

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
  if (t.has("beyond")) {
    claim.beyond = t.text("beyond");
    for (Table& child : t.tables("number")) claim.numbers.push_back(read_stated(child, claim.language));
    t.done();
    return claim;
  }
  claim.seeds = t.whole("seeds", 1, kMostSeeds, 5);
  claim.quick_seeds = t.whole("quick_seeds", 1, claim.seeds, 1);
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
    experiments_of(claim, 1);  // throws unless every cell of every grid is a run
    tuning_of(claim);          // and every cell of every control
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

std::string unknown_number(const Line& line) {
  using Of = Line::Of;
  const auto among = [&](std::initializer_list<const char*> names) -> std::string {
    if (std::find(names.begin(), names.end(), line.y) != names.end()) return {};
    return fmt::format("{}", fmt::join(names, ", "));
  };
  switch (line.of) {
    case Of::Run:
      if (line.y == "loss" || line.y == "excess" || experiments::is_number_of_a_step(line.y, false))
        return {};
      return "loss, excess, a number of a step as dec.L01.ffn.w2.grad_norm, or two as 'a / b'";
    case Of::Profile:
      if (experiments::is_number_of_a_step(line.y, true)) return {};
      return "a number of a layer with L* in the layer's place, as L*.ffn.w2.grad_norm, or two as 'a / b'";
    case Of::Runs:
    case Of::Grid:
      return among({"final_loss", "final_excess", "learns", "since", "finite", "validation_loss",
                    "validation_bits", "validation_gap", "accuracy", "uas", "bleu", "own_shares",
                    "late_fall"});
    case Of::Shares:
      return among({"own", "sum", "input"});
    case Of::LeftOut:
      return among({"layer", "top"});
    case Of::Fresh:
      return {};
  }
  return "another kind of line";
}

std::string claims_folder() { return shipped_folder("claims", "NORMSCOPE_CLAIMS"); }

const Claim* Claims::find(std::string_view id) const {
  const auto it = std::find_if(claims.begin(), claims.end(), [&](const Claim& c) { return c.id == id; });
  return it == claims.end() ? nullptr : &*it;
}

Claims read_claims(const std::string& folder, const std::string& pairs) {
  Claims all;
  std::string error;
  std::vector<std::string> files;
  for (const std::string& paper : files_in(folder, kMostClaimFiles, error)) {
    std::error_code failure;  // set by a link that leads nowhere or in circles
    if (!fs::is_directory(paper, failure)) continue;
    std::string unread;
    for (const std::string& file : files_in(paper, kMostClaimFiles, unread))
      if (file.ends_with(".toml") && files.size() < kMostClaims) files.push_back(file);
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
