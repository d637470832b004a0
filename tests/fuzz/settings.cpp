// What the window remembers: settings.toml and the learner's lessons.json.
#include "app/shell/settings.h"

#include "app/lesson-player/progress.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(settings) {
  Message complaint;
  const shell::Settings settings = shell::parse_settings(input, "settings.toml", complaint);
  fuzz::require(
      settings.width >= 320 && settings.width <= 16384 && settings.scale >= 0.75 && settings.scale <= 2.5,
      "a window that cannot be");
  fuzz::accepts([&] { lesson_player::parse_progress(input, "lessons.json"); });
}
