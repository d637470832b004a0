#include "addons/sweep/app/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/real_text.h"
#include "training/files/command_text.h"
#include "training/io/text.h"

namespace normscope::sweep {
namespace {

constexpr const char* kMoreForm = "N@KEY=FROM:TO,KEY=FROM:TO, as 2@train.lr=0.001:0.01";

/// Gives each layer a placement of its own: pick(l, count, presets) for layer l of `count`.
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

/// Checks everything but the values, which are refused cell by cell.
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
  if (plan.runs() > kMaxRuns) fail("sweep", "{} runs: expected at most {}", plan.runs(), kMaxRuns);
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

/// Refuses an axis or a --set that leaves every run unchanged, because its author expects an effect. Bundles are
/// exempt: one of them may be the only one to use a common setting.
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

constexpr int32_t kFirstCount = 5;

double number_of(const std::string& text) {
  double value = 0;
  read_real(text.data(), text.data() + text.size(), value);
  return value;
}

std::string written(double value) { return fmt::format("{:.6g}", value); }

const Field* numeric_field(std::string_view key) {
  const Field* field = find_field(key);
  const bool number = field && (field->type == FieldType::Integer || field->type == FieldType::Real);
  return number ? field : nullptr;
}

double to_two_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  return number_of(fmt::format("{:.1e}", value));
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `value`.
double round_up(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (value <= factor * decade * (1 + 1e-9)) return factor * decade;
  return value;
}

Axis list_axis(const std::string& key, const std::vector<std::string>& values, const RunSpec& base) {
  Axis list{.key = key, .values = values};
  return axis_from(to_text(list), base);  // keeps each value once, as the field writes it
}

/// A span on another axis: from its first value that is still present to its last.
std::optional<Span> moved_span(const Span& span, const Axis& from, const Axis& to) {
  std::optional<Span> moved;
  for (size_t place = 0; place < to.values.size(); ++place) {
    const auto old = std::ranges::find(from.values, to.values[place]);
    if (old == from.values.end() || !span.holds(static_cast<size_t>(old - from.values.begin()))) continue;
    moved = moved ? Span{moved->first, place} : Span{place, place};
  }
  return moved;
}

Axis cut(const Axis& axis, const Span& span) {
  Axis list{.key = axis.key};
  for (size_t i = span.first; i <= span.last; ++i) list.values.push_back(axis.values[i]);
  return list;
}

void add_axis(Plan& plan, Axis axis) {
  plan.axes.push_back(std::move(axis));
  const size_t last = plan.rows() - 1;
  for (MoreSeeds& region : plan.more) region.rows = {0, last};
}

void replace_axis(Plan& plan, size_t which, Axis axis) {
  std::vector<MoreSeeds> kept;
  for (MoreSeeds region : plan.more) {
    Span& span = which == 0 ? region.columns : region.rows;
    const std::optional<Span> moved = moved_span(span, plan.axes[which], axis);
    if (!moved) continue;
    span = *moved;
    kept.push_back(region);
  }
  plan.more = std::move(kept);
  plan.axes[which] = std::move(axis);
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
      if (!plan.bundles.empty()) cell.edits = plan.bundles[row].edits;
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

bool is_numeric(const Axis& axis) { return numeric_field(axis.key) != nullptr; }

std::string typed_text(const Axis& axis) {
  return fmt::format("{}", fmt::join(axis.values, is_numeric(axis) ? " " : ", "));
}

Axis with_typed(const Axis& axis, std::string_view text, const RunSpec& base) {
  std::string words(text);
  const bool range = words.find(':') != words.npos;
  if (is_numeric(axis) && !range) std::replace(words.begin(), words.end(), ' ', ',');
  // A list with commas and blanks between its values would otherwise have empty values.
  std::string tidy;
  bool after = true;
  for (const char c : words) {
    const bool gap = c == ' ' || c == '\t';
    if (gap || (c == ',' && after)) continue;
    after = c == ',' || c == ';';
    tidy += c;
  }
  if (tidy.ends_with(',')) tidy.pop_back();
  return axis_from(axis.key + "=" + tidy, base);
}

Axis with_range(const Axis& axis, double from, double to, int32_t count, const RunSpec& base) {
  return axis_from(fmt::format("{}={}:{}:{}{}", axis.key, written(from), written(to),
                               axis.kind == Axis::Kind::Log ? "log" : "lin", count),
                   base);
}

Axis with_kind(const Axis& axis, Axis::Kind kind, const RunSpec& base) {
  if (kind == axis.kind || !is_numeric(axis)) return axis;
  if (kind == Axis::Kind::List) return list_axis(axis.key, axis.values, base);
  std::vector<double> values;
  for (const std::string& value : axis.values) values.push_back(number_of(value));
  std::ranges::sort(values);
  double low = values.front(), high = values.back();
  if (kind == Axis::Kind::Log && low <= 0) {
    const auto above = std::ranges::upper_bound(values, 0.0);
    low = above == values.end() ? 1 : *above;
  }
  if (high <= low) high = kind == Axis::Kind::Log || low > 0 ? 10 * low : low + 1;
  Axis range = axis;
  range.kind = kind;
  const int32_t count = std::max<int32_t>(2, static_cast<int32_t>(axis.values.size()));
  return with_range(range, low, high, count, base);
}

Axis first_axis(std::string_view key, const RunSpec& base) {
  const Field* field = find_field(key);
  if (field && !field->choices.empty()) return axis_from(fmt::format("{}=all", key), base);
  if (field && field->type == FieldType::Flag) return axis_from(fmt::format("{}=false,true", key), base);
  const std::string now = get_field(base, key);
  if (!numeric_field(key)) return list_axis(std::string(key), {now}, base);
  const bool whole = field->type == FieldType::Integer;
  double middle = number_of(now);
  if (middle <= 0) middle = whole ? 10 : field->high > 0 ? std::min(0.1, field->high / 2) : 1;
  std::vector<std::string> values;
  for (int32_t i = 0; i < kFirstCount; ++i) {
    const double factor = std::pow(whole ? 2.0 : std::sqrt(10.0), i - kFirstCount / 2);
    const double value = std::clamp(to_two_digits(middle * factor), field->low, field->high);
    values.push_back(whole ? fmt::format("{:.0f}", std::round(value)) : written(value));
  }
  return list_axis(std::string(key), values, base);
}

std::vector<std::string> axis_keys() {
  std::vector<std::string> keys;
  for (const Field& field : spec_fields())
    if (field.key != "run.seed" && field.key != "run.name" && field.type != FieldType::Text)
      keys.emplace_back(field.key);
  return keys;
}

double Rail::share(double value) const {
  const double at = log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                        : (value - low) / (high - low);
  return std::isfinite(at) ? std::clamp(at, 0.0, 1.0) : 0;
}

double Rail::value(double at) const { return log ? low * std::pow(high / low, at) : low + (high - low) * at; }

Rail rail_of(const Axis& axis) {
  double low = 0, high = 0;
  bool first = true;
  for (const std::string& text : axis.values) {
    const double value = number_of(text);
    low = first ? value : std::min(low, value);
    high = first ? value : std::max(high, value);
    first = false;
  }
  Rail rail;
  if (axis.kind == Axis::Kind::Log && low > 0) {
    rail.log = true;
    rail.low = std::pow(10, std::floor(std::log10(low) - 1e-9));
    rail.high = std::pow(10, std::ceil(std::log10(high) + 1e-9));
    return rail;
  }
  // The rail needs room beyond the last handle, or that handle could not be moved outwards.
  rail.low = low < 0 ? -round_up(-low) : 0;
  rail.high = high > 0 ? round_up(1.1 * high) : 1;
  return rail;
}

std::vector<double> handles_of(const Axis& axis) {
  std::vector<double> handles;
  if (!is_numeric(axis)) return handles;
  if (axis.kind != Axis::Kind::List) return {number_of(axis.from), number_of(axis.to)};
  for (const std::string& value : axis.values) handles.push_back(number_of(value));
  return handles;
}

double snapped(const Axis& axis, double value) {
  const double two = to_two_digits(value);
  if (const Field* field = numeric_field(axis.key))
    return std::clamp(field->type == FieldType::Integer ? std::round(two) : two, field->low, field->high);
  return two;
}

double stepped(const Axis& axis, const Rail& rail, double value, int hundredths) {
  const double step = hundredths > 0 ? 0.01 : -0.01;
  double share = rail.share(value) + 0.01 * hundredths;
  while (share > 0 && share < 1 && snapped(axis, rail.value(share)) == snapped(axis, value)) share += step;
  return rail.value(std::clamp(share, 0.0, 1.0));
}

Axis with_handle(const Axis& axis, size_t handle, double value, const RunSpec& base) {
  const double now = snapped(axis, value);
  std::vector<double> handles = handles_of(axis);
  if (handle >= handles.size()) return axis;
  handles[handle] = now;
  if (axis.kind != Axis::Kind::List) {
    if (handles[0] == handles[1] || (axis.kind == Axis::Kind::Log && now <= 0)) return axis;
    return with_range(axis, handles[0], handles[1], axis.count, base);
  }
  std::vector<std::string> values = axis.values;
  values[handle] = written(now);
  return list_axis(axis.key, values, base);
}

Axis without_handle(const Axis& axis, size_t handle, const RunSpec& base) {
  if (axis.kind != Axis::Kind::List || handle >= axis.values.size() || axis.values.size() < 2) return axis;
  std::vector<std::string> values = axis.values;
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(handle));
  return list_axis(axis.key, values, base);
}

Axis with_value(const Axis& axis, double value, const RunSpec& base) {
  if (axis.kind != Axis::Kind::List || !is_numeric(axis)) return axis;
  const double now = snapped(axis, value);
  const std::vector<double> handles = handles_of(axis);
  if (std::ranges::find(handles, now) != handles.end()) return axis;
  // A new value joins rising or falling values at its place; other values keep the user's own order.
  const bool falls = handles.size() > 1 && handles.front() > handles.back();
  const auto at =
      std::ranges::find_if(handles, [&](double other) { return falls ? other < now : other > now; });
  std::vector<std::string> values = axis.values;
  values.insert(values.begin() + (at - handles.begin()), written(now));
  return list_axis(axis.key, values, base);
}

std::optional<Brush> within(const Brush& brush, const Plan& plan) {
  const Span columns = brush.columns(), rows = brush.rows();
  if (plan.axes.empty() || columns.first >= plan.columns() || rows.first >= plan.rows()) return std::nullopt;
  return Brush{columns.first, rows.first, std::min(columns.last, plan.columns() - 1),
               std::min(rows.last, plan.rows() - 1)};
}

int32_t seeds_in(const Plan& plan, const Brush& brush) {
  int32_t fewest = plan.seeds_of(brush.column0, brush.row0);
  for (size_t row = brush.rows().first; row <= brush.rows().last; ++row)
    for (size_t column = brush.columns().first; column <= brush.columns().last; ++column)
      fewest = std::min(fewest, plan.seeds_of(column, row));
  return fewest;
}

Plan with_seeds(Plan plan, const Brush& brush, int32_t seeds) {
  const int32_t change = seeds - seeds_in(plan, brush);
  const auto own = std::ranges::find_if(plan.more, [&](const MoreSeeds& region) {
    return region.columns == brush.columns() && region.rows == brush.rows();
  });
  if (own == plan.more.end()) {
    if (change > 0) plan.more.push_back({change, brush.columns(), brush.rows()});
    return plan;
  }
  own->count += change;
  if (own->count <= 0) plan.more.erase(own);
  return plan;
}

Plan with_axis(Plan plan, size_t which, Axis axis) {
  const std::string key = axis.key;
  if (which < plan.axes.size())
    replace_axis(plan, which, std::move(axis));
  else
    add_axis(plan, std::move(axis));
  // A setting that becomes an axis stops being an option.
  std::erase_if(plan.set, [&](const std::string& assignment) {
    return std::string_view(assignment).substr(0, assignment.find('=')) == key;
  });
  if (key == "train.steps") plan.steps = 0;
  return plan;
}

Plan without_second_axis(Plan plan) {
  if (plan.axes.size() > 1) plan.axes.pop_back();
  for (MoreSeeds& region : plan.more) region.rows = {0, 0};
  return plan;
}

Plan narrowed(Plan plan, const Brush& brush) {
  const Span spans[] = {brush.columns(), brush.rows()};
  const size_t count = plan.axes.size();
  for (size_t i = 0; i < count; ++i) plan = with_axis(plan, i, cut(plan.axes[i], spans[i]));
  return plan;
}

Plan with_rest(Plan plan, const RunSpec& run) {
  plan.set.clear();
  plan.steps = run.train.steps;
  for (const Edit& edit : edits_between(base_of(Plan{}), run, 0)) {
    const bool own = std::ranges::any_of(plan.axes, [&](const Axis& axis) { return axis.key == edit.key; });
    if (!own && edit.key != "run.seed" && edit.key != "run.name" && edit.key != "train.steps")
      plan.set.push_back(edit.key + "=" + edit.value);
  }
  if (std::ranges::any_of(plan.axes, [](const Axis& axis) { return axis.key == "train.steps"; }))
    plan.steps = 0;
  return plan;
}

}  // namespace normscope::sweep
