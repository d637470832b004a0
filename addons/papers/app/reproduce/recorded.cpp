#include "addons/papers/app/reproduce/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "addons/translation/training/pairs_task.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"

namespace normscope::reproduce {
namespace {

constexpr std::string_view kRecordedFormats[] = {"normscope recorded 1"};
constexpr size_t kMostRecorded = 1000;
constexpr codec::Text kRecordedText{1000};
constexpr codec::Map kRecordedClaims{kMostRecorded, codec::Object{}};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, RecordedMeasure>& m) {
  io.optional("values", m.values, codec::List{1, kMostSeeds, codec::AnyNumber{}});
  if (!m.values.empty()) return;
  io("mean", m.spread.mean);
  io("low", m.spread.low);
  io("high", m.spread.high);
}

template <class Io>
void io(Io& io, codec::Of<Io, Recorded>& r) {
  const codec::Object fall{[](auto& io, auto& data) {
    io("x", data.x, codec::List{0, kMostRecorded, codec::AnyNumber{}});
    io("most", data.y, codec::List{data.x.size(), data.x.size(), codec::AnyNumber{}});
  }};
  io("definition", r.definition, kRecordedText);
  io("seeds", r.seeds, codec::Whole{1, kMostSeeds});
  io("measures", r.measures, codec::Map{kMostRecorded, codec::Object{}});
  io("chosen", r.chosen, codec::Map{kMostRecorded, kRecordedText});
  io("not_excluded", r.not_excluded, codec::List{0, kMostRecorded, kRecordedText});
  io("falls", r.falls, codec::Map{kMostRecorded, fall});
}

namespace {

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

/// Restores a control to what it is chosen from, because the choice follows from that.
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

/// Belongs to the definition where a neighbour needs a curve: whether it passes is known only for
/// the band that was measured.
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
course::Measured measured_from(const RecordedMeasure& m, course::Mean mean) {
  if (!m.values.empty()) return {m.values, spread_of(m.values, mean)};
  if (std::isnan(m.spread.low)) return {{m.spread.mean}, m.spread};
  return {{m.spread.low, m.spread.high}, m.spread};
}

}  // namespace

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
    if (std::any_of(check.excludes.begin(), check.excludes.end(),
                    [](const course::Neighbour& one) { return one.needs_curve(); }))
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

std::optional<Recorded> record_of(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  // Numbers of the made-up translation would be taken for those of the missing sentence pairs.
  if (outcome.finding == Finding::Unknown || !claim.beyond.empty() || !claim.missing.empty())
    return std::nullopt;
  Recorded r{definition_of(claim, outcome.seeds), outcome.seeds, {}, {}, {}, {}};
  for (const auto& [id, measured] : outcome.results.measures)
    r.measures[id] = outcome.spread_alone ? RecordedMeasure{{}, measured.spread}
                                          : RecordedMeasure{measured.values, measured.spread};
  for (const Control& control : claim.controls) r.chosen[control.run] = control.chosen;
  for (const Checked& checked : outcome.checks) r.not_excluded.push_back(checked.not_excluded);
  for (const auto& [id, band] : outcome.results.curves)
    if (is_late_fall(id) && !band.x.empty()) r.falls[id] = {band.x, band.high};
  return r;
}

bool is_kept(const Claim& claim, int32_t seeds, const RecordedClaims& claims) {
  const auto it = claims.find(claim.id);
  if (it == claims.end()) return false;
  const Recorded& recorded = it->second;
  if (!claim.missing.empty()) return recorded.definition == definition_of(on_pairs(claim), recorded.seeds);
  return recorded.seeds > seeds && recorded.definition == definition_of(claim, recorded.seeds);
}

std::optional<Outcome> judge_recorded(const Claim& claim, int32_t seeds, const RecordedClaims& claims) {
  if (!claim.missing.empty()) return judge_recorded(on_pairs(claim), seeds, claims);
  const auto it = claims.find(claim.id);
  if (it == claims.end() || it->second.definition != definition_of(claim, seeds)) return std::nullopt;
  const Recorded& recorded = it->second;
  auto own = std::make_shared<Claim>(claim);
  for (Control& control : own->controls)
    if (const auto chosen = recorded.chosen.find(control.run); chosen != recorded.chosen.end())
      control.chosen = chosen->second;
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
    for (int32_t seed = 1; seed <= static_cast<int32_t>(measure->second.values.size()); ++seed)
      outcome.seeds_of[m.id].push_back(seed);
  }
  for (const course::Curve& curve : claim.language.curves) outcome.results.curves[curve.id];
  for (const auto& [id, fall] : recorded.falls) outcome.results.curves[id] = {fall.x, fall.y, fall.y, fall.y};
  conclude_recorded(outcome, recorded.falls, recorded.not_excluded);
  return outcome;
}

}  // namespace normscope::reproduce
