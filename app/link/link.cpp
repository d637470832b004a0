#include "app/link/link.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>

#include "app/words/words.h"
#include "engine/core/real_text.h"
#include "engine/core/utf8.h"
#include "training/files/command_text.h"
#include "training/io/input_value.h"
#include "training/io/text.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope::link {
namespace {

// The version stands first, and the mark before every line.
constexpr char kVersion = '1', kMark = '&';
// The last line: without it the link was cut off.
constexpr std::string_view kEnd = "end";
constexpr size_t kMaxBookmarks = 1000, kLongestName = 255;
constexpr size_t kMaxCards = 512;  // of a prediction

// ---- percent-encoding of the lines, as in the fragment of an address (RFC 3986)

// Signs that a fragment may hold and that neither a shell within quotes nor a page interprets.
constexpr std::string_view kPlain = "-._:=,/@";

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return {};
}

/// Writes a blank as + and a forbidden character as %XX.
std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) || kPlain.find(c) != kPlain.npos))
      out += c;
    else if (c == ' ')
      out += '+';
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const std::optional<int> first = digits.size() == 2 ? hex_digit(digits[0]) : std::nullopt,
                             second = digits.size() == 2 ? hex_digit(digits[1]) : std::nullopt;
    if (!first || !second)
      fail(kPlace, "{}: expected two hexadecimal digits behind %", shown_text(text.substr(i, 3)));
    out += static_cast<char>(*first * 16 + *second);
    i += 2;
  }
  return out;
}

// ---- how a screen of an add-on was set, sweep.axis=train.lr=1e-4:1e-2:log7; the figure and the prediction of a lesson

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
    if (cards.size() == kMaxCards) fail(kPlace, "{} has more than {} parts: expected fewer", key, kMaxCards);
    const std::string_view card = text.substr(0, text.find(','));
    cards.push_back(name_in_lesson(key, card));
    if (card.size() == text.size()) return cards;
    text.remove_prefix(card.size() + 1);
  }
}

std::vector<std::string> screen_lines(const LinkedView& view) {
  std::vector<std::string> lines;
  if (!view.settings.empty()) check_settings(view.screen, view.settings);
  for (const auto& [key, value] : view.settings)
    lines.push_back(fmt::format("{}.{}={}", name_of(view.screen), key, value));
  lesson_lines(view, lines);
  return lines;
}

// ---- the reader checks everything, because the whole link comes from outside

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
  CommandArguments arguments;
  std::set<std::string, std::less<>> seen;
  std::optional<Screen> set{};  ///< whose settings stand there
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
    if (!screen_of(key) && !seen.emplace(key).second)
      fail(kPlace, "{} stands there twice: expected it once", shown_text(key));
    if (key == "step")
      view.step = whole(key, value, 0, kMaxSteps);
    else if (key == "cursor")
      view.cursor = whole(key, value, 0, kMaxSteps);
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
    else if (!take_setting(key, value) && !take_of_lesson(key, value))
      fail(
          kPlace,
          "{} is unknown: expected run, set, edit, needs, step, instant, cursor, screen, lesson, theme, shown or marks",
          shown_text(line));
  }

  bool take_setting(std::string_view key, std::string_view value) {
    const std::optional<Screen> screen = screen_of(key);
    if (!screen) return false;
    if (set && set != screen) other_screen(*screen);
    set = screen;
    view.settings.emplace_back(key.substr(key.find('.') + 1), value);
    return true;
  }

  bool take_of_lesson(std::string_view key, std::string_view value) {
    if (!key.starts_with(kLesson)) return false;
    const std::string_view part = key.substr(kLesson.size());
    if (part == "figure")
      view.figure = name_in_lesson(key, value);
    else if (part == "order")
      view.answer.order = cards_in(key, value);
    else if (part == "value")
      view.answer.value = real(key, value, -1e12, 1e12);
    else
      return false;
    return true;
  }

  // Refuses settings of another screen, or that the screen itself refuses.
  void check_screen() const {
    if (set && *set != view.screen) other_screen(*set);
    if (view.lesson.empty() && (!view.figure.empty() || !view.answer.empty()))
      fail(kPlace, "a figure or a prediction stands there, and no lesson: expected screen=lessons:NAME:STEP");
    if (set) check_settings(*set, view.settings);
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
      view.bookmarks.push_back(whole("marks", step, 0, kMaxSteps));
      if (view.bookmarks.size() > kMaxBookmarks)
        fail(kPlace, "marks: more than {} bookmarks: expected fewer", kMaxBookmarks);
      if (step.size() == value.size()) break;
      value.remove_prefix(step.size() + 1);
    }
    std::ranges::sort(view.bookmarks);
    view.bookmarks.erase(std::unique(view.bookmarks.begin(), view.bookmarks.end()), view.bookmarks.end());
  }
};

// Refuses early whatever LabTrainer would refuse later: the run as it begins and after the edits of each step.
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

// Cuts off the address before its fragment, and blanks around it.
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
  reader.check_screen();
  LinkedView view = std::move(reader.view);
  view.runs = runs_by(reader.arguments);
  for (ConfigRun& run : view.runs) run.spec.data.context = run.spec.model.sequence;
  check(view);
  return view;
}

namespace {

// ---- the writer

using Needs = std::vector<std::pair<std::string, std::string>>;

void add_need(Needs& needs, std::string_view key, const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  name.resize(std::min(name.size(), kLongestName));
  std::pair<std::string, std::string> need(key, std::move(name));
  if (!need.second.empty() && std::ranges::find(needs, need) == needs.end()) needs.push_back(std::move(need));
}

// Empties fields that name files. That may choose another task (data.text), which is then set back.
std::vector<ConfigRun> without_files(const std::vector<ConfigRun>& from, Needs& needs) {
  std::vector<ConfigRun> runs = from;
  for (size_t i = 0; i < runs.size(); ++i) {
    ConfigRun& run = runs[i];
    run.letter = from[0].letter == 'A' ? run.letter : static_cast<char>('A' + i);
    const std::string task = run.spec.data.name;
    for (const Field* file : file_fields())
      if (const std::string path = file->get(run.spec); !path.empty()) {
        add_need(needs, file->key, path);
        set_field(run.spec, file->key, "");
      }
    if (run.spec.data.name != task) set_field(run.spec, "data.name", task);
    std::erase_if(run.edits, [&](const Edit& edit) {
      if (names_file(edit.key)) add_need(needs, edit.key, edit.value);
      return names_file(edit.key);
    });
  }
  return runs;
}

using Lines = std::vector<std::string>;

Lines lines_of(const LinkedView& view, const CommandArguments& arguments, const Needs& needs) {
  Lines lines;
  for (const std::string& run : arguments.runs) lines.push_back("run=" + run);
  for (const std::string& set : arguments.sets) lines.push_back("set=" + set);
  for (const std::string& edit : arguments.edits) lines.push_back("edit=" + edit);
  for (const auto& [key, name] : needs) lines.push_back(fmt::format("needs={}:{}", key, name));
  if (view.instant) lines.emplace_back("instant=on");
  if (view.step > 0 && !view.instant) lines.push_back(fmt::format("step={}", view.step));
  if (view.cursor) lines.push_back(fmt::format("cursor={}", *view.cursor));
  if (view.screen != Screen::Lab)
    lines.push_back(
        fmt::format("screen={}{}{}", name_of(view.screen), view.lesson.empty() ? "" : ":", view.lesson));
  for (std::string& line : screen_lines(view)) lines.push_back(std::move(line));
  if (view.dark) lines.emplace_back("theme=dark");
  if (view.shown != 'A') lines.push_back(fmt::format("shown={}", view.shown));
  if (!view.bookmarks.empty()) lines.push_back(fmt::format("marks={}", fmt::join(view.bookmarks, ",")));
  lines.emplace_back(kEnd);
  return lines;
}

// Names the kind of line that takes most of the text: "the 96 wirings".
std::string longest_part(const Lines& lines) {
  struct Part {
    const char* what;
    size_t lines = 0, bytes = 0;
  } parts[] = {{"wirings"}, {"other settings"}, {"edits"}, {"names of runs"}, {"bookmarks"}};
  for (const std::string& line : lines) {
    Part& part = line.find("run.name=") != line.npos ? parts[3]
                 : line.starts_with("edit=")         ? parts[2]
                 : line.starts_with("marks=")        ? parts[4]
                 : line.find("wiring.") != line.npos ? parts[0]
                                                     : parts[1];
    ++part.lines;
    part.bytes += line.size();
  }
  const Part& most = *std::max_element(std::begin(parts), std::end(parts),
                                       [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
  return most.lines == 1 ? fmt::format("the {}", most.what) : fmt::format("the {} {}", most.lines, most.what);
}

}  // namespace

std::string link_fragment(const LinkedView& view) {
  if (view.runs.empty()) fail("link", "there are no runs: expected one to four");
  Needs needs = view.needs;
  const std::vector<ConfigRun> runs = without_files(view.runs, needs);
  const Lines lines = lines_of(view, arguments_of(runs, true), needs);
  std::string fragment(1, kVersion);
  for (const std::string& line : lines) fragment += kMark + percent_encoded(line);
  if (fragment.size() > kLongestFragment)
    fail(
        "link",
        "the link would take {} characters, most of them for {}: expected at most {}; save the configuration "
        "instead (Ctrl+S)",
        fragment.size(), longest_part(lines), kLongestFragment);
  return fragment;
}

std::string fragment_of_runs(std::vector<ConfigRun> runs, bool instant) {
  LinkedView view{.runs = std::move(runs), .instant = instant};
  if (!view.runs.empty() && !instant) view.step = view.runs.front().spec.train.steps;
  try {
    return link_fragment(view);
  } catch (const Error&) {
    return "";
  }
}

namespace {

std::string called(const words::Language& language, const std::string& key, const std::string& name) {
  return language.say(fmt::format("link.file.{}", key), {{"name", name}});
}

}  // namespace

std::string needed_words(const LinkedView& view) {
  std::vector<std::string> files;
  for (const auto& [key, name] : view.needs)
    if (names_file(key)) files.push_back(called(words::of_window(), key, name));
  if (files.empty()) return "";
  return tr("it needs your {files}, which it does not carry", {{"files", in_words(files, tr("and"))}});
}

void require_needed(const LinkedView& view, const std::vector<ConfigRun>& runs) {
  for (const auto& need : view.needs) {
    const bool there = std::ranges::any_of(
        runs, [&](const ConfigRun& run) { return !get_field(run.spec, need.first).empty(); });
    if (names_file(need.first) && !there)
      fail("link", "the link needs your {}, which it does not carry: expected {}",
           called(words::language("en"), need.first, need.second),
           need.first == "data.text" ? Message("--text FILE") : Message("--set {}=FILE", need.first));
  }
}

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
