#include "addons/sweep/app/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/core/error.h"
#include "training/files/command_text.h"
#include "training/io/input_value.h"
#include "training/io/text.h"

namespace normscope::sweep {
namespace {

constexpr const char* kMoreForm = "N@KEY=FROM:TO,KEY=FROM:TO, as 2@train.lr=0.001:0.01";

/// Takes each layer from a preset of its own: layer l of `count` takes pick(l, count, presets).
template <typename Pick>
void mix_layers(RunSpec& spec, std::string_view names, Pick pick) {
  std::vector<StackWiring> presets;
  const StackContext context = context_of(spec.model, spec.model.architecture != Architecture::Encoder);
  for (const std::string_view name : split(names, ','))
    if (!name.empty()) presets.push_back(preset_stack(placement_from(name), spec.model.norm, context));
  if (presets.empty()) fail("layers", "'{}' names no placement: expected such as post,pre", names);
  StackWiring& stack = spec.model.stack();
  const size_t count = stack.layers.size();
  for (size_t l = 0; l < count; ++l) {
    const StackWiring& from = presets[pick(l, count, presets.size())];
    stack.layers[l] = from.layers[l];
    stack.final = from.final;
  }
  complete(spec);
}

/// Leaves out the values, because those may be refused cell by cell.
void check(const Plan& plan) {
  if (plan.axes.empty() || plan.axes.size() > 2)
    fail("sweep", "{} axes: expected one or two, as --axis train.lr=1e-4:1e-2:log7", plan.axes.size());
  if (plan.axes.size() == 2 && plan.axes[0].key == plan.axes[1].key)
    fail("sweep", "both axes are {}: expected two settings", plan.axes[0].key);
  for (const Axis& axis : plan.axes) {
    for (const std::string& assignment : plan.set)
      if (assignment.substr(0, assignment.find('=')) == axis.key)
        fail("sweep", "--set {}: {} is an axis, expected it once", assignment, axis.key);
    if (plan.steps > 0 && axis.key == "train.steps")
      fail("sweep", "--steps {}: train.steps is an axis, expected it once", plan.steps);
  }
  if (plan.runs() > kMostRuns) fail("sweep", "{} runs: expected at most {}", plan.runs(), kMostRuns);
}

/// The cell's run. Throws Error where its values do not fit together.
RunSpec cell_spec(const Plan& plan, const RunSpec& base, size_t column, size_t row) {
  std::vector<std::pair<const Axis*, size_t>> values{{&plan.axes[0], column}};
  if (plan.axes.size() > 1) values.emplace_back(&plan.axes[1], row);
  std::ranges::stable_sort(
      values, [](const auto& a, const auto& b) { return order_of(a.first->key) < order_of(b.first->key); });
  RunSpec spec = base;
  for (const auto& [axis, place] : values)
    if (plan.bundles.empty() || axis == &plan.axes[0])
      set_field(spec, axis->key, axis->values[place]);
    else
      for (const std::string& assignment : plan.bundles[place].set) assign(spec, assignment);
  complete(spec);
  validate(spec);
  return spec;
}

/// Refuses an axis or a --set that leaves every run unchanged, because its author expects an effect. A bundle may be
/// the one that reads what is set for all.
void require_read(const Plan& plan, const std::vector<StudyRun>& runs) {
  if (!plan.bundles.empty()) return;
  std::vector<std::string> keys;
  for (const Axis& axis : plan.axes) keys.push_back(axis.key);
  for (const std::string& assignment : plan.set) keys.push_back(assignment.substr(0, assignment.find('=')));
  for (const std::string& key : keys) {
    Message reason;
    bool read = false;
    for (const StudyRun& one : runs) {
      if (!one.refused.empty()) continue;
      const Message why = unused_reason(one.spec, key);
      read = read || why.empty();
      if (reason.empty()) reason = why;
    }
    if (!read && !reason.empty()) fail("sweep", "no run takes notice of {}: {}", key, reason);
  }
}

int32_t count_from(std::string_view text, std::string_view whole) {
  int32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > 1000)
    fail("--more-seeds", "{}: expected {} with N from 1 to 1000", shown_text(whole), kMoreForm);
  return count;
}

/// Reads "FROM:TO" or one value. A value may contain colons: every colon is tried, the whole text first.
Span span_from(std::string_view text, const Axis& axis, const RunSpec& base) {
  const auto place = [&](std::string_view value) -> std::optional<size_t> {
    try {
      return place_of(axis, value, base);
    } catch (const Error&) {
      return std::nullopt;
    }
  };
  if (const auto one = place(text)) return {*one, *one};
  for (size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    const auto first = place(text.substr(0, colon)), last = place(text.substr(colon + 1));
    if (first && last) return {std::min(*first, *last), std::max(*first, *last)};
  }
  fail("--more-seeds", "{} is no part of {}: expected FROM:TO of its values {}", shown_text(text), axis.key,
       fmt::join(axis.values, ", "));
}

}  // namespace

int32_t Plan::seeds_of(size_t column, size_t row) const {
  int32_t count = seeds;
  for (const MoreSeeds& region : more)
    if (region.columns.holds(column) && region.rows.holds(row)) count += region.count;
  return count;
}

int64_t Plan::runs() const {
  int64_t count = 0;
  for (size_t row = 0; row < rows(); ++row)
    for (size_t column = 0; column < columns(); ++column) count += seeds_of(column, row);
  return count;
}

std::vector<Metric> Plan::metrics() const {
  return measure.empty() ? std::vector{metric} : std::vector{metric, Metric::Measured};
}

void Plan::take_bundles() {
  if (bundles.empty()) return;
  axes.resize(1);
  axes.emplace_back().key = "row";
  for (const Bundle& bundle : bundles) axes[1].values.push_back(bundle.name);
}

void assign(RunSpec& spec, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == assignment.npos || equals == 0)
    fail("--set", "{}: expected KEY=VALUE, as train.lr=1e-3", shown_text(assignment));
  const std::string_view key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (key == "layers.cycle")
    mix_layers(spec, value, [](size_t l, size_t, size_t presets) { return l % presets; });
  else if (key == "layers.halves")
    mix_layers(spec, value, [](size_t l, size_t count, size_t presets) { return l * presets / count; });
  else
    set_field(spec, key, value);
}

RunSpec base_of(const Plan& plan) {
  RunSpec spec = preset_run(plan.preset);
  for (const std::string& assignment : plan.set) assign(spec, assignment);
  if (plan.steps > 0) set_field(spec, "train.steps", std::to_string(plan.steps));
  complete(spec);
  return spec;
}

MoreSeeds more_seeds_from(std::string_view text, const Plan& plan) {
  const size_t at = text.find('@');
  if (at == text.npos) fail("--more-seeds", "{}: expected {}", shown_text(text), kMoreForm);
  MoreSeeds more{.count = count_from(text.substr(0, at), text),
                 .columns = {0, plan.columns() - 1},
                 .rows = {0, plan.rows() - 1}};
  const RunSpec base = base_of(plan);
  std::string_view rest = text.substr(at + 1);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    if (equals == part.size()) fail("--more-seeds", "{}: expected {}", shown_text(text), kMoreForm);
    const auto axis = std::ranges::find(plan.axes, key, &Axis::key);
    if (axis == plan.axes.end())
      fail("--more-seeds", "{} is no axis of this sweep: expected {}", shown_text(key),
           plan.axes.size() > 1 ? fmt::format("{} or {}", plan.axes[0].key, plan.axes[1].key)
                                : plan.axes[0].key);
    (axis == plan.axes.begin() ? more.columns : more.rows) = span_from(part.substr(equals + 1), *axis, base);
  }
  return more;
}

std::string to_text(const MoreSeeds& more, const Plan& plan) {
  std::string text = fmt::format("{}@", more.count);
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    const Axis& axis = plan.axes[i];
    const Span& span = i == 0 ? more.columns : more.rows;
    text += fmt::format("{}{}={}", i == 0 ? "" : ",", axis.key, axis.values[span.first]);
    if (span.last != span.first) text += ":" + axis.values[span.last];
  }
  return text;
}

std::vector<StudyRun> runs_of(const Plan& plan) {
  check(plan);
  const RunSpec base = base_of(plan);
  int32_t most = 0;
  std::vector<StudyRun> cells;  // the cells with seed 1
  for (size_t row = 0; row < plan.rows(); ++row)
    for (size_t column = 0; column < plan.columns(); ++column) {
      StudyRun cell{.spec = base, .column = column, .row = row};
      try {
        cell.spec = cell_spec(plan, base, column, row);
      } catch (const Error& error) {
        cell.refused = error.message;
      }
      cell.spec.seed = 1;
      most = std::max(most, plan.seeds_of(column, row));
      cells.push_back(std::move(cell));
    }
  if (std::ranges::all_of(cells, [](const StudyRun& cell) { return !cell.refused.empty(); }))
    throw Error(cells.front().refused);
  require_read(plan, cells);
  std::vector<StudyRun> runs;
  for (int32_t seed = 1; seed <= most; ++seed)
    for (const StudyRun& cell : cells) {
      if (seed > plan.seeds_of(cell.column, cell.row)) continue;
      runs.push_back(cell);
      runs.back().spec.seed = static_cast<uint64_t>(seed);
    }
  return runs;
}

Plan plan_from(Plan plan, const std::vector<std::string>& axes, const std::vector<std::string>& more_seeds) {
  const RunSpec base = base_of(plan);
  for (const std::string& axis : axes) plan.axes.push_back(axis_from(axis, base));
  for (const std::string& more : more_seeds) plan.more.push_back(more_seeds_from(more, plan));
  return plan;
}

const std::vector<Preset>& presets() {
  // The first lesson uses these warm-ups and the rate 0.003, so the store may already have its runs.
  static const std::vector<Preset> all = {
      {"warmup",
       "learning rate × warm-up, Post-LN",
       {"train.lr=3e-4:3e-2:log7", "train.warmup=0,10,25,50,100,200"}},
      {"depth",
       "depth × learning rate, Post-LN",
       {"model.layers=2,4,6,9,12,18", "train.lr=3e-4,1e-3,3e-3,1e-2"}},
      {"placement", "placement × learning rate", {"model.placement=all", "train.lr=3e-4,1e-3,3e-3,1e-2"}},
  };
  return all;
}

Plan preset_plan(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) {
    names.emplace_back(preset.name);
    if (name == preset.name) return plan_from({}, preset.axes);
  }
  fail("sweep", "{} is no sweep that is ready to start: {}", shown_text(name), expected(name, names));
}

std::string command_text(const Plan& plan, std::string_view metric, std::string_view between) {
  std::string line = "normscope sweep";
  const auto add = [&](const std::string& option) { line.append(between).append(option); };
  for (const std::string& assignment : plan.set) add("--set " + shell_quoted(assignment));
  for (const Axis& axis : plan.axes) add("--axis " + shell_quoted(to_text(axis)));
  if (plan.steps > 0) add(fmt::format("--steps {}", plan.steps));
  if (plan.seeds != 1) add(fmt::format("--seeds {}", plan.seeds));
  for (const MoreSeeds& more : plan.more) add("--more-seeds " + shell_quoted(to_text(more, plan)));
  if (!metric.empty()) add(fmt::format("--metric {}", metric));
  return line;
}

std::string text_for(std::string_view form, const Plan& plan, std::string_view metric) {
  return experiments::text_for(
      form, {"sweep", [&](std::string_view between) { return command_text(plan, metric, between); },
             " --csv sweep.csv --json sweep.json --svg sweep.svg", plan.runs()});
}

}  // namespace normscope::sweep
