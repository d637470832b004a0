#include "app/shell/session_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"

namespace normscope::shell {

namespace {

constexpr std::string_view kRunLetters[] = {"A", "B", "C", "D"};

using ScreensSettings = std::array<ScreenSettings, kScreens>;

/// Keeps the settings of all screens as lines, "SCREEN.KEY=VALUE". Settings of a screen that is not here are left out.
struct ScreenLines {
  codec::Json write(const ScreensSettings& screens) const {
    codec::Json lines = codec::Json::array();
    for (size_t i = 0; i < kScreens; ++i)
      for (const auto& [key, value] : screens[i])
        lines.push_back(fmt::format("{}.{}={}", kScreenNames[i], key, value));
    return lines;
  }
  void read(const InputValue& json, ScreensSettings& screens) const {
    for (const InputValue& one : json.list(0, 10'000)) {
      const std::string line = one.text(110'000);
      const size_t dot = line.find('.'), equals = line.find('=');
      const std::optional<Screen> screen = screen_named(line.substr(0, dot));
      if (screen && kind_of(*screen) && dot < equals && equals < line.size())
        screens[static_cast<size_t>(*screen)].emplace_back(line.substr(dot + 1, equals - dot - 1),
                                                           line.substr(equals + 1));
    }
  }
};

/// What stands in the Lab.
struct Marks {
  std::vector<int> bookmarks;
  char selected = 'A';
};
constexpr codec::Object kMarks{[](auto& io, auto& marks) {
  io.optional("bookmarks", marks.bookmarks, codec::List{0, 1000, codec::Whole{0, kMostSteps}});
  io.optional("selected", marks.selected, codec::Words{kRunLetters}, 'A');
}};

struct ScreenRows {
  ScreensSettings screens{};  // empty: the screen was never opened
  Screen shown = Screen::Lab;
};
constexpr codec::Object kScreenRows{[](auto& io, auto& rows) {
  io.optional("screens", rows.screens, ScreenLines{});
  io.optional("screen", rows.shown, codec::Words{kScreenNames}, Screen::Lab);
}};

/// As if nothing were there where something of it is damaged.
template <class T>
T read_rows(const std::string& rows, const auto& rule) {
  try {
    return codec::read<T>(InputValue::parse(rows, "session"), rule);
  } catch (const Error&) {
    return {};
  }
}

bool hold_tabs(const WindowParts& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part->holds_tabs(); });
}

void restore(WindowPart& part, const std::string& rows) {
  try {
    const std::optional<InputValue> own = InputValue::parse(rows, "session").find(part.key());
    part.restore(own ? &*own : nullptr);
  } catch (const Error&) {
  }
}

}  // namespace

std::string window_rows(const Screens& screens, const WindowParts& parts) {
  ScreenRows rows{{}, screens.shown};
  for (size_t i = 0; i < kScreens; ++i) rows.screens[i] = kept_of(screens, static_cast<Screen>(i));
  codec::Json json = kMarks.write(Marks{screens.lab.transport().bookmarks, screens.lab.diagram().selected});
  json.update(kScreenRows.write(rows));
  for (const auto& part : parts)
    if (const std::string own = part->kept(); !own.empty())
      json[std::string(part->key())] = codec::Json::parse(own);
  return codec::text_of(json);
}

void show_window(Screens& screens, ShownSession& session, const WindowParts& parts, const std::string& rows,
                 bool by_undo) {
  Marks marks = read_rows<Marks>(rows, kMarks);
  std::sort(marks.bookmarks.begin(), marks.bookmarks.end());
  screens.lab.transport().bookmarks = std::move(marks.bookmarks);
  screens.lab.transport().pinned_step.reset();
  screens.lab.diagram().selected = marks.selected;

  const bool held = hold_tabs(parts), stays = by_undo || held;
  const auto of_screens = read_rows<ScreenRows>(rows, kScreenRows);
  for (size_t i = 0; i < kScreens; ++i) {
    const auto screen = static_cast<Screen>(i);
    const AppScreen* const made = made_screen(screens, screen);
    if (!stays || !made || !made->has_changes()) restore_screen(screens, screen, of_screens.screens[i]);
  }
  if (!stays) screens.shown = of_screens.shown;

  for (const auto& part : parts) restore(*part, rows);
  if (!held && hold_tabs(parts)) session.undo.clear();  // nothing of before is undone then
}

void keep_window(KeptWindow& known, Screens& screens, ShownSession& session, const WindowParts& parts) {
  if (!session.lab) return;
  const LabView& view = *session.view;
  if (std::exchange(known.restored, view.restored) != view.restored && view.window)
    show_window(screens, session, parts, *view.window, view.by_undo);
  if (std::string now = window_rows(screens, parts); now != known.rows)
    session.lab->keep(known.rows = std::move(now));
}

}  // namespace normscope::shell
