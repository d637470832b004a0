#include "app/shell/parts/screens.h"

#include <string>
#include <utility>

#include "app/compare_screen/compare_screen.h"
#include "app/inside/inside_screen.h"
#include "app/lessons/kept.h"
#include "app/lessons/player.h"
#include "app/shell/parts/shown_session.h"
#include "app/shell/settings.h"
#include "app/sweep/screen/sweep_screen.h"
#include "app/tape_screen/tape_screen.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/io/atomic_file.h"

namespace normscope::shell {

namespace {

std::string language_of(const LessonsScreen& screen) {
  return screen.language.empty() ? course::course_language() : screen.language;
}

}  // namespace

void speak(const LessonsScreen& screen) { words::use(language_of(screen)); }

lessons::Player& player_of(Screens& screens, Lab* lab) {
  LessonsScreen& screen = screens.lessons;
  if (!screen.player) {
    const std::string progress = screen.remembers ? lessons::Progress::default_path() : "";
    screen.player = std::make_shared<lessons::Player>(
        course::read_course(course::lessons_folder(), language_of(screen)),
        std::make_unique<lessons::Worker>(screens.wake, 0, lab ? lab->finished_runs() : nullptr,
                                          lessons::Kept::folder_beside(progress)),
        progress);
  }
  return *screen.player;
}

compare_screen::CompareScreen& compare_of(Screens& screens) {
  if (!screens.compare) screens.compare = std::make_shared<compare_screen::CompareScreen>(screens.wake);
  return *screens.compare;
}

experiments::StorePlace results_store() {
  const experiments::StorePlace place = experiments::results_in_cache();
  const auto make = [&] { make_folder(place.folder, Access::Shared, "results"); };
  return place.folder.empty() || !guarded("the store of results", make).empty() ? experiments::StorePlace()
                                                                                : place;
}

sweep::SweepScreen& sweep_of(Screens& screens) {
  SweepPart& part = screens.sweep;
  if (!part.screen)
    part.screen = std::make_shared<sweep::SweepScreen>(std::make_unique<sweep::Worker>(
        part.keeps ? results_store() : experiments::StorePlace(), screens.wake));
  if (part.kept) part.screen->restore(*std::exchange(part.kept, {}));
  return *part.screen;
}

tape_screen::TapeScreen& tape_of(Screens& screens, bool times) {
  TapePart& part = screens.tape;
  if (!part.screen) {
    part.screen = std::make_shared<tape_screen::TapeScreen>(screens.wake, times);
    part.screen->restore({part.run, part.head});
  }
  return *part.screen;
}

inside::InsideScreen& inside_of(Screens& screens) {
  if (!screens.inside) screens.inside = std::make_shared<inside::InsideScreen>();
  return *screens.inside;
}

Desk draw_screen(Screens& screens, const ShownSession& session, bool clock, ui::Ui& ui,
                 const ui::Rect& area) {
  const LabView& view = *session.view;
  switch (screens.shown) {
    case Screen::Lab:
      return screens.lab.draw(ui, area, view, clock);
    case Screen::Lessons:
      return player_of(screens, session.lab).draw(ui, area, view);
    case Screen::Compare:
      return compare_of(screens).draw(ui, area, view, clock, screens.lab.transport());
    case Screen::Sweep:
      return sweep_of(screens).draw(ui, area, view, clock);
    case Screen::Tape:
      return tape_of(screens, clock).draw(ui, area, view, clock);
    case Screen::Inside:
      return inside_of(screens).draw(ui, area, view, clock, screens.lab.transport());
  }
  return {};
}

LessonPlace lesson_place(const std::string& name) {
  const size_t colon = name.find(':');
  const std::string step = colon == name.npos ? "predict" : name.substr(colon + 1);
  for (const course::StepKind kind : course::kSteps)
    if (step == course::to_string(kind)) return {name.substr(0, colon), kind};
  throw Error("lesson:" + name + ": expected a step: predict, run, compare or explain");
}

void open_lesson(Screens& screens, Lab* lab, const std::string& name, const view::Answer& answer) {
  const LessonPlace place = lesson_place(name);
  player_of(screens, lab).open(place.lesson, place.step, answer);
  screens.shown = Screen::Lessons;
}

}  // namespace normscope::shell
