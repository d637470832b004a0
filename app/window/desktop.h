// These functions read the desktop's settings without a bus or a network: whether to reduce motion, whether windows
// are dark, its language, and the scale of a monitor. The window calls them.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <string_view>

namespace normscope::window {

// True when the desktop turned its animations off. The first that answers counts: NORMSCOPE_REDUCED_MOTION (1 or 0);
// gtk-enable-animations in gtk-4.0/settings.ini, then gtk-3.0/settings.ini; and AnimationDurationFactor in kdeglobals
// (0 = off), all files under $XDG_CONFIG_HOME. Empty: none of them has the setting.
std::optional<bool> system_reduced_motion();

// The values that mean no in a file or a variable.
inline bool is_off(std::string_view value) { return value == "0" || value == "false" || value == "no"; }

// True where the desktop's windows are dark: gtk-application-prefer-dark-theme in the same two GTK files; in a
// browser prefers-color-scheme. Empty: neither file has it.
std::optional<bool> system_dark();

// The language of the user, as "de" of the locale de_DE.UTF-8: the first of LC_ALL, LC_MESSAGES and LANG that is set
// decides. In a browser the first that the user prefers. Empty: none is named, as in the locale C.
std::string system_language();

// "de" of de_DE.UTF-8 and of de-AT, "" of C and POSIX.
inline std::string language_in(std::string_view locale) {
  const std::string_view letters = locale.substr(0, locale.find_first_of("_-.@"));
  return letters == "C" || letters == "POSIX" ? "" : std::string(letters);
}

// Asks the program `gsettings` on a thread of its own, because GNOME keeps the switch in a database. The result is
// empty without that program, and if it does not answer within `patience`; it is then killed.
std::future<std::optional<bool>> ask_gnome_reduced_motion(
    std::chrono::milliseconds patience = std::chrono::milliseconds(1500));

// The factor at which everything is drawn: `content_scale`, from the window system. If that is 1 and the monitor is
// much denser than 96 px an inch, the density decides, in steps of 0.25. An impossible size (none, a projector's) is
// ignored.
float display_scale(float content_scale, int width_px, int width_mm);

}  // namespace normscope::window
