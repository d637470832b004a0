#include "addons/sweep/app/screen/edit.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/core/real_text.h"

namespace normscope::sweep {
namespace {

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

bool is_whole(const Axis& axis) {
  const Field* field = find_field(axis.key);
  return field && field->type == FieldType::Integer;
}

double to_two_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  return number_of(fmt::format("{:.1e}", value));
}

/// The next of 1, 2, 5 and their multiples by powers of ten that is no smaller.
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

/// Where a span stands on another axis, from its first value that is still there to its last.
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
    return std::clamp(is_whole(axis) ? std::round(two) : two, field->low, field->high);
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
