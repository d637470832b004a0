#include "app/course/reading/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/course/check.h"
#include "app/course/language.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/input_kinds.h"
#include "training/io/text.h"

namespace normscope::course {
namespace {

constexpr std::string_view kOwn = "as in the lesson", kBold = "**";

/// Takes "| a | b |" apart into a and b.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  for (size_t from = 1; from < row.size();) {
    const size_t to = std::min(row.find('|', from), row.size());
    if (to < row.size()) cells.emplace_back(trimmed(row.substr(from, to - from)));
    from = to + 1;
  }
  return cells;
}

const Check& check_of(const Lesson& lesson, const std::string& measure) {
  return *std::find_if(lesson.checks.begin(), lesson.checks.end(),
                       [&](const Check& c) { return c.measure == measure; });
}

/// Names a measure as the head of the table does.
std::string head_of(const Lesson& lesson, const std::string& measure) {
  return fmt::format("{} ({})", lesson.measure(measure)->label, band_text(check_of(lesson, measure)));
}

/// Compares the bands alone, because a translation has other labels.
bool same_head(const Lesson& lesson, const std::string& measure, const std::string& head) {
  if (lesson.language.empty()) return head == head_of(lesson, measure);
  return head.ends_with(fmt::format("({})", band_text(check_of(lesson, measure))));
}

}  // namespace

std::string claim_in_words(const Lesson& lesson, std::string text) {
  const auto put = [&](std::string_view english, const std::string& word) {
    if (const size_t at = text.find(english); at != text.npos) text.replace(at, english.size(), word);
  };
  put(" to ", lesson.words->tr(" to "));
  put("at least ", lesson.words->tr("at least "));
  put("at most ", lesson.words->tr("at most "));
  return words::with_decimal(std::move(text), *lesson.words);
}

namespace {

/// Brackets the last two of "−1.1 nats, −1.4 nats to −0.95 nats, 0 of 5 hold", if there are any.
std::string measured_words(const Lesson& lesson, const std::string& cell) {
  const size_t first = cell.find(", "), last = cell.rfind(", "), of = cell.find(" of ", last);
  if (first == cell.npos || of == cell.npos) return claim_in_words(lesson, cell);
  const std::string range = last > first ? cell.substr(first + 2, last - first - 2) + "; " : "";
  const size_t seeds = of + 4;
  return fmt::format("{} ({}{})", claim_in_words(lesson, cell.substr(0, first)),
                     claim_in_words(lesson, range),
                     lesson.words->tr("{hold} of {all} seeds hold",
                                      {{"hold", cell.substr(last + 2, of - last - 2)},
                                       {"all", cell.substr(seeds, cell.find(' ', seeds) - seeds)}}));
}

Reach::Cell cell_of(const std::string& text) {
  const bool bold = text.size() > 4 && text.starts_with(kBold) && text.ends_with(kBold);
  return {bold ? text.substr(2, text.size() - 4) : text, !bold};
}

}  // namespace

bool Reach::holds() const {
  return std::all_of(cells.begin(), cells.end(), [](const Cell& c) { return c.holds; });
}

std::vector<Reach> parse_reach(const Lesson& lesson, const std::string& table, const std::string& file) {
  std::vector<Reach> all;
  std::istringstream lines(table);
  int number = 0;
  bool headed = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.starts_with("| ")) continue;  // title, empty lines, the rule below the head
    const std::vector<std::string> cells = cells_of(line);
    bool fits = cells.size() == lesson.effect.size() + 1;
    for (size_t i = 0; fits && !headed && i < lesson.effect.size(); ++i)
      fits = same_head(lesson, lesson.effect[i], cells[i + 1]);
    if (!fits)
      throw Error("{}:{}: is not of this lesson's effect: expected a column for each of its measures", file,
                  number);
    if (!std::exchange(headed, true) || cells[0] == kOwn) continue;
    Reach reach{cells[0], {}};
    for (size_t i = 1; i < cells.size(); ++i) reach.cells.push_back(cell_of(cells[i]));
    all.push_back(std::move(reach));
  }
  return all;
}

std::vector<Reach> load_reach(const Lesson& lesson) {
  const std::string file = (std::filesystem::path(lesson.folder) / "limits.md").string();
  const auto table = read_input_file_if_there(file, input::kPage);
  return table ? parse_reach(lesson, *table, file) : std::vector<Reach>{};
}

std::vector<std::string> reach_words(const Lesson& lesson, const std::vector<Reach>& all) {
  std::vector<std::string> sentences;
  std::string held;
  for (const Reach& reach : all)
    if (reach.holds())
      held += (held.empty() ? "" : ", ") + called(*lesson.words, "elsewhere", reach.setting, reach.setting);
  if (!held.empty()) sentences.push_back(lesson.words->tr("It also holds with: ") + held + ".");
  for (const Reach& reach : all) {
    std::string wrong;
    for (size_t i = 0; i < reach.cells.size(); ++i)
      if (!reach.cells[i].holds)
        wrong += (wrong.empty() ? "" : "; ") +
                 lesson.words->tr(
                     "{measure}: needed {needed}, measured {measured}",
                     {{"measure", lesson.measure(lesson.effect[i])->label},
                      {"needed", claim_in_words(lesson, band_text(check_of(lesson, lesson.effect[i])))},
                      {"measured", measured_words(lesson, reach.cells[i].text)}});
    if (!wrong.empty())
      sentences.push_back(fmt::format("{}{}: {}.", lesson.words->tr("It does not hold with "),
                                      called(*lesson.words, "elsewhere", reach.setting, reach.setting),
                                      wrong));
  }
  return sentences;
}

}  // namespace normscope::course
