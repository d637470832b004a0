// The stages of the Compare screen (tests/app/screens/stages.h).
#include "app/screens/stages.h"

namespace normscope::test_screens {

void add_compare_stages(std::vector<Stage>& all) {
  add_at_steps(Screen::Compare, "Compare", "compare/tab/", all);
}

}  // namespace normscope::test_screens
