#include "app/shell/parts/screens.h"

#include "app/lesson-player/player.h"
#include "app/lesson-player/worker.h"
#include "app/shell/settings.h"
#include "app/shell/shown_session.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/io/output_file.h"

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
                                          lessons::SavedCurves::folder_beside(progress)),
        progress);
  }
  return *screen.player;
}

experiments::StorePlace results_store() {
  const experiments::StorePlace place = experiments::results_in_cache();
  const auto make = [&] { make_folder(place.folder, Access::Shared, "results"); };
  return place.folder.empty() || !guarded("the store of results", make).empty() ? experiments::StorePlace()
                                                                                : place;
}

AppScreen* made_screen(const Screens& screens, Screen screen) {
  return screens.others[static_cast<size_t>(screen)].screen.get();
}

void restore_screen(Screens& screens, Screen screen, const ScreenSettings& kept) {
  OtherScreen& other = screens.others[static_cast<size_t>(screen)];
  other.kept.clear();
  if (!other.screen) return void(other.kept = kept);
  try {
    other.screen->restore(kept);
  } catch (const Error&) {
  }
}

ScreenSettings kept_of(const Screens& screens, Screen screen) {
  const OtherScreen& other = screens.others[static_cast<size_t>(screen)];
  return other.screen ? other.screen->kept() : other.kept;
}

AppScreen& screen_of(Screens& screens, Screen screen) {
  OtherScreen& other = screens.others[static_cast<size_t>(screen)];
  if (!other.screen) {
    other.screen = kind_of(screen)->make({screens.wake, screens.keeps});
    if (!other.kept.empty()) restore_screen(screens, screen, ScreenSettings(other.kept));
  }
  return *other.screen;
}

ScreenRequests draw_screen(Screens& screens, const ShownSession& session, bool clock, ui::Ui& ui,
                           const ui::Rect& area) {
  const LabView& view = *session.view;
  switch (screens.shown) {
    case Screen::Lab:
      return screens.lab.draw(ui, area, view, clock);
    case Screen::Lessons:
      return player_of(screens, session.lab).draw(ui, area, view);
    default:
      return screen_of(screens, screens.shown).draw(ui, area, view, clock, screens.lab.transport());
  }
}

LessonPlace lesson_place(const std::string& name) {
  const size_t colon = name.find(':');
  const std::string step = colon == name.npos ? "predict" : name.substr(colon + 1);
  for (const course::StepKind kind : course::kSteps)
    if (step == course::to_string(kind)) return {name.substr(0, colon), kind};
  throw Error("lesson:{}: expected a step: predict, run, compare or explain", name);
}

void open_lesson(Screens& screens, Lab* lab, const std::string& name, const view::Answer& answer) {
  const LessonPlace place = lesson_place(name);
  player_of(screens, lab).open(place.lesson, place.step, answer);
  screens.shown = Screen::Lessons;
}

}  // namespace normscope::shell
