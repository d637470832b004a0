#include "app/shell/session_sidecar.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/shell/classroom/kept_teaching.h"
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

KeptWindow kept_of(const Screens& screens, const classroom::Teaching& teaching) {
  KeptWindow kept;
  kept.shown = screens.shown;
  for (size_t i = 0; i < kScreens; ++i) kept.screens[i] = kept_of(screens, static_cast<Screen>(i));
  kept.teaching = teaching.kept;
  return kept;
}

}  // namespace

std::string sidecar_text(const lab::LabScreen& screen, const UndoLog& undo, const KeptWindow& window) {
  codec::Json json = kMarks.write(Marks{screen.transport().bookmarks, screen.diagram().selected});
  json.update(kOtherScreens.write(window));
  if (!window.teaching.empty()) json["teacher"] = codec::write(window.teaching);
  json["undo"] = undo.to_json();
  return codec::text_of(json);
}

void apply_sidecar(Screens& screens, ShownSession& session, const std::string& text,
                   classroom::Teaching* teaching, const ComingBack* own) {
  lab::LabScreen& screen = screens.lab;
  lab::TransportState& transport = screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool in_lesson = teaching && teaching->kept.lesson;  // its tabs are the teacher's
  if (!own) session.undo.clear();
  try {
    const InputValue json = InputValue::parse(text, "session");
    auto marks = codec::read<Marks>(json, kMarks);
    std::sort(marks.bookmarks.begin(), marks.bookmarks.end());
    transport.bookmarks = std::move(marks.bookmarks);
    screen.diagram().selected = marks.selected;
    if (!own) session.undo.restore(json.at("undo"));
    if (teaching) {
      const std::optional<InputValue> taught = json.find("teacher");
      classroom::take_in(*teaching,
                         taught ? codec::read<classroom::KeptTeaching>(*taught) : classroom::KeptTeaching{});
      if (!in_lesson && teaching->kept.lesson)
        session.undo.clear();  // nothing of before is undone in a lesson
    }
    KeptWindow kept;
    kOtherScreens.read(json, kept);
    const bool stays =
        in_lesson || (own && own->by_undo);  // what is shown, and changes that are undone apart
    for (size_t i = 0; i < kScreens; ++i) {
      const AppScreen* const made = made_screen(screens, static_cast<Screen>(i));
      if (!stays || !made || !made->has_changes())
        restore_screen(screens, static_cast<Screen>(i), kept.screens[i]);
    }
    if (kept.shown && !stays) screens.shown = *kept.shown;
  } catch (const Error&) {
  }
}

void keep_sidecar(SidecarState& known, Screens& screens, ShownSession& session,
                  classroom::Teaching& teaching) {
  const lab::LabScreen& screen = screens.lab;
  if (!session.lab) return;
  if (session.view->restored != known.restored) {
    known.restored = session.view->restored;
    std::vector<ComingBack>& coming = session.coming_back;
    const auto own = std::find_if(coming.begin(), coming.end(),
                                  [&](const ComingBack& one) { return one.ticket == known.restored; });
    if (session.view->sidecar)
      apply_sidecar(screens, session, *session.view->sidecar, &teaching,
                    own == coming.end() ? nullptr : &*own);
    std::erase_if(coming, [&](const ComingBack& one) { return one.ticket <= known.restored; });
  }
  SidecarState now{screen.transport().bookmarks, session.undo.changes(), screen.diagram().selected,
                   kept_of(screens, teaching), known.restored};
  if (now == known) return;
  known = std::move(now);
  session.lab->keep(sidecar_text(screen, session.undo, known.window));
}

}  // namespace normscope::shell
