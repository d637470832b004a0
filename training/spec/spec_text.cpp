// See spec_text.h.
#include "training/spec/spec_text.h"

#include <charconv>
#include <cmath>
#include <type_traits>

#include "engine/core/real_text.h"
#include "training/io/nearest.h"
#include "training/spec/limits.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

template <typename T>
bool parse_whole(std::string_view text, T& value) {
  text = trimmed(text);
  const char* end = text.data() + text.size();
  T read{};
  std::from_chars_result result;
  if constexpr (std::is_floating_point_v<T>)
    result = read_real(text.data(), end, read);
  else
    result = std::from_chars(text.data(), end, read);
  if (result.ec != std::errc{} || result.ptr != end || text.empty()) return false;
  value = read;
  return true;
}

std::string range_text(const Field& field) { return fmt::format("{} to {}", field.low, field.high); }

// Compares in the precision of the value: 0.99 as a float exceeds 0.99 as a double, and a whole number may
// be one that no double is. NaN fails.
template <typename Value>
void check_range(const Field& field, std::string_view text, Value value) {
  if (!(value >= static_cast<Value>(field.low) && value <= static_cast<Value>(field.high)))
    fail(field.key, "{} is out of range: expected {}", trimmed(text), range_text(field));
}

}  // namespace

bool parse_integer(std::string_view text, int64_t& value) { return parse_whole(text, value); }

bool parse_real(std::string_view text, float& value) {
  float read = 0;
  if (!parse_whole(text, read) || !std::isfinite(read)) return false;
  value = read;
  return true;
}

bool parse_flag(std::string_view text, bool& value) {
  text = trimmed(text);
  const bool yes = text == "true" || text == "on" || text == "yes";
  const bool no = text == "false" || text == "off" || text == "no";
  if (yes || no) value = yes;
  return yes || no;
}

bool parse_steps(std::string_view text, std::vector<int32_t>& steps) {
  std::vector<int32_t> read;
  text = trimmed(text);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    int64_t step = 0;
    if (!parse_integer(text.substr(0, comma), step)) return false;
    if (step < 1 || step > kLastEdit || (!read.empty() && step <= read.back())) return false;
    read.push_back(static_cast<int32_t>(step));
    if (comma == std::string_view::npos) break;
    text = trimmed(text.substr(comma + 1));
    if (text.empty()) return false;
  }
  steps = std::move(read);
  return true;
}

std::string steps_text(const std::vector<int32_t>& steps) { return fmt::format("{}", fmt::join(steps, ",")); }

std::string real_text(float value) { return fmt::format("{}", value); }

void check_value(const Field& field, std::string_view text) {
  const std::string_view shown = trimmed(text);
  switch (field.type) {
    case FieldType::Integer: {
      int64_t value = 0;
      if (!parse_integer(text, value))
        fail(field.key, "'{}' is not a whole number: expected {}", shown, range_text(field));
      check_range(field, text, value);
      return;
    }
    case FieldType::Real: {
      float value = 0;
      if (!parse_real(text, value))
        fail(field.key, "'{}' is not a number: expected {}", shown, range_text(field));
      check_range(field, text, value);
      return;
    }
    case FieldType::Flag: {
      bool value = false;
      if (!parse_flag(text, value)) fail(field.key, "'{}' is neither: expected true or false", shown);
      return;
    }
    case FieldType::Choice: {
      const std::vector<std::string_view> choices = choices_of(field);
      for (std::string_view choice : choices)
        if (choice == shown) return;
      fail(field.key, "'{}' is unknown: {}", shown, expected(shown, choices));
    }
    case FieldType::Text:
      return;
  }
}

std::string critical_cost_text(int32_t every) {
  constexpr double kForwardShare = 1.0 / 3;
  const double percent = 100 * kCriticalPasses * kForwardShare / every;
  return fmt::format("{} forward passes {}: {} % more time", kCriticalPasses,
                     every == 1 ? "every step" : fmt::format("every {} steps", every),
                     percent < 1 ? "less than 1" : fmt::format("about {:.0f}", percent));
}

}  // namespace normscope
