// These functions learn about the desktop without a bus or a network: whether to reduce motion, whether windows are
// dark, and how large things are meant to be on a monitor. The window calls them.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string_view>

namespace normscope::window {

// True when the desktop turned its animations off. The first that answers counts: NORMSCOPE_REDUCED_MOTION (1 or 0);
// gtk-enable-animations in gtk-4.0/settings.ini, then gtk-3.0/settings.ini; and AnimationDurationFactor in kdeglobals
// (0 = off), all files under $XDG_CONFIG_HOME. Empty: none of them says anything.
std::optional<bool> system_reduced_motion();

// How a file or a variable says no.
inline bool is_off(std::string_view value) { return value == "0" || value == "false" || value == "no"; }

// True where the desktop's windows are dark: gtk-application-prefer-dark-theme in the same two GTK
// files; in a browser prefers-color-scheme. Empty: nothing is said.
std::optional<bool> system_dark();

// Asks the program `gsettings`, where there is one, as GNOME keeps its switch in a database
// of its own. A thread of its own asks; a program that does not answer in time is ended and has said nothing.
std::future<std::optional<bool>> ask_gnome_reduced_motion(
    std::chrono::milliseconds patience = std::chrono::milliseconds(1500));

// The factor at which everything is drawn: `content_scale`, from the window system.
// Where that is 1 and the monitor is much denser than 96 px an inch, its size decides, in quarters. A size
// that cannot be true (none, a projector's) is ignored.
float display_scale(float content_scale, int width_px, int width_mm);

}  // namespace normscope::window
