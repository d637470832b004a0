#include "app/grid/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "app/words/words.h"
#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "training/io/input_value.h"
#include "training/io/text.h"

namespace normscope::grid {
namespace {

constexpr const char* kWhere = "--axis";
constexpr const char* kAxisForms = "KEY=1,2,3, KEY=1:3:lin3 or KEY=1e-4:1e-2:log7";

/// Writes a value as the field does, so that two ways to write one value are one value. Throws Error for a text that
/// is no value of the field.
std::string canonical(const std::string& key, std::string_view value, const RunSpec& base) {
  RunSpec spec = base;
  set_field(spec, key, value);
  // A choice has only one spelling, and must keep it, because two placements of one layer may be one wiring. A key with
  // a star has no single value that could be read back.
  const Field* field = find_field(key);
  return field && field->type != FieldType::Choice ? get_field(spec, key) : std::string(value);
}

void add(Axis& axis, std::string value) {
  if (std::ranges::find(axis.values, value) != axis.values.end()) return;
  if (axis.values.size() == static_cast<size_t>(kMaxValues))
    fail(kWhere, "{} has more than {} values: expected fewer", axis.key, kMaxValues);
  axis.values.push_back(std::move(value));
}

bool is_number(const Field* field) {
  return field && (field->type == FieldType::Integer || field->type == FieldType::Real);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Reads the kind and the count of "log7"; nothing for other text.
std::optional<std::pair<Axis::Kind, int32_t>> spacing_from(std::string_view text) {
  const bool log = text.starts_with("log");
  if (!log && !text.starts_with("lin")) return std::nullopt;
  int32_t count = 0;
  const std::string_view digits = text.substr(3);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return std::pair(log ? Axis::Kind::Log : Axis::Kind::Linear, count);
}

/// Value i of a range, from one end to the other, as text.
std::string between(const Axis& axis, double from, double to, int32_t i, bool whole) {
  const double share = static_cast<double>(i) / (axis.count - 1);
  double value = from + (to - from) * share;
  if (axis.kind == Axis::Kind::Log)
    value =
        *number(fmt::format("{:.1e}", std::exp(std::log(from) + (std::log(to) - std::log(from)) * share)));
  return whole ? fmt::format("{:.0f}", std::round(value)) : fmt::format("{:.6g}", value);
}

void fill_range(Axis& axis, const std::vector<std::string_view>& parts, const RunSpec& base) {
  const auto spacing = spacing_from(parts[2]);
  if (!spacing)
    fail(kWhere, "{} is no spacing of {}: expected linN or logN, as {}=1e-4:1e-2:log7", shown_text(parts[2]),
         axis.key, axis.key);
  std::tie(axis.kind, axis.count) = *spacing;
  if (axis.count < 2 || axis.count > kMaxValues)
    fail(kWhere, "{} of {}: expected 2 to {} values", parts[2], axis.key, kMaxValues);
  axis.from = canonical(axis.key, parts[0], base);
  axis.to = canonical(axis.key, parts[1], base);
  const double from = *number(axis.from), to = *number(axis.to);
  if (from == to) fail(kWhere, "{} goes from {} to itself: expected two ends", axis.key, axis.from);
  if (axis.kind == Axis::Kind::Log && !(from > 0 && to > 0))
    fail(kWhere, "{} from {} to {} has no logarithm: expected both ends above zero, or lin{}", axis.key,
         axis.from, axis.to, axis.count);
  const bool whole = find_field(axis.key)->type == FieldType::Integer;
  add(axis, axis.from);
  for (int32_t i = 1; i + 1 < axis.count; ++i)
    add(axis, canonical(axis.key, between(axis, from, to, i, whole), base));
  add(axis, axis.to);
}

void fill_list(Axis& axis, std::string_view text, const RunSpec& base) {
  const bool semicolons = text.find(';') != text.npos;
  std::vector<std::string_view> parts = split(text, semicolons ? ';' : ',');
  if (semicolons && parts.back().empty()) parts.pop_back();  // "100,200;" is one value
  for (const std::string_view part : parts) {
    if (part.empty())
      fail(kWhere, "{}={} has an empty value: expected {}", axis.key, shown_text(text), kAxisForms);
    add(axis, canonical(axis.key, part, base));
  }
}

void refuse_key(std::string_view key) {
  if (key == "run.seed") fail(kWhere, "run.seed is no axis: expected --seeds N, the seeds of every cell");
  if (key == "run.name") fail(kWhere, "run.name changes nothing that is trained: expected another setting");
}

}  // namespace

std::string Axis::label() const {
  const Field* field = find_field(key);
  return field ? words::spoken(field->label) : key;
}

std::string Axis::title() const {
  const Field* field = find_field(key);
  return field && !field->unit.empty() ? fmt::format("{}, {}", label(), words::spoken(field->unit)) : label();
}

std::string Axis::said(size_t place) const {
  const Field* field = find_field(key);
  return field && field->type == FieldType::Real ? words::with_decimal(values[place]) : values[place];
}

Axis axis_from(std::string_view text, const RunSpec& base) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) fail(kWhere, "{}: expected {}", shown_text(text), kAxisForms);
  Axis axis{.key = std::string(text.substr(0, equals))};
  refuse_key(axis.key);
  const std::string_view values = text.substr(equals + 1);
  const Field* field = find_field(axis.key);
  if (!field && !axis.key.starts_with("wiring.")) is_live(axis.key);  // its Error names the nearest key
  const std::vector<std::string_view> parts = split(values, ':');
  if (field && !field->choices.empty() && values == "all")
    for (const std::string_view choice : choices_of(*field)) {
      if (choice != "custom") add(axis, std::string(choice));  // "custom" stands for whatever is set already
    }
  else if (is_number(field) && parts.size() == 3)
    fill_range(axis, parts, base);
  else if (is_number(field) && parts.size() > 1)
    fail(kWhere, "{}={}: expected {}", axis.key, shown_text(values), kAxisForms);
  else
    fill_list(axis, values, base);
  return axis;
}

std::string to_text(const Axis& axis) {
  if (axis.kind != Axis::Kind::List)
    return fmt::format("{}={}:{}:{}{}", axis.key, axis.from, axis.to,
                       axis.kind == Axis::Kind::Log ? "log" : "lin", axis.count);
  bool commas = false;
  for (const std::string& value : axis.values) commas = commas || value.find(',') != value.npos;
  std::string text = axis.key + "=";
  for (size_t i = 0; i < axis.values.size(); ++i) text += (i == 0 ? "" : commas ? ";" : ",") + axis.values[i];
  return commas && axis.values.size() == 1 ? text + ";" : text;
}

size_t place_of(const Axis& axis, std::string_view value, const RunSpec& base) {
  const auto found = std::ranges::find(axis.values, canonical(axis.key, value, base));
  if (found == axis.values.end())
    fail(kWhere, "{} is no value of {}: expected one of {}", shown_text(value), axis.key,
         fmt::join(axis.values, ", "));
  return static_cast<size_t>(found - axis.values.begin());
}

size_t order_of(std::string_view key) {
  const Field* field = find_field(key);
  return field ? static_cast<size_t>(field - spec_fields().data()) : spec_fields().size();
}

namespace {

bool parts(Side one, Side other) { return one != Side::None && other != Side::None && one != other; }

/// Extends the last piece where the new one continues it in the same direction.
void lengthen(std::vector<Segment>& segments, const Segment& piece) {
  if (!segments.empty()) {
    Segment& last = segments.back();
    const bool goes_on = last.x1 == piece.x0 && last.y1 == piece.y0;
    const bool straight = (last.x0 == last.x1) == (piece.x0 == piece.x1);
    if (goes_on && straight) {
      last.x1 = piece.x1;
      last.y1 = piece.y1;
      return;
    }
  }
  segments.push_back(piece);
}

}  // namespace

Side side_of(int32_t learn, int32_t known) {
  if (known == 0) return Side::None;
  return 2 * learn >= known ? Side::Learns : Side::Other;
}

std::vector<Segment> border_of(size_t columns, size_t rows, const std::function<Side(size_t, size_t)>& side) {
  const auto at = [&](int32_t column, int32_t row) {
    return side(static_cast<size_t>(column), static_cast<size_t>(row));
  };
  const auto width = static_cast<int32_t>(columns), height = static_cast<int32_t>(rows);
  std::vector<Segment> segments;
  for (int32_t x = 1; x < width; ++x)
    for (int32_t y = 0; y < height; ++y)
      if (parts(at(x - 1, y), at(x, y))) lengthen(segments, {x, y, x, y + 1});
  for (int32_t y = 1; y < height; ++y)
    for (int32_t x = 0; x < width; ++x)
      if (parts(at(x, y - 1), at(x, y))) lengthen(segments, {x, y, x + 1, y});
  return segments;
}

double share_learned(double loss, double level, double best) {
  if (!std::isfinite(loss) || !std::isfinite(level) || !std::isfinite(best))
    return std::numeric_limits<double>::quiet_NaN();
  return level > best ? (level - loss) / (level - best) : 0;  // no cell has learned anything
}

}  // namespace normscope::grid
