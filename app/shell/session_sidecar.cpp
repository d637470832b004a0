#include "app/shell/session_sidecar.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"

namespace normscope::shell {

namespace {

/// Keeps the settings of all screens as lines, "compare.baseline=B".
struct ScreenLines {
  codec::Json write(const std::array<ScreenSettings, kScreens>& screens) const {
    codec::Json lines = codec::Json::array();
    for (size_t i = 0; i < kScreens; ++i)
      for (const auto& [key, value] : screens[i])
        lines.push_back(fmt::format("{}.{}={}", kScreenNames[i], key, value));
    return lines;
  }
  void read(const InputValue& json, std::array<ScreenSettings, kScreens>& screens) const {
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
  io("bookmarks", marks.bookmarks, codec::List{0, 1000, codec::Whole{0, kMostSteps}});
  io("selected", marks.selected, codec::Words{kLetters});
}};

constexpr codec::Object kOtherScreens{[](auto& io, auto& kept) {
  io.optional("screen", kept.shown, codec::Maybe{codec::Words{kScreenNames}});
  io.optional("screens", kept.screens, ScreenLines{}, {});
}};

KeptWindow kept_of(const Screens& screens, const WindowParts& parts) {
  KeptWindow kept;
  kept.shown = screens.shown;
  for (size_t i = 0; i < kScreens; ++i) kept.screens[i] = kept_of(screens, static_cast<Screen>(i));
  for (const auto& part : parts)
    if (std::string text = part->kept(); !text.empty())
      kept.parts[std::string(part->key())] = std::move(text);
  return kept;
}

bool hold_tabs(const WindowParts& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part->holds_tabs(); });
}

}  // namespace

std::string sidecar_text(const lab::LabScreen& screen, const UndoLog& undo, const KeptWindow& window) {
  codec::Json json = kMarks.write(Marks{screen.transport().bookmarks, screen.diagram().selected});
  json.update(kOtherScreens.write(window));
  for (const auto& [key, text] : window.parts) json[key] = codec::Json::parse(text);
  json["undo"] = undo.to_json();
  return codec::text_of(json);
}

void apply_sidecar(Screens& screens, ShownSession& session, const std::string& text, const WindowParts& parts,
                   const ComingBack* own) {
  lab::LabScreen& screen = screens.lab;
  lab::TransportState& transport = screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool held = hold_tabs(parts);
  if (!own) session.undo.clear();
  try {
    const InputValue json = InputValue::parse(text, "session");
    auto marks = codec::read<Marks>(json, kMarks);
    std::sort(marks.bookmarks.begin(), marks.bookmarks.end());
    transport.bookmarks = std::move(marks.bookmarks);
    screen.diagram().selected = marks.selected;
    if (!own) session.undo.restore(json.at("undo"));
    for (const auto& part : parts) {
      const std::optional<InputValue> own_part = json.find(part->key());
      part->restore(own_part ? &*own_part : nullptr);
    }
    if (!held && hold_tabs(parts)) session.undo.clear();
    KeptWindow kept;
    kOtherScreens.read(json, kept);
    const bool stays = held || (own && own->by_undo);  // what is shown, and changes that are undone apart
    for (size_t i = 0; i < kScreens; ++i) {
      const AppScreen* const made = made_screen(screens, static_cast<Screen>(i));
      if (!stays || !made || !made->has_changes())
        restore_screen(screens, static_cast<Screen>(i), kept.screens[i]);
    }
    if (kept.shown && !stays) screens.shown = *kept.shown;
  } catch (const Error&) {
  }
}

void keep_sidecar(SidecarState& known, Screens& screens, ShownSession& session, const WindowParts& parts) {
  const lab::LabScreen& screen = screens.lab;
  if (!session.lab) return;
  if (session.view->restored != known.restored) {
    known.restored = session.view->restored;
    std::vector<ComingBack>& coming = session.coming_back;
    const auto own = std::find_if(coming.begin(), coming.end(),
                                  [&](const ComingBack& one) { return one.ticket == known.restored; });
    if (session.view->sidecar)
      apply_sidecar(screens, session, *session.view->sidecar, parts, own == coming.end() ? nullptr : &*own);
    std::erase_if(coming, [&](const ComingBack& one) { return one.ticket <= known.restored; });
  }
  SidecarState now{screen.transport().bookmarks, session.undo.changes(), screen.diagram().selected,
                   kept_of(screens, parts), known.restored};
  if (now == known) return;
  known = std::move(now);
  session.lab->keep(sidecar_text(screen, session.undo, known.window));
}

}  // namespace normscope::shell
