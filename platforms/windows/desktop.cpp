// Asks Windows what app/window/desktop.h asks of a desktop.
#include "app/window/desktop.h"

#include <windows.h>

#include <cstdlib>

namespace normscope::window {

std::optional<bool> system_reduced_motion() {
  if (const char* asked = std::getenv("NORMSCOPE_REDUCED_MOTION"); asked && *asked) return !is_off(asked);
  BOOL animates = TRUE;
  if (!SystemParametersInfoW(SPI_GETCLIENTAREAANIMATION, 0, &animates, 0)) return false;
  return !animates;
}

std::optional<bool> system_dark() {
  DWORD light = 1, bytes = sizeof light;
  const LSTATUS found =
      RegGetValueW(HKEY_CURRENT_USER, L"Software\\Microsoft\\Windows\\CurrentVersion\\Themes\\Personalize",
                   L"AppsUseLightTheme", RRF_RT_REG_DWORD, nullptr, &light, &bytes);
  if (found != ERROR_SUCCESS) return {};
  return light == 0;
}

std::string system_language() {
  wchar_t name[LOCALE_NAME_MAX_LENGTH];
  const int letters = GetUserDefaultLocaleName(name, LOCALE_NAME_MAX_LENGTH);
  return letters > 0 ? language_in(std::string(name, name + letters - 1)) : "";  // ASCII, as de-DE
}

std::future<std::optional<bool>> ask_gnome_reduced_motion(std::chrono::milliseconds) { return {}; }

// Windows knows the scale of every monitor.
float display_scale(float content_scale, int, int) { return content_scale > 0 ? content_scale : 1; }

}  // namespace normscope::window
