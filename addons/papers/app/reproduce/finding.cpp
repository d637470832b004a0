#include "addons/papers/app/reproduce/finding.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numbers>
#include <numeric>

#include "addons/translation/training/pairs_task.h"
#include "training/io/codec.h"
#include "training/io/input_kinds.h"

namespace normscope::reproduce {
namespace {

constexpr double kAll = std::numeric_limits<double>::infinity();

bool all_opposite(const std::optional<Opposite>& opposite, const course::SeedValues& measured) {
  return opposite && !measured.values.empty() && std::ranges::all_of(measured.values, [&](double value) {
           return !std::isnan(value) && opposite->holds(value);
         });
}

/// Replaces {MEASURE} by the text of its mean.
std::string filled_in(const std::string& sentence, const Claim& claim, const course::Results& results) {
  std::string out;
  for (size_t at = 0; at < sentence.size();) {
    const size_t open = sentence.find('{', at), close = sentence.find('}', open);
    out += sentence.substr(at, open - at);
    if (open == sentence.npos || close == sentence.npos) break;
    const std::string name = sentence.substr(open + 1, close - open - 1);
    out += mean_text(results.measures.at(name), *claim.language.measure(name));
    at = close + 1;
  }
  return out;
}

/// A neighbour whose value lies in the band of the check, or that was not measured and so might. Recorded numbers have
/// no curves: a neighbour that needs one passes only where it is `known` to.
std::string passing_neighbour(const Claim& claim, const course::Check& check, const course::Results& results,
                              const std::string& known) {
  for (const course::Neighbour& neighbour : check.excludes) {
    const course::Measure& measure = *claim.language.measure(check.measure);
    const bool of_curve = neighbour.needs_curve();
    if (of_curve && neighbour.what == known) return known;
    const auto missing = [&](const std::string& curve) {
      const auto it = results.curves.find(curve);
      return !curve.empty() && (it == results.curves.end() || it->second.mean.empty());
    };
    if (of_curve && (missing(measure.curve) || missing(neighbour.curve))) continue;
    const std::vector<double> measured = values_of(claim.language, check, neighbour, results);
    if (measured.empty()) return neighbour.what + ", which was not measured";
    for (const double value : measured)
      if (course::holds(check, {{value}, {value, value, value}})) return neighbour.what;
  }
  return {};
}

/// The largest fall over the arms and seeds, in the unit of the losses; nothing where none is known.
std::optional<double> largest_fall(const std::vector<Arm>& arms, const std::vector<course::CurveSet>& seeds) {
  std::optional<double> most;
  for (const course::CurveSet& curves : seeds)
    for (const Arm& arm : arms) {
      const auto it = curves.find(arm.line->id + kLateFall);
      if (it == curves.end()) continue;
      const double unit = arm.line->y == "validation_bits" ? std::numbers::ln2 : 1;
      for (size_t i = 0; i < it->second.y.size(); ++i)
        if (!arm.x || it->second.x[i] == *arm.x)
          most = std::max(most.value_or(-kAll), it->second.y[i] / unit);
    }
  return most;
}

/// The difference that a check claims: if its band holds 0, the band's nearer edge, otherwise the smallest difference
/// measured over the seeds.
double claimed_difference(const CheckResult& checked) {
  double least = kAll;
  if (course::holds(*checked.check, {{0}, {0, 0, 0}})) {
    for (const std::optional<double>& edge : {checked.check->low, checked.check->high})
      if (edge) least = std::min(least, std::abs(*edge));
  } else {
    for (const double value : checked.measured.values) least = std::min(least, std::abs(value));
  }
  return least;
}

/// Decides whether the claim compares speed instead of quality, and why.
void choose_word(const Claim& claim, const std::vector<course::CurveSet>& seeds, CheckResult& checked) {
  if (claim.compares == Compares::Neither || checked.measured.values.empty()) return;
  const std::vector<Arm> arms = arms_of(claim, *checked.measure);
  checked.compares = !arms.empty();
  checked.speed = checked.compares && claim.compares == Compares::Speed;
  if (!checked.compares || checked.speed) return;
  const std::optional<double> fall = largest_fall(arms, seeds);
  const double most = kLevel * claimed_difference(checked);
  if (fall && *fall <= most) return;
  checked.speed = true;
  checked.why = "whether the losses had levelled off was not measured";
  if (fall)
    checked.why = fmt::format("a loss still fell by {} in the last quarter, quality allows {}",
                              course::shown(*fall, *checked.measure), course::shown(most, *checked.measure));
}

/// Half of the band around 0 that says "as good"; of a band with one edge, the edge.
double half_width(const course::Check& check) {
  return check.low && check.high ? (*check.high - *check.low) / 2
                                 : std::abs(check.low.value_or(check.high.value_or(0)));
}

/// The smallest effect that the source shows, in the unit of the check; if it is a measure, the smallest
/// over the seeds. It is nothing where the source shows none or the measure is unknown: no band is then known to be
/// narrow enough.
std::optional<double> size_of(const Effect& effect, const course::Results& results) {
  if (effect.size || effect.measure.empty()) return effect.size;
  std::optional<double> least;
  for (const double value : results.measures.at(effect.measure).values) {
    if (std::isnan(value)) return std::nullopt;
    least = std::min(least.value_or(kAll), effect.share * std::abs(value));
  }
  return least;
}

/// Why a band that says "as good" cannot decide; empty: it can.
std::string too_coarse(const Effect& effect, const course::Results& results, const CheckResult& checked) {
  const double half = half_width(*checked.check);
  const std::optional<double> size = size_of(effect, results);
  if (!size) return fmt::format("the smallest effect is not known ({})", effect.where);
  if (half <= *size / 2) return {};
  return fmt::format("its band of {} is wider than half of the smallest effect, {} ({})",
                     course::shown(half, *checked.measure), course::shown(*size, *checked.measure),
                     effect.where);
}

/// Why the runs of a check say nothing of the source's effect; empty: they are in its regime.
const std::string& outside(const Claim& claim, const Part& part) {
  return claim.regime.met == Met::NotMet ? claim.regime.here : part.outside;
}

/// Whether a measure that rises (`pull` > 0), falls (< 0) or does either (NaN) may leave the band.
bool may_leave(double pull, const std::optional<double>& low, const std::optional<double>& high) {
  return (pull != 0 && !(pull < 0) && high) || (pull != 0 && !(pull > 0) && low);
}

/// A control whose best lies at an end of the values tried, where a better one beyond could take the measure out of the
/// band that it is in; null: there is none.
const Control* unfinished(const Claim& claim, const Part& part, const CheckResult& checked) {
  const std::optional<double>& low = checked.opposite ? part.opposite->low : checked.check->low;
  const std::optional<double>& high = checked.opposite ? part.opposite->high : checked.check->high;
  for (const Control& control : claim.controls)
    if (control.at_end && may_leave(pull_of(claim, *checked.measure, control.run), low, high))
      return &control;
  return nullptr;
}

/// Whether the measure named as the start holds the band already.
bool holds_from_the_start(const Part& part, const course::Results& results, const CheckResult& checked) {
  return !part.start.empty() && course::holds(*checked.check, results.measures.at(part.start));
}

/// Whether every seed lies between the band and its opposite, short of an edge that is ours alone.
bool falls_short(const Part& part, const CheckResult& checked) {
  if (!part.threshold.empty() || !part.opposite) return false;
  const auto& [low, high] = *part.opposite;
  const course::Check& check = *checked.check;
  return std::ranges::all_of(checked.measured.values, [&](double value) {
    return (check.low && high && *high < value && value < *check.low) ||
           (check.high && low && *check.high < value && value < *low);
  });
}

/// Why a part whose measure lies in the check's band, or in the opposite's, cannot be told; empty: it can.
std::string untold(const Claim& claim, const Part& part, const course::Results& results,
                   const CheckResult& checked) {
  if (checked.holds && holds_from_the_start(part, results, checked))
    return "it holds before training: " +
           mean_text(results.measures.at(part.start), *claim.language.measure(part.start));
  if (checked.holds && !checked.not_excluded.empty()) return "does not exclude: " + checked.not_excluded;
  if (const Control* control = unfinished(claim, part, checked))
    return claim.language.run(control->run)->name + " is at its best at an end of the values tried";
  return checked.holds && part.effect ? too_coarse(*part.effect, results, checked) : "";
}

/// Why a part whose measure lies in neither band cannot be told; empty: it can.
std::string untold_between(const Part& part, const CheckResult& checked) {
  if (falls_short(part, checked)) return "every seed falls short of the claim, by a threshold that is ours";
  const double scatter = checked.measured.spread.high - checked.measured.spread.low;
  return part.effect && scatter > 2 * half_width(*checked.check)
             ? fmt::format("the seeds scatter by {}, more than its band",
                           course::shown(scatter, *checked.measure))
             : "";
}

void conclude_part(const Claim& claim, const Part& part, const course::Results& results,
                   CheckResult& checked) {
  if (checked.measured.values.empty()) return;
  if (!part.beyond.empty()) {
    checked.finding = Finding::Beyond;
    checked.why = part.beyond;
    return;
  }
  checked.finding = checked.opposite ? Finding::Contradicted
                    : checked.holds  ? Finding::Reproduced
                                     : Finding::NotAtThisScale;
  std::string why = outside(claim, part);
  if (why.empty())
    why = checked.opposite || checked.holds ? untold(claim, part, results, checked)
                                            : untold_between(part, checked);
  if (why.empty()) return;
  checked.finding = Finding::CannotBeTold;
  checked.why = std::move(why);
}

/// False for a part that cannot be told or was not run: it is of neither speed nor quality.
bool is_told(Finding finding) {
  return finding == Finding::Reproduced || finding == Finding::NotAtThisScale ||
         finding == Finding::Contradicted;
}

std::string with_word(Finding finding, bool speed) {
  return std::string(to_string(finding)) + (speed && is_told(finding) ? " (speed, not quality)" : "");
}

/// Compares speed and quality only where both parts compare runs at their end.
bool same_verdict(const CheckResult& a, const CheckResult& b) {
  return a.finding == b.finding && (!is_told(a.finding) || !a.compares || !b.compares || a.speed == b.speed);
}

/// The finding of all parts; PartsDiffer where they disagree, even if only on speed or quality.
Finding of_the_whole(const std::vector<CheckResult>& checks) {
  for (const CheckResult& one : checks)
    for (const CheckResult& other : checks)
      if (!same_verdict(one, other)) return Finding::PartsDiffer;
  return checks.front().finding;
}

/// Says "Reproduced: it learns. Contradicted here: Post-LN does not."
std::string parts_text(const std::vector<CheckResult>& checks) {
  std::string out;
  for (const Finding finding : {Finding::Reproduced, Finding::Contradicted, Finding::NotAtThisScale,
                                Finding::CannotBeTold, Finding::Beyond})
    for (const bool speed : {false, true}) {
      std::string parts;
      for (const CheckResult& one : checks)
        if (one.finding == finding && (is_told(finding) && one.speed) == speed)
          parts += " " + one.check->says;
      if (parts.empty()) continue;
      std::string name = with_word(finding, speed);
      name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
      out += (out.empty() ? "" : " ") + name + ":" + parts;
    }
  return out;
}

CheckResult check_of(const Claim& claim, size_t i, const Outcome& outcome,
                     const std::vector<course::CurveSet>& curves,
                     const std::vector<std::string>& not_excluded) {
  CheckResult checked;
  checked.check = &claim.language.checks[i];
  checked.measure = claim.language.measure(checked.check->measure);
  checked.measured = outcome.results.measures.at(checked.check->measure);
  checked.holds = course::holds(*checked.check, checked.measured);
  checked.opposite = all_opposite(claim.parts[i].opposite, checked.measured);
  checked.not_excluded = passing_neighbour(claim, *checked.check, outcome.results,
                                           i < not_excluded.size() ? not_excluded[i] : "");
  choose_word(claim, curves, checked);
  conclude_part(claim, claim.parts[i], outcome.results, checked);
  return checked;
}

/// Whether all numbers for a verdict are known: for a claim measured now every measure, including a neighbour's, with
/// every seed; for a recorded claim the measures of its checks.
bool is_known(const Outcome& outcome) {
  const course::Lesson& language = outcome.claim->language;
  if (outcome.spread_alone)
    return std::ranges::all_of(language.checks, [&](const course::Check& check) {
      return !outcome.results.measures.at(check.measure).values.empty();
    });
  return std::ranges::all_of(outcome.results.measures, [&](const auto& one) {
    return static_cast<int32_t>(one.second.values.size()) >= outcome.seeds;
  });
}

void conclude(Outcome& outcome, const std::vector<course::CurveSet>& curves, const std::string& why,
              const std::vector<std::string>& not_excluded = {}) {
  const Claim& claim = *outcome.claim;
  if (!claim.has_runs()) {
    outcome.finding = claim.proof.empty() ? Finding::Beyond
                      : claim.refuted     ? Finding::Contradicted
                                          : Finding::Reproduced;
    outcome.sentence = claim.beyond + claim.proof;
    return;
  }
  for (size_t i = 0; i < claim.language.checks.size(); ++i)
    outcome.checks.push_back(check_of(claim, i, outcome, curves, not_excluded));
  if (!why.empty() || !is_known(outcome)) {
    outcome.sentence = why.empty() ? "Not all of its runs are there yet." : why;
    return;
  }
  outcome.finding = of_the_whole(outcome.checks);
  outcome.sentence = (claim.data.empty() ? "" : claim.data + ": ") +
                     (outcome.finding == Finding::PartsDiffer || outcome.finding == Finding::Beyond
                          ? parts_text(outcome.checks)
                          : filled_in(claim.sentence(outcome.finding), claim, outcome.results)) +
                     controls_text(claim);
}

constexpr std::string_view kRecordedFormats[] = {"normscope recorded 1"};
constexpr size_t kMaxRecorded = 1000;
constexpr codec::Text kRecordedText{1000};
constexpr codec::Map kRecordedClaims{kMaxRecorded, codec::Object{}};

constexpr double kUnknownMean = std::numeric_limits<double>::quiet_NaN();

bool is_late_fall(const std::string& id) { return id.ends_with(kLateFall); }

/// Leaves out lines of kLateFall and the folder of pairs, which do not affect the numbers.
course::Lesson measured_part(const Claim& claim) {
  course::Lesson language = claim.language;
  std::erase_if(language.curves, [](const course::Curve& curve) { return is_late_fall(curve.id); });
  for (course::LessonRun& run : language.runs)
    for (std::string* name : {&run.spec.data.added.of<PairsData>().path, &run.spec.data.valid_path})
      *name = std::filesystem::path(*name).filename().string();
  return language;
}

/// Resets a control to the first values of its axes: its choice follows from the definition.
void undo_choice(const Claim& claim, course::Lesson& language) {
  for (course::LessonRun& run : language.runs)
    if (const Control* control = claim.control(run.id))
      for (const grid::Axis& axis : control->axes) set_field(run.spec, axis.key, axis.values.front());
}

std::string definition_of_line(const Line& line) {
  std::string out = fmt::format("line {} {} [{}] {} {} {} {} {} {} {}\n", line.id, static_cast<int>(line.of),
                                fmt::join(line.runs, " "), line.y, line.stack, line.relative, line.from,
                                line.to, line.step, to_string(line.mean));
  for (const grid::Axis& axis : line.axes) out += fmt::format("axis {} {}\n", line.id, to_text(axis));
  return out;
}

/// The band is part of the definition where a neighbour needs a curve: whether such a neighbour passes is recorded
/// only for the band of that time.
std::string definition_of_band(const course::Check& check) {
  std::string out = fmt::format("band {}", check.measure);
  for (const std::optional<double>& edge : {check.low, check.high})
    out += edge ? fmt::format(" {}", *edge) : " none";
  for (const course::Neighbour& neighbour : check.excludes)
    if (neighbour.needs_curve())
      out += fmt::format(" [{} {} {}]", neighbour.what, neighbour.curve, neighbour.law);
  return out + "\n";
}

/// Uses the range in place of the seeds where only mean and range are known: a band that holds both
/// ends holds every seed.
course::SeedValues measured_from(const course::SeedValues& m, course::Mean mean) {
  if (!m.values.empty()) {
    std::vector<int32_t> seeds(m.values.size());
    std::iota(seeds.begin(), seeds.end(), 1);
    return {m.values, spread_of(m.values, mean), std::move(seeds)};
  }
  if (std::isnan(m.spread.low)) return {{m.spread.mean}, m.spread};
  return {{m.spread.low, m.spread.high}, m.spread};
}

}  // namespace

std::string controls_text(const Claim& claim) {
  std::string out;
  for (const Control& control : claim.controls)
    out += fmt::format(" {} is at its best: {}.", claim.language.run(control.run)->name, control.chosen);
  return out;
}

std::string mean_text(const course::SeedValues& measured, const course::Measure& measure) {
  const auto endless = std::ranges::count_if(measured.values, [](double value) { return std::isinf(value); });
  if (endless == 0 || endless == static_cast<std::ptrdiff_t>(measured.values.size()))
    return course::shown(measured.spread.mean, measure);
  return fmt::format("never with {} of {} seeds", endless, measured.values.size());
}

std::string verdict_of(const CheckResult& checked) { return with_word(checked.finding, checked.speed); }

/// Names no single word where the parts disagree, because each part has its own.
std::string verdict_of(const Outcome& outcome) {
  const bool speed = std::ranges::any_of(outcome.checks, &CheckResult::speed);
  return with_word(outcome.finding, speed);
}

Outcome judge(const Claim& claim, const std::vector<course::CurveSet>& curves, int32_t seeds,
              const std::string& why) {
  Outcome outcome;
  outcome.claim = &claim;
  outcome.results = results_of(claim.language, curves);
  outcome.seeds = outcome.results.seeds = seeds;
  conclude(outcome, curves, why);
  return outcome;
}

void conclude_recorded(Outcome& outcome, const std::map<std::string, course::CurveData>& falls,
                       const std::vector<std::string>& not_excluded) {
  conclude(outcome, {falls}, "", not_excluded);
}

template <class Io>
void io(Io& io, codec::Of<Io, RecordedFindings>& r) {
  const codec::Object measure{[](auto& io, auto& m) {
    io.optional("values", m.values, codec::List{1, kMaxSeeds, codec::AnyNumber{}});
    if (!m.values.empty()) return;
    io("mean", m.spread.mean);
    io("low", m.spread.low);
    io("high", m.spread.high);
  }};
  const codec::Object fall{[](auto& io, auto& data) {
    io("x", data.x, codec::List{0, kMaxRecorded, codec::AnyNumber{}});
    io("most", data.y, codec::List{data.x.size(), data.x.size(), codec::AnyNumber{}});
  }};
  io("definition", r.definition, kRecordedText);
  io("seeds", r.seeds, codec::Whole{1, kMaxSeeds});
  io("measures", r.measures, codec::Map{kMaxRecorded, measure});
  io("chosen", r.chosen, codec::Map{kMaxRecorded, kRecordedText});
  io.optional("at_end", r.at_end, codec::List{0, kMaxRecorded, kRecordedText});
  io("not_excluded", r.not_excluded, codec::List{0, kMaxRecorded, kRecordedText});
  io("falls", r.falls, codec::Map{kMaxRecorded, fall});
}

std::string definition_of(const Claim& claim, int32_t seeds) {
  course::Lesson language = measured_part(claim);
  undo_choice(claim, language);
  std::string out = fmt::format("seeds {} {}\n", seeds, claim.data) + course::definition(language);
  for (const Line& line : claim.lines)
    if (!is_late_fall(line.id) && line.of != Line::Of::Fresh) out += definition_of_line(line);
  for (const auto& [run, start] : claim.starts) out += fmt::format("start {} {}\n", run, start);
  for (const Control& control : claim.controls)
    for (const grid::Axis& axis : control.axes)
      out += fmt::format("control {} {}\n", control.run, to_text(axis));
  for (const course::Check& check : claim.language.checks)
    if (std::ranges::any_of(check.excludes, &course::Neighbour::needs_curve))
      out += definition_of_band(check);
  return course::hash_text(out);
}

RecordedClaims parse_recorded(std::string_view text, const std::string& name) {
  const InputValue json = InputValue::parse(text, name);
  json.at("format").choice(kRecordedFormats);
  return codec::read<RecordedClaims>(json.at("claims"), kRecordedClaims);
}

RecordedClaims read_recorded(const std::string& file) {
  const auto text = read_input_file_if_there(file, input::kMeasured);
  return text ? parse_recorded(*text, file) : RecordedClaims{};
}

std::string to_text(const RecordedClaims& claims) {
  const codec::Json json = {{"format", kRecordedFormats[0]}, {"claims", kRecordedClaims.write(claims)}};
  return json.dump(1) + "\n";
}

std::optional<RecordedFindings> record_of(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  // Numbers of the made-up translation would be taken for numbers of the missing sentence pairs.
  if (outcome.finding == Finding::Unknown || !claim.has_runs() || !claim.missing.empty()) return std::nullopt;
  RecordedFindings r{definition_of(claim, outcome.seeds), outcome.seeds, {}, {}, {}, {}, {}};
  for (const auto& [id, measured] : outcome.results.measures)
    r.measures[id] = {outcome.spread_alone ? std::vector<double>() : measured.values, measured.spread};
  for (const Control& control : claim.controls) {
    r.chosen[control.run] = control.chosen;
    if (control.at_end) r.at_end.push_back(control.run);
  }
  for (const CheckResult& checked : outcome.checks) r.not_excluded.push_back(checked.not_excluded);
  for (const auto& [id, band] : outcome.results.curves)
    if (is_late_fall(id) && !band.x.empty()) r.falls[id] = {band.x, band.high};
  return r;
}

bool is_kept(const Claim& claim, int32_t seeds, const RecordedClaims& claims) {
  const auto it = claims.find(claim.id);
  if (it == claims.end()) return false;
  const RecordedFindings& recorded = it->second;
  if (!claim.missing.empty()) return recorded.definition == definition_of(on_pairs(claim), recorded.seeds);
  return recorded.seeds > seeds && recorded.definition == definition_of(claim, recorded.seeds);
}

std::optional<Outcome> judge_recorded(const Claim& claim, int32_t seeds, const RecordedClaims& claims) {
  if (!claim.missing.empty()) return judge_recorded(on_pairs(claim), seeds, claims);
  const auto it = claims.find(claim.id);
  if (it == claims.end() || it->second.definition != definition_of(claim, seeds)) return std::nullopt;
  const RecordedFindings& recorded = it->second;
  auto own = std::make_shared<Claim>(claim);
  for (Control& control : own->controls)
    if (const auto chosen = recorded.chosen.find(control.run); chosen != recorded.chosen.end())
      control.chosen = chosen->second;
  for (Control& control : own->controls)
    control.at_end = std::ranges::find(recorded.at_end, control.run) != recorded.at_end.end();
  Outcome outcome;
  outcome.claim = own.get();
  outcome.own = own;
  outcome.seeds = outcome.results.seeds = seeds;
  for (const course::Measure& m : claim.language.measures) {
    const auto measure = recorded.measures.find(m.id);
    if (measure == recorded.measures.end()) {
      outcome.results.measures[m.id] = {{}, {kUnknownMean, kUnknownMean, kUnknownMean}};
      continue;
    }
    outcome.spread_alone = outcome.spread_alone || measure->second.values.empty();
    outcome.results.measures[m.id] = measured_from(measure->second, m.mean);
  }
  for (const course::Curve& curve : claim.language.curves) outcome.results.curves[curve.id];
  for (const auto& [id, fall] : recorded.falls) outcome.results.curves[id] = {fall.x, fall.y, fall.y, fall.y};
  conclude_recorded(outcome, recorded.falls, recorded.not_excluded);
  return outcome;
}

}  // namespace normscope::reproduce
