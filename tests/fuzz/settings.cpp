// What the window remembers: settings.toml, the learner's lessons.json and zoo.json.
#include "app/shell/settings.h"

#include "app/lessons/progress.h"
#include "app/zoo/own.h"
#include "fuzz.h"

using namespace normscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  std::string complaint;
  const shell::Settings settings = shell::parse_settings(text, "settings.toml", complaint);
  fuzz::require(
      settings.width >= 320 && settings.width <= 16384 && settings.scale >= 0.75 && settings.scale <= 2.5,
      "a window that cannot be");
  fuzz::accepts([&] { lessons::parse_progress(text, "lessons.json"); });
  fuzz::accepts([&] { zoo::parse_own(text, "zoo.json"); });
  return 0;
}
