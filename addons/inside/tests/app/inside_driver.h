// The Inside fixture is the Inside screen over a real session: opened models, or small runs.
#pragma once

#include "addons/inside/app/inside_screen.h"
#include "addons/inside/training/inside.h"
#include "addons/published/training/published.h"
#include "app/support/live_lab.h"
#include "app/support/made_screen.h"
#include "test_paths.h"

namespace normscope::fixture {

inline const std::string kModels = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers/";
inline constexpr const char* kPassage = "5 17 3 5 9 4 8 2";

inline std::vector<RunSpec> models(const std::vector<const char*>& names) {
  std::vector<RunSpec> runs;
  for (const char* name : names) runs.push_back(published::run_of(kModels + name, kPassage));
  return runs;
}

struct InsideDriver : LiveDriver {
  explicit InsideDriver(std::vector<RunSpec> runs) : LiveDriver(std::move(runs)) {
    state.look.reduced_motion = true;
    state.screens.shown = Screen::Inside;
    rest();
  }
  inside::InsideScreen& screen() { return made_screen<inside::InsideScreen>(state, Screen::Inside); }
  void rest() override {
    for (int quiet = 0, tries = 0; quiet < 3 && tries < 500; ++tries) {
      driver.frames(1);
      lab.wait_idle();
      quiet = screen().busy() ? 0 : quiet + 1;
    }
    REQUIRE_FALSE(screen().busy());
  }
  std::string value(const char* control) {
    const ui::Control* found = ui.registry().find(control);
    return found ? found->value : "none";
  }
  /// Has the models read a text instead of theirs.
  void read(const std::string& text) {
    driver.click("inside/text");
    type(text);
  }
  const RunInside& of(size_t run) { return *inside_of(lab.view()->runs[run]); }
};

}  // namespace normscope::fixture
