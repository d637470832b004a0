#include "app/link/link_screens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/link/link_text.h"
#include "app/link/percent.h"
#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "training/io/input_value.h"

namespace normscope::link {

namespace {

constexpr std::string_view kLesson = "lesson.";

/// The screen that "sweep.axis" is a setting of, if an add-on brings it.
std::optional<Screen> screen_of(std::string_view key) {
  const std::optional<Screen> screen = screen_named(key.substr(0, key.find('.')));
  return screen && kind_of(*screen) && key.find('.') != key.npos ? screen : std::nullopt;
}

void add(std::vector<std::string>& lines, std::string_view key, std::string_view value) {
  lines.push_back(fmt::format("{}{}={}", kLesson, key, value));
}

void lesson_lines(const LinkedView& view, std::vector<std::string>& lines) {
  const view::Answer& answer = view.answer;
  if (!view.figure.empty()) add(lines, "figure", view.figure);
  if (!answer.order.empty()) add(lines, "order", fmt::format("{}", fmt::join(answer.order, ",")));
  if (answer.value) add(lines, "value", fmt::format("{}", *answer.value));
}

std::string name_in_lesson(std::string_view key, std::string_view text) {
  if (text.empty() || text.size() > kLongestName ||
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
          text.npos)
    fail(kPlace, "{}={}: expected the name of a figure or card in that lesson", key, shown_text(text));
  return std::string(text);
}

[[noreturn]] void other_screen(Screen of) {
  fail(kPlace, "settings of another screen stand there: expected screen={}", name_of(of));
}

// Throws Error for settings that a link may not have.
void check_settings(Screen screen, const ScreenSettings& settings) {
  const ScreenKind* const kind = kind_of(screen);
  if (!kind || !kind->check)
    fail(kPlace, "a link has no settings of the screen {}: expected none", name_of(screen));
  kind->check(settings);
}

// The cards of a prediction, from top to bottom.
std::vector<std::string> cards_in(std::string_view key, std::string_view text) {
  std::vector<std::string> cards;
  while (true) {
    if (cards.size() == kMostCards)
      fail(kPlace, "{} has more than {} parts: expected fewer", key, kMostCards);
    const std::string_view card = text.substr(0, text.find(','));
    cards.push_back(name_in_lesson(key, card));
    if (card.size() == text.size()) return cards;
    text.remove_prefix(card.size() + 1);
  }
}

}  // namespace

double real(std::string_view key, std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high))
    fail(kPlace, "{}={}: expected a number from {} to {}", key, shown_text(text), low, high);
  return value;
}

std::vector<std::string> screen_lines(const LinkedView& view) {
  std::vector<std::string> lines;
  if (!view.settings.empty()) check_settings(view.screen, view.settings);
  for (const auto& [key, value] : view.settings)
    lines.push_back(fmt::format("{}.{}={}", name_of(view.screen), key, value));
  lesson_lines(view, lines);
  return lines;
}

bool ScreenReader::repeated(std::string_view key) { return screen_of(key).has_value(); }

bool ScreenReader::take(std::string_view key, std::string_view value) {
  const std::optional<Screen> screen = screen_of(key);
  if (!screen) return take_lesson(key, value);
  if (set_ && set_ != screen) other_screen(*screen);
  set_ = screen;
  settings_.emplace_back(key.substr(key.find('.') + 1), value);
  return true;
}

bool ScreenReader::take_lesson(std::string_view key, std::string_view value) {
  if (!key.starts_with(kLesson)) return false;
  const std::string_view part = key.substr(kLesson.size());
  if (part == "figure")
    figure_ = name_in_lesson(key, value);
  else if (part == "order")
    answer_.order = cards_in(key, value);
  else if (part == "value")
    answer_.value = real(key, value, -1e12, 1e12);
  else
    return false;
  return true;
}

void ScreenReader::finish(LinkedView& view) const {
  if (set_ && *set_ != view.screen) other_screen(*set_);
  if (view.lesson.empty() && (!figure_.empty() || !answer_.empty()))
    fail(kPlace, "a figure or a prediction stands there, and no lesson: expected screen=lessons:NAME:STEP");
  view.figure = figure_;
  view.answer = answer_;
  if (set_) check_settings(*set_, settings_);
  view.settings = settings_;
}

}  // namespace normscope::link
