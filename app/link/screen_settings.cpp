#include "app/link/screen_settings.h"

#include <fmt/format.h>

#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "training/io/input_value.h"
#include "training/spec/spec_text.h"

namespace normscope::link {

int32_t whole(std::string_view key, std::string_view text, int32_t low, int32_t high) {
  int64_t value = 0;
  if (!parse_integer(text, value) || value < low || value > high)
    fail(kPlace, "{}={}: expected a whole number from {} to {}", key, shown_text(text), low, high);
  return static_cast<int32_t>(value);
}

double real(std::string_view key, std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high))
    fail(kPlace, "{}={}: expected a number from {} to {}", key, shown_text(text), low, high);
  return value;
}

std::string ScreenSettingsReader::name(std::string_view key) const {
  return fmt::format("{}.{}", screen_, key);
}

void ScreenSettingsReader::refuse(std::string_view key, std::string_view value,
                                  const Message& expected) const {
  fail(kPlace, "{}={}: expected {}", name(key), shown_text(value), expected);
}

std::vector<std::string> ScreenSettingsReader::all(std::string_view key) {
  std::vector<std::string> values;
  std::erase_if(rest_, [&](auto& line) {
    const bool mine = line.first == key;
    if (mine) values.push_back(std::move(line.second));
    return mine;
  });
  return values;
}

std::optional<std::string> ScreenSettingsReader::text(std::string_view key) {
  std::vector<std::string> values = all(key);
  if (values.size() > 1) fail(kPlace, "{} stands there twice: expected it once", shown_text(name(key)));
  return values.empty() ? std::nullopt : std::optional(std::move(values.front()));
}

int32_t ScreenSettingsReader::whole(std::string_view key, int32_t low, int32_t high, int32_t usual) {
  const std::optional<std::string> value = text(key);
  return value ? link::whole(name(key), *value, low, high) : usual;
}

double ScreenSettingsReader::real(std::string_view key, double low, double high, double usual) {
  const std::optional<std::string> value = text(key);
  return value ? link::real(name(key), *value, low, high) : usual;
}

void ScreenSettingsReader::done() const {
  if (rest_.empty()) return;
  const auto& [key, value] = rest_.front();
  fail(kPlace, "{} is unknown: expected a setting of that screen", shown_text(name(key) + "=" + value));
}

}  // namespace normscope::link
