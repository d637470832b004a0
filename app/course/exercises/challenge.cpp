#include "app/course/exercises/challenge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

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
    const auto known = std::find_if(ways.begin(), ways.end(), [&](const Try& way) {
      return way_of(challenge, way) == way_of(challenge, one);
    });
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

}  // namespace normscope::course
