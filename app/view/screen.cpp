#include "app/view/screen.h"

#include <algorithm>

namespace normscope {

void AppScreen::begin(const std::string& what) {
  if (!what.empty()) fail("screen", "'{}' is nothing that it begins with: expected the screen alone", what);
}

const ScreenKind* kind_of(Screen screen) {
  static const std::vector<std::pair<Screen, ScreenKind>> kinds = {
#define SCREEN(Name, name, key) {Screen::Name, name##_kind()},
#include "chosen/screens.def"
#undef SCREEN
  };
  const auto at = std::ranges::find_if(kinds, [&](const auto& one) { return one.first == screen; });
  return at == kinds.end() ? nullptr : &at->second;
}

const std::vector<Screen>& screens_by_key() {
  static const std::vector<Screen> all = [] {
    std::vector<Screen> screens;
    for (size_t i = 0; i < kScreens; ++i) screens.push_back(static_cast<Screen>(i));
    std::ranges::sort(screens, [](Screen a, Screen b) {
      return kScreenKeys[static_cast<size_t>(a)] < kScreenKeys[static_cast<size_t>(b)];
    });
    return screens;
  }();
  return all;
}

std::optional<Screen> screen_for(FileKind kind) {
  for (const Screen screen : screens_by_key())
    if (const ScreenKind* known = kind_of(screen); known && known->opens == kind) return screen;
  return {};
}

std::optional<Screen> screen_named(std::string_view name) {
  for (const Screen screen : screens_by_key())
    if (name_of(screen) == name) return screen;
  return {};
}

}  // namespace normscope
