#include "app/shell/parts/screens.h"

#include <string>

#include "app/compare_screen/compare_screen.h"
#include "app/lessons/kept.h"
#include "app/lessons/player.h"

namespace normscope {

lessons::Player& player_of(LessonsScreen& screen, Lab* lab) {
  if (!screen.player) {
    const std::string progress = screen.remembers ? lessons::Progress::default_path() : "";
    screen.player = std::make_shared<lessons::Player>(
        lessons::read_course(lessons::lessons_folder()),
        std::make_unique<lessons::Worker>(screen.wake, 0, lab ? lab->finished_runs() : nullptr,
                                          lessons::Kept::folder_beside(progress)),
        progress);
  }
  return *screen.player;
}

comparison::CompareScreen& screen_of(ComparePlace& place) {
  if (!place.screen) place.screen = std::make_shared<comparison::CompareScreen>(place.wake);
  return *place.screen;
}

}  // namespace normscope
