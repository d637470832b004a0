// The stages of the Tape screen (tests/app/screens/stages.h).
#include "app/screens/stages.h"
#include "addons/tape-screen/tests/app/tape_fixture.h"

namespace normscope::test_screens {

void add_tape_stages(std::vector<Stage>& all) {
  all.push_back({"Tape without a step", [] { return shown(Screen::Tape, 214, true); }, "tape/tab/", true,
                 Screen::Tape});
  all.push_back({"Tape", [] { return std::make_unique<fixture::TapeDriver>(); }, "tape/tab/", true,
                 Screen::Tape, Keys::EveryLayout, true});
}

}  // namespace normscope::test_screens
