// Checks everything, because all of a link came from outside. See link.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/link/link.h"
#include "app/link/link_screens.h"
#include "app/link/link_text.h"
#include "app/link/percent.h"
#include "engine/core/error.h"
#include "training/data/text_source.h"
#include "training/files/command_text.h"
#include "training/io/input_value.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope::link {

int32_t whole(std::string_view key, std::string_view text, int32_t low, int32_t high) {
  int64_t value = 0;
  if (!parse_integer(text, value) || value < low || value > high)
    fail(kPlace, "{}={}: expected a whole number from {} to {}", key, shown_text(text), low, high);
  return static_cast<int32_t>(value);
}

namespace {

// Protects the windows that draw names of runs and the logs that hold them.
void require_text(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    const CodePoint read = read_code_point(line, at);
    if (read.bytes == 0 || read.value < 0x20 || read.value == 0x7f)
      fail(kPlace, "{}: expected UTF-8 without control characters", shown_text(line));
    at += static_cast<size_t>(read.bytes);
  }
}

struct Reader {
  LinkedView view;
  ScreenReader screens;
  CommandArguments arguments;
  std::set<std::string, std::less<>> seen;
  bool ended = false;

  void take(std::string_view line) {
    require_text(line);
    if (ended) fail(kPlace, "{} stands behind the end of the link: expected nothing", shown_text(line));
    ended = line == kEnd;
    if (ended) return;
    const std::string_view key = line.substr(0, line.find('='));
    const std::string_view value = line.substr(std::min(line.size(), key.size() + 1));
    if (take_argument(key, value)) return;
    if (key == "needs") return take_need(value);
    if (!ScreenReader::repeated(key) && !seen.emplace(key).second)
      fail(kPlace, "{} stands there twice: expected it once", shown_text(key));
    if (key == "step")
      view.step = whole(key, value, 0, kMostSteps);
    else if (key == "cursor")
      view.cursor = whole(key, value, 0, kMostSteps);
    else if (key == "instant" && value == "on")
      view.instant = true;
    else if (key == "screen")
      take_screen(value);
    else if (key == "theme" && (value == "light" || value == "dark"))
      view.dark = value == "dark";
    else if (key == "shown" && value.size() == 1)
      view.shown = value[0];
    else if (key == "marks")
      take_bookmarks(value);
    else if (!screens.take(key, value))
      fail(
          kPlace,
          "{} is unknown: expected run, set, edit, needs, step, instant, cursor, screen, lesson, theme, shown or marks",
          shown_text(line));
  }

  // Refuses a star or a repeated setting, because a short link could then ask for much work.
  bool take_argument(std::string_view key, std::string_view value) {
    if (key != "run" && key != "set" && key != "edit") return false;
    const std::string what = fmt::format("{}={}", key, value.substr(0, value.find('=')));
    if (what.find('*') != what.npos) fail(kPlace, "{}: expected one place, not a star", shown_text(what));
    if (key != "edit" && !seen.insert(what).second)
      fail(kPlace, "{} stands there twice: expected it once", shown_text(what));
    (key == "run" ? arguments.runs : key == "set" ? arguments.sets : arguments.edits).emplace_back(value);
    return true;
  }

  void take_need(std::string_view value) {
    const size_t colon = value.find(':');
    const std::string_view key = value.substr(0, colon);
    const std::string name(colon == value.npos ? "" : value.substr(colon + 1));
    if (!names_file(key) || name.empty() || name.size() > kLongestName || name.find('/') != name.npos)
      fail(kPlace, "needs={}: expected a field of a file and its name, as data.text:book.txt",
           shown_text(value));
    view.needs.emplace_back(key, name);
  }

  void take_screen(std::string_view value) {
    const std::string_view name = value.substr(0, value.find(':'));
    const std::optional<Screen> screen = screen_named(name);
    view.lesson = value.substr(std::min(value.size(), name.size() + 1));
    const bool plain =
        view.lesson.size() <= kLongestName &&
        view.lesson.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-:") == view.lesson.npos;
    if (!screen || !plain || (!view.lesson.empty() && *screen != Screen::Lessons))
      fail(kPlace, "screen={}: expected {} or lessons:NAME:STEP", shown_text(value),
           fmt::join(kScreenNames, ", "));
    view.screen = *screen;
  }

  void take_bookmarks(std::string_view value) {
    while (true) {
      const std::string_view step = value.substr(0, value.find(','));
      view.bookmarks.push_back(whole("marks", step, 0, kMostSteps));
      if (view.bookmarks.size() > kMostBookmarks)
        fail(kPlace, "marks: more than {} bookmarks: expected fewer", kMostBookmarks);
      if (step.size() == value.size()) break;
      value.remove_prefix(step.size() + 1);
    }
    std::ranges::sort(view.bookmarks);
    view.bookmarks.erase(std::unique(view.bookmarks.begin(), view.bookmarks.end()), view.bookmarks.end());
  }
};

// Refuses what LabTrainer would refuse later: the run as it begins and after the edits of each step.
void check_run(const ConfigRun& run, const LinkedView& view) {
  for (const Field* file : file_fields())
    if (!file->get(run.spec).empty())
      fail(file->key, "a link names no file: expected needs={}:NAME", file->key);
  RunSpec trial = run.spec;
  for (const auto& [key, name] : view.needs) set_field(trial, key, name);  // it will have them
  if (!view.needs.empty()) set_field(trial, "data.name", run.spec.data.name);
  validate(trial);
  std::vector<Edit> edits = run.edits;
  std::ranges::stable_sort(edits, {}, &Edit::step);
  for (size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    if (names_file(edit.key)) fail(edit.key, "a link names no file: expected needs={}:NAME", edit.key);
    set_field(trial, edit.key, edit.value);
    if (i + 1 == edits.size() || edits[i + 1].step != edit.step) validate(trial);  // made together
  }
}

void check(const LinkedView& view) {
  for (const ConfigRun& run : view.runs) check_run(run, view);
  const int32_t budget = view.runs.front().spec.train.steps;
  if (view.step > budget)
    fail(kPlace, "step={} lies behind the budget: expected at most {}", view.step, budget);
  if (view.cursor.value_or(0) > view.step)
    fail(kPlace, "cursor={} lies behind the newest step: expected at most {}", *view.cursor, view.step);
  const bool known =
      std::ranges::any_of(view.runs, [&](const ConfigRun& run) { return run.letter == view.shown; });
  if (!known) fail(kPlace, "shown={}: there is no such run", shown_text(std::string(1, view.shown)));
}

// Cuts off what stands before the fragment of an address, and blanks around it.
std::string_view fragment_of(std::string_view text) {
  if (text.size() > kLongestRead)
    fail(kPlace, "a link of {} characters: expected at most {}", text.size(), kLongestRead);
  if (const size_t hash = text.find('#'); hash != text.npos) text.remove_prefix(hash + 1);
  return trimmed(text);
}

}  // namespace

LinkedView read_link(std::string_view text) {
  const std::string_view fragment = fragment_of(text);
  const bool versioned = fragment.size() > 1 && fragment[1] == kMark;
  if (versioned && fragment[0] != kVersion)
    fail(kPlace, "the link is of version {}: expected {}, or a normscope as new as the link",
         shown_text(fragment.substr(0, 1)), kVersion);
  if (!versioned)
    fail(kPlace, "{} is no link of normscope: expected one that begins with {}{}", shown_text(fragment),
         kVersion, kMark);
  Reader reader;
  for (std::string_view rest = fragment.substr(2); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find(kMark));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    reader.take(percent_decoded(line));
  }
  if (!reader.ended)
    fail(kPlace, "the end of the link is missing: expected the whole link, as it was copied");
  LinkedView view = std::move(reader.view);
  reader.screens.finish(view);
  view.runs = runs_by(reader.arguments);
  for (ConfigRun& run : view.runs) run.spec.data.context = run.spec.model.sequence;
  check(view);
  return view;
}

}  // namespace normscope::link
