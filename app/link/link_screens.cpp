#include "app/link/link_screens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "app/link/link_text.h"
#include "app/link/percent.h"
#include "app/panels/metrics.h"
#include "app/sweep/cells.h"
#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "training/io/input_value.h"
#include "training/spec/limits.h"

namespace normscope::link {

namespace {

constexpr std::string_view kSweep = "sweep.", kCompare = "compare.", kLesson = "lesson.";

/// Refuses a part of a sweep, KEY=..., that decides which file is read.
void require_no_file(std::string_view part) {
  const std::string_view key = current_key(part.substr(0, part.find('=')));
  if (names_file(key)) fail(kPlace, "the sweep sets {}: expected one that names no file", key);
}

void require_few_runs(const sweep::Plan& plan) {
  if (plan.runs() > kMostLinkedRuns)
    fail(kPlace, "the sweep has {} runs: expected at most {} in a link", plan.runs(), kMostLinkedRuns);
}

void add(std::vector<std::string>& lines, std::string_view screen, std::string_view key,
         std::string_view value) {
  lines.push_back(fmt::format("{}{}={}", screen, key, value));
}

void sweep_lines(const sweep::KeptSweep& kept, std::vector<std::string>& lines) {
  require_few_runs(kept.plan);
  const sweep::PlanText text = sweep::text_of(kept.plan);
  for (const std::vector<std::string>* parts : {&text.set, &text.axes})
    for (const std::string& part : *parts) require_no_file(part);
  if (text.set.size() + text.axes.size() > kMostParts)
    fail(kPlace, "the sweep has more than {} parts: expected fewer", kMostParts);
  for (const std::string& set : text.set) add(lines, kSweep, "set", set);
  for (const std::string& axis : text.axes) add(lines, kSweep, "axis", axis);
  if (text.steps > 0) add(lines, kSweep, "steps", std::to_string(text.steps));
  if (text.seeds > 1) add(lines, kSweep, "seeds", std::to_string(text.seeds));
  if (kept.metric != sweep::KeptSweep{}.metric) add(lines, kSweep, "metric", sweep::info(kept.metric).name);
}

void compare_lines(const compare_screen::KeptChoice& kept, std::vector<std::string>& lines) {
  const compare_screen::KeptChoice usual;
  if (kept.baseline >= 'A' && kept.baseline <= 'D')  // the others are files, which no link carries
    add(lines, kCompare, "baseline", std::string(1, kept.baseline));
  if (kept.align != usual.align) add(lines, kCompare, "align", std::to_string(kept.align));
  if (kept.matrix != usual.matrix) add(lines, kCompare, "matrix", std::to_string(kept.matrix));
  if (kept.metric != usual.metric) add(lines, kCompare, "metric", panels::info(kept.metric).id);
  if (kept.factor != usual.factor) add(lines, kCompare, "factor", fmt::format("{}", kept.factor));
}

void lesson_lines(const LinkedView& view, std::vector<std::string>& lines) {
  const view::Answer& answer = view.answer;
  if (!view.figure.empty()) add(lines, kLesson, "figure", view.figure);
  if (!answer.order.empty()) add(lines, kLesson, "order", fmt::format("{}", fmt::join(answer.order, ",")));
  if (answer.value) add(lines, kLesson, "value", fmt::format("{}", *answer.value));
}

double real(std::string_view key, std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high))
    fail(kPlace, "{}={}: expected a number from {} to {}", key, shown_text(text), low, high);
  return value;
}

panels::Metric quantity_of(std::string_view key, std::string_view text) {
  for (const panels::MetricInfo& one : panels::metrics())
    if (one.id == text) return one.metric;
  fail(kPlace, "{}={}: expected a quantity of the Compare screen", key, shown_text(text));
}

std::string name_in_lesson(std::string_view key, std::string_view text) {
  if (text.empty() || text.size() > kLongestName ||
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
          text.npos)
    fail(kPlace, "{}={}: expected the name of a figure or card in that lesson", key, shown_text(text));
  return std::string(text);
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

std::vector<std::string> screen_lines(const LinkedView& view) {
  std::vector<std::string> lines;
  if (view.sweep) sweep_lines(*view.sweep, lines);
  if (view.compare) compare_lines(*view.compare, lines);
  lesson_lines(view, lines);
  return lines;
}

bool ScreenReader::repeated(std::string_view key) {
  if (!key.starts_with(kSweep)) return false;
  const std::string_view part = key.substr(kSweep.size());
  return part == "set" || part == "axis";
}

bool ScreenReader::take(std::string_view key, std::string_view value) {
  return take_sweep(key, value) || take_compare(key, value) || take_lesson(key, value);
}

bool ScreenReader::take_sweep(std::string_view key, std::string_view value) {
  if (!key.starts_with(kSweep)) return false;
  sweep::PlanText& plan = plan_ ? *plan_ : plan_.emplace();
  const std::string_view part = key.substr(kSweep.size());
  if (part == "set" || part == "axis") require_no_file(value);
  if (repeated(key) && plan.set.size() + plan.axes.size() >= kMostParts)
    fail(kPlace, "the sweep has more than {} parts: expected fewer", kMostParts);
  if (part == "set")
    plan.set.emplace_back(value);
  else if (part == "axis")
    plan.axes.emplace_back(value);
  else if (part == "steps")
    plan.steps = whole(key, value, 0, kMostSteps);
  else if (part == "seeds")
    plan.seeds = whole(key, value, 1, 1000);
  else if (part == "metric")
    metric_ = sweep::metric_from(value);
  else
    return false;
  return true;
}

bool ScreenReader::take_compare(std::string_view key, std::string_view value) {
  if (!key.starts_with(kCompare)) return false;
  compare_screen::KeptChoice& choice = compare_ ? *compare_ : compare_.emplace();
  const std::string_view part = key.substr(kCompare.size());
  if (part == "baseline" && value.size() == 1 && value[0] >= 'A' && value[0] <= 'D')
    choice.baseline = value[0];
  else if (part == "align")
    choice.align = whole(key, value, 0, 2);
  else if (part == "matrix")
    choice.matrix = whole(key, value, 0, 5);
  else if (part == "metric")
    choice.metric = quantity_of(key, value);
  else if (part == "factor")
    choice.factor = real(key, value, 1.01, 1e6);
  else
    return false;
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
  if (plan_ && view.screen != Screen::Sweep)
    fail(kPlace, "a sweep stands there, and the screen is another: expected screen=sweep");
  if (compare_ && view.screen != Screen::Compare)
    fail(kPlace, "a comparison stands there, and the screen is another: expected screen=compare");
  if (view.lesson.empty() && (!figure_.empty() || !answer_.empty()))
    fail(kPlace, "a figure or a prediction stands there, and no lesson: expected screen=lessons:NAME:STEP");
  view.compare = compare_;
  view.figure = figure_;
  view.answer = answer_;
  if (!plan_) return;
  if (plan_->axes.empty() || plan_->axes.size() > 2)
    fail(kPlace, "the sweep has {} axes: expected one or two, as sweep.axis=KEY=VALUES", plan_->axes.size());
  sweep::KeptSweep kept{sweep::plan_from(*plan_), metric_.value_or(sweep::KeptSweep{}.metric)};
  require_few_runs(kept.plan);
  sweep::jobs_of(kept.plan);  // throws where the axes do not fit together
  view.sweep = std::move(kept);
}

}  // namespace normscope::link
