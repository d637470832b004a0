#include "app/shell/session_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/core/error.h"
#include "training/io/codec.h"
#include "training/spec/spec.h"

namespace normscope::shell {

namespace {

constexpr std::string_view kRunLetters[] = {"A", "B", "C", "D"};

using ScreensSettings = decltype(WindowState::screens);

/// The settings of all screens as lines, "SCREEN.KEY=VALUE". Lines of a screen that this build lacks are skipped.
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

constexpr codec::Object kLab{[](auto& io, auto& state) {
  io.optional("bookmarks", state.bookmarks, codec::List{0, 1000, codec::Whole{0, kMaxSteps}});
  io.optional("selected", state.selected, codec::Words{kRunLetters}, 'A');
}};
constexpr codec::Object kAllScreens{[](auto& io, auto& state) {
  io.optional("screens", state.screens, ScreenLines{});
  io.optional("screen", state.shown, codec::Words{kScreenNames}, Screen::Lab);
}};

WindowState window_state(const Screens& screens, const WindowParts& parts) {
  WindowState state{screens.lab.transport().bookmarks, screens.lab.diagram().selected, {}, screens.shown, {}};
  for (size_t i = 0; i < kScreens; ++i) state.screens[i] = kept_of(screens, static_cast<Screen>(i));
  for (const auto& part : parts) state.parts.push_back(part->kept());
  return state;
}

std::string text_of(const WindowState& state, const WindowParts& parts) {
  codec::Json json = kLab.write(state);
  json.update(kAllScreens.write(state));
  for (size_t i = 0; i < parts.size(); ++i)
    if (!state.parts[i].empty()) json[std::string(parts[i]->key())] = codec::Json::parse(state.parts[i]);
  return codec::text_of(json);
}

/// A table with a damaged row counts as empty.
WindowState read_rows(const InputValue& rows, const auto& rule) {
  try {
    return codec::read<WindowState>(rows, rule);
  } catch (const Error&) {
    return {};
  }
}

bool hold_tabs(const WindowParts& parts) {
  return std::ranges::any_of(parts, [](const auto& part) { return part->holds_tabs(); });
}

void restore(WindowPart& part, const InputValue& rows) {
  try {
    const std::optional<InputValue> own = rows.find(part.key());
    part.restore(own ? &*own : nullptr);
  } catch (const Error&) {
  }
}

InputValue parse_rows(const std::string& text) {
  try {
    return InputValue::parse(text, "session");
  } catch (const Error&) {
    return InputValue::parse("{}", "session");
  }
}

}  // namespace

std::string window_rows(const Screens& screens, const WindowParts& parts) {
  return text_of(window_state(screens, parts), parts);
}

void show_window(Screens& screens, ShownSession& session, const WindowParts& parts, const std::string& text,
                 bool by_undo) {
  const InputValue rows = parse_rows(text);
  WindowState lab = read_rows(rows, kLab);
  std::ranges::sort(lab.bookmarks);
  screens.lab.transport().bookmarks = std::move(lab.bookmarks);
  screens.lab.transport().pinned_step.reset();
  screens.lab.diagram().selected = lab.selected;

  const bool held = hold_tabs(parts), stays = by_undo || held;
  const WindowState all = read_rows(rows, kAllScreens);
  for (size_t i = 0; i < kScreens; ++i) {
    const auto screen = static_cast<Screen>(i);
    const AppScreen* const made = made_screen(screens, screen);
    if (!stays || !made || !made->has_changes()) restore_screen(screens, screen, all.screens[i]);
  }
  if (!stays) screens.shown = all.shown;

  for (const auto& part : parts) restore(*part, rows);
  if (!held && hold_tabs(parts))  // undo does not lead out of held tabs
    session.asked.emplace_back(session::ForgetChanges{});
}

void keep_window(SavedWindow& known, Screens& screens, ShownSession& session, const WindowParts& parts) {
  if (!session.lab) return;
  const LabView& view = *session.view;
  if (std::exchange(known.restored, view.restored) != view.restored && view.window)
    show_window(screens, session, parts, *view.window, view.by_undo);
  WindowState now = window_state(screens, parts);
  if (known.state == now) return;
  session.lab->keep(text_of(now, parts));
  known.state = std::move(now);
}

}  // namespace normscope::shell
