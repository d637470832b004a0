#include "app/shell/parts/screens.h"

#include <string>
#include <utility>

#include "app/compare_screen/compare_screen.h"
#include "app/inside/inside_screen.h"
#include "app/lessons/kept.h"
#include "app/lessons/player.h"
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

lessons::Player& player_of(LessonsScreen& screen, Lab* lab) {
  if (!screen.player) {
    const std::string progress = screen.remembers ? lessons::Progress::default_path() : "";
    screen.player = std::make_shared<lessons::Player>(
        course::read_course(course::lessons_folder(), language_of(screen)),
        std::make_unique<lessons::Worker>(screen.wake, 0, lab ? lab->finished_runs() : nullptr,
                                          lessons::Kept::folder_beside(progress)),
        progress);
  }
  return *screen.player;
}

compare_screen::CompareScreen& screen_of(ComparePlace& place) {
  if (!place.screen) place.screen = std::make_shared<compare_screen::CompareScreen>(place.wake);
  return *place.screen;
}

experiments::StorePlace results_store() {
  const experiments::StorePlace place = experiments::results_in_cache();
  const auto make = [&] { make_folder(place.folder, Access::Shared, "results"); };
  return place.folder.empty() || !guarded("the store of results", make).empty() ? experiments::StorePlace()
                                                                                : place;
}

sweep::SweepScreen& sweep_of(SweepPart& part) {
  if (!part.screen)
    part.screen = std::make_shared<sweep::SweepScreen>(
        std::make_unique<sweep::Worker>(part.keeps ? results_store() : experiments::StorePlace(), part.wake));
  if (part.kept) part.screen->restore(*std::exchange(part.kept, {}));
  return *part.screen;
}

tape_screen::TapeScreen& tape_of(TapePart& part, bool times) {
  if (!part.screen) {
    part.screen = std::make_shared<tape_screen::TapeScreen>(part.wake, times);
    part.screen->restore({part.run, part.head});
  }
  return *part.screen;
}

inside::InsideScreen& inside_of(Screens& screens) {
  if (!screens.inside) screens.inside = std::make_shared<inside::InsideScreen>();
  return *screens.inside;
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
  player_of(screens.lessons, lab).open(place.lesson, place.step, answer);
  screens.shown = Screen::Lessons;
}

}  // namespace normscope::shell
