#include "app/shell/parts/screens.h"

#include <string>

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

}  // namespace normscope
