// The palette does not offer what a teacher locked.
#include "addons/classroom/app/shell/teacher.h"
#include "addons/classroom/tests/app/classroom_of.h"
#include "app/shell/palette_choices.h"
#include "app/words/words.h"
#include "catch.hpp"

namespace normscope::shell {

using fixture::LiveDriver;
using fixture::teaching_of;

TEST_CASE("palette: what a teacher locked is not offered") {
  LiveDriver lab;
  for (const char* rule :
       {"command", "diagram/preset", "settings/train.lr", "app/tab/lab", "app/tab/lessons"})
    teaching_of(lab.state).kept.policy.set(rule, ui::Hold::Locked);
  teaching_of(lab.state).code = "open sesame";
  classroom::begin_lesson(lab.ui, teaching_of(lab.state), lab.state.session);
  lab.driver.frames(3);
  int locked = 0;
  for (const PaletteItem& item : items_now(lab))
    locked += item.refusal == tr("locked by the teacher") ? 1 : 0;
  CHECK(locked > 20);
  for (const Screen screen : {Screen::Lab, screens_by_key().back()}) {
    lab.state.screens.shown = screen;
    lab.driver.frames(2);
    choose_all(lab, screen != Screen::Lab);
  }
}

}  // namespace normscope::shell
