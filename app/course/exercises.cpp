#include "app/course/exercises.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/course/lesson.h"
#include "app/ui/numbers.h"

namespace normscope::course {
namespace {

/// What the first choice was set to; empty: as it is at the start.
std::string way_of(const Challenge& challenge, const Try& one) {
  for (const auto& [field, value] : settings_of(one.set))
    if (field == challenge.choices.front().field) return value;
  return "";
}

int cost_of(const Challenge& challenge, int hints) {
  int cost = 0;
  for (int i = 0; i < std::min(hints, static_cast<int>(challenge.hints.size())); ++i)
    cost += challenge.hints[static_cast<size_t>(i)].costs;
  return cost;
}

}  // namespace

std::string to_text(const Settings& settings) {
  std::string out;
  for (const auto& [field, value] : settings)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", field, value);
  return out;
}

Settings settings_of(const std::string& set) {
  Settings settings;
  std::istringstream words(set);
  for (std::string word; words >> word;)
    if (const size_t sign = word.find('='); sign != std::string::npos)
      settings.emplace_back(word.substr(0, sign), word.substr(sign + 1));
  return settings;
}

bool below_line(const Challenge& challenge, double loss) {
  return std::isfinite(loss) && loss < challenge.line;
}

std::vector<Try> ways_found(const Challenge& challenge, const std::vector<Try>& tries) {
  std::vector<Try> ways;
  for (const Try& one : tries) {
    if (!below_line(challenge, one.loss)) continue;
    const auto known = std::ranges::find_if(
        ways, [&](const Try& way) { return way_of(challenge, way) == way_of(challenge, one); });
    if (known == ways.end())
      ways.push_back(one);
    else if (one.loss < known->loss)
      *known = one;
  }
  return ways;
}

int score_of(const Challenge& challenge, const std::vector<Try>& tries, int hints) {
  const auto ways = static_cast<int>(ways_found(challenge, tries).size());
  const int lost = challenge.per_run * static_cast<int>(tries.size()) + cost_of(challenge, hints);
  return std::max(0, challenge.points * ways - lost);
}

std::string score_rule(const Challenge& challenge, const Words& words) {
  return words.tr(
             "Each way that ends below {line} is worth {points} points; each choice in the first row "
             "is a way.",
             {{"line", ui::significant(challenge.line, 4)}, {"points", challenge.points}}) +
         " " +
         words.tr("Each training costs {cost}, each hint its own price; the sum is never below 0.",
                  {{"cost", challenge.per_run}});
}

std::string score_text(const Challenge& challenge, const std::vector<Try>& tries, int hints,
                       const Words& words) {
  const size_t ways = ways_found(challenge, tries).size();
  const std::string won = words.tr("1 way | {count} ways", {{"count", ways}});
  const std::string lost = words.tr("1 training | {count} trainings", {{"count", tries.size()}});
  return words.tr("{won} × {points} − {lost} × {cost} − {hints} for hints = {score} points",
                  {{"won", won},
                   {"points", challenge.points},
                   {"lost", lost},
                   {"cost", challenge.per_run},
                   {"hints", cost_of(challenge, hints)},
                   {"score", score_of(challenge, tries, hints)}});
}

bool has_one_gap(const Say& say) {
  const size_t gap = say.text.find(kGap);
  return gap != std::string::npos && say.text.find(kGap, gap + 1) == std::string::npos;
}

std::vector<std::string> offered(const Say& say) {
  std::vector<std::string> words{say.word};
  for (const Say::Wrong& other : say.others) words.push_back(other.word);
  std::ranges::sort(words);
  return words;
}

std::string filled(const Say& say, std::string_view word) {
  std::string text = say.text;
  const size_t at = text.find(kGap);
  return at == std::string::npos ? text : text.replace(at, kGap.size(), word);
}

std::string why_not(const Say& say, std::string_view word) {
  for (const Say::Wrong& other : say.others)
    if (other.word == word) return other.why;
  return "";
}

std::string kept_word(const Say& say, std::string_view word) {
  for (const Say::Wrong& other : say.others)
    if (other.word == word) return other.kept;
  return say.kept;
}

std::string shown_word(const Say& say, std::string_view kept) {
  if (kept.empty()) return "";
  if (kept == say.kept) return say.word;
  for (const Say::Wrong& other : say.others)
    if (kept == other.kept) return other.word;
  return "";
}

size_t said_right(const std::vector<Say>& says, const std::vector<std::string>& answers) {
  size_t right = 0;
  for (size_t i = 0; i < std::min(says.size(), answers.size()); ++i)
    right += shown_word(says[i], answers[i]) == says[i].word;
  return right;
}

std::string fault_of_order(const std::string& first, const std::string& second) {
  return first + " before " + second;
}

bool has_either_sign(const Prediction& prediction) {
  return prediction.kind == Prediction::Kind::Value && prediction.low < 0 && prediction.high > 0;
}

std::vector<std::string> possible_faults(const Prediction& prediction) {
  std::vector<std::string> faults;
  if (prediction.kind != Prediction::Kind::Order) {
    faults = {kTooLow, kTooHigh, kFarTooLow, kFarTooHigh};
    if (has_either_sign(prediction)) faults.emplace_back(kOtherSign);
    if (prediction.kind == Prediction::Kind::Draw) faults.emplace_back(kOtherDirection);
    return faults;
  }
  for (const Prediction::Card& first : prediction.cards)
    for (const Prediction::Card& second : prediction.cards)
      if (first.id != second.id) faults.push_back(fault_of_order(first.id, second.id));
  return faults;
}

std::string thought_behind(const Lesson& lesson, const std::vector<std::string>& faults) {
  for (const Thought& thought : lesson.thoughts)
    if (std::ranges::find(faults, thought.when) != faults.end()) return thought.text;
  return "";
}

}  // namespace normscope::course
